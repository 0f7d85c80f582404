"""Ending alerts whose members nobody watches any more, in the store: rows, messages, and the ledger's entries."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

import sqlalchemy as sa

from alerts.groups import MOST_APART
from alerts.keeping import Kept, flagged_members, forget_members, group_alerts, kept_alerts, write_alerts
from alerts.members import Flagged
from alerts.message import Message
from alerts.outage_recording import covered_monitors
from alerts.outages import PREFIX
from alerts.routing import Routing
from alerts.states import AlertState
from alerts.status import AlertChange
from alerts.telling import Told, addressed_to_those_before, draft_of, send
from alerts.unwatching import REMOVED, unwatch
from ledger.append import Draft, append_all
from trivet.canonical import Json
from trivet.clock import utc_text


@dataclass(frozen=True, slots=True)
class Ended:
    """Alerts that were ended, and not written yet."""

    kept: dict[str, Kept] = field(default_factory=dict)
    """How each stands now."""
    drafts: list[Draft] = field(default_factory=list)
    changes: list[AlertChange] = field(default_factory=list)


def end_removed(connection: sa.Connection, monitors: Collection[str], routing: Routing, now: datetime) -> Ended:
    """Ends the alerts of monitors that were removed, and of their groups. It never commits.

    Call it with the ledger's head locked, lest an evaluation move them meanwhile.
    """
    own, grouped = kept_alerts(connection, monitors), group_alerts(connection, monitors)
    flagged = flagged_members(connection, monitors)
    ended = Ended()
    for monitor in sorted(own):
        groups = {name: item for name, item in grouped.items() if item.group_of == monitor}
        alerts = {monitor: own[monitor]} | groups
        found = end_alerts(connection, alerts, flagged.get(monitor, {}), routing, now, REMOVED)
        held = {name: item for name, item in alerts.items() if item.outage is not None}
        ended.kept.update({name: replace(item, outage=None) for name, item in (held | found.kept).items()})
        ended.drafts.extend(found.drafts)
        ended.changes.extend(found.changes)
    forget_members(connection, sorted(own))
    write_alerts(connection, ended.kept, ended.kept)
    left = {item.outage for item in own.values() if item.outage is not None}
    outages = kept_alerts(connection, [name for name, by in covered_monitors(connection, left).items() if not by])
    over = end_alerts(connection, outages, {}, routing, now, REMOVED)
    write_alerts(connection, over.kept, over.kept)
    append_all(connection, [*ended.drafts, *over.drafts])
    return Ended(ended.kept | over.kept, [], [*ended.changes, *over.changes])


def end_alerts(
    connection: sa.Connection,
    kept: Mapping[str, Kept],
    flagged: Mapping[str, Flagged],
    routing: Routing,
    now: datetime,
    reason: str,
) -> Ended:
    """Ends alerts of one monitor: what is sent is written, what stands and what was told is for the caller to write.

    Args:
        connection: the caller's.
        kept: the alerts by their names; quiet ones stay as they are.
        flagged: the members that the monitor follows, by key.
        routing: whose receivers are told.
        now: the instant.
        reason: why nobody watches what they are about.
    """
    grouped = {item.key for item in kept.values() if item.key is not None}
    breached = {key for key, item in flagged.items() if item.breached}
    ended, told = Ended(), list[tuple[str, Kept, AlertChange]]()
    for name, item in kept.items():
        if item.status.state is AlertState.QUIET:
            continue
        carried = len(breached - grouped if item.key is None else breached & {item.key})
        # Of an outage, whoever is in the outbox heard.
        heard = item.status.sent is not None or name.startswith(PREFIX)
        status, change = unwatch(item.status, carried, heard=heard)
        ended.kept[name] = replace(item, status=status, message=None)
        if change is not None:
            told.append((name, item, change))
    together = sum(not change.muted and item.group_of is not None for _, item, change in told) > MOST_APART
    for name, item, change in told:
        told_now = Told(name, change, _message(name, item, change, reason, now), (), now)
        told_now = addressed_to_those_before(connection, told_now, item.group_of if together else None)
        about: dict[str, Json] = {
            "evaluation_id": item.status.evaluation_id,
            "state": AlertState.QUIET,
            "at": utc_text(now),
            "reason": reason,
        }
        ended.drafts.append(draft_of(told_now, send(connection, told_now, routing), about))
        ended.changes.append(change)
    return ended


def _message(name: str, kept: Kept, change: AlertChange, reason: str, now: datetime) -> str:
    """What its latest evaluation found, and that there will be no other."""
    try:
        last = Message.from_json(kept.message or "")
    except ValueError:
        # A row from before messages were kept, or one whose text was erased.
        monitor = kept.group_of or name
        last = Message(change.event, monitor, "", monitor, episode=change.episode, alert=name if kept.group_of else "")
    told = replace(last, event=change.event, kind=change.kind, severity=change.severity, carried=change.carried)
    return replace(told, at=utc_text(now), detail=reason).to_json()
