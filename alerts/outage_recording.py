"""Outages in the store: which monitors join and leave, and what is told of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import sqlalchemy as sa

from alerts.keeping import Kept, kept_alerts, write_alerts
from alerts.message import outage_message
from alerts.outages import Outage, advance_outage
from alerts.routing import Routing
from alerts.states import AlertEvent, AlertKind
from alerts.status import AlertChange, AlertStatus
from alerts.tables import alert
from alerts.telling import Told, draft_of, send, told_before
from ledger.append import Draft
from monitors.evaluation import Evaluation
from trivet.canonical import Json
from trivet.clock import utc_text
from trivet.verdicts import Severity


@dataclass(frozen=True, slots=True)
class Joined:
    """A monitor that joined an outage, or left one; or that stays in it, and cannot be judged again."""

    made: Evaluation
    outage: Outage | None
    """What the evaluation was not made for."""
    status: AlertStatus
    """How the monitor's own alert stands."""
    now: str | None
    """The outage that tells of it now."""
    before: str | None
    silenced: bool = False
    """Somebody silenced the monitor: for its sake nobody is told of the outage."""


def settle_outages(connection: sa.Connection, joined: Sequence[Joined], routing: Routing) -> list[Draft]:
    """Moves the alerts of the outages that monitors joined or left, and gives the ledger's entries of it.

    Args:
        connection: the caller's, on which the monitors' own rows are not written yet.
        joined: the monitors.
        routing: who is told.
    """
    names = {name for item in joined for name in (item.now, item.before) if name is not None}
    if not names:
        return []
    kept, covered = kept_alerts(connection, names), covered_monitors(connection, names)
    for item in joined:
        if item.before is not None:
            covered[item.before].discard(item.made.definition.id)
        if item.now is not None:
            covered[item.now].add(item.made.definition.id)
    drafts, moved = list[Draft](), dict[str, Kept]()
    for name in sorted(names):
        own = [item for item in joined if name in (item.now, item.before)]
        moved[name], told = _settle(connection, name, kept.get(name, Kept()), own, sorted(covered[name]), routing)
        drafts += told
    write_alerts(connection, moved, kept)
    return drafts


def covered_monitors(connection: sa.Connection, names: Iterable[str]) -> dict[str, set[str]]:
    """The monitors that outages tell of, by outage."""
    found: dict[str, set[str]] = {name: set() for name in names}
    rows = connection.execute(sa.select(alert.c.outage, alert.c.monitor).where(alert.c.outage.in_(sorted(found))))
    for row in rows:
        found[row.outage].add(row.monitor)
    return found


def _settle(
    connection: sa.Connection, name: str, last: Kept, own: Sequence[Joined], covered: Sequence[str], routing: Routing
) -> tuple[Kept, list[Draft]]:
    joining = [item for item in own if item.now == name != item.before]
    staying = [item for item in own if item.now == name == item.before]
    told_of = [item for item in joining if not item.silenced]
    wanted = dict.fromkeys(receiver for item in told_of for receiver in _receivers(item, routing))
    heard = told_before(connection, name, last.status.episode) if last.status.state.is_open else []
    fresh = [receiver for receiver in wanted if receiver not in heard]
    severity = max((_severity(item) for item in joining), key=lambda item: item.rank, default=Severity.WARNING)
    latest = max(own, key=lambda item: item.made.slot).made
    status, change = advance_outage(last.status, latest, severity, len(covered), told_more=bool(fresh))
    # However often the words change, it is one outage: it says what was told last.
    told_last = sorted((*joining, *staying), key=lambda item: item.made.slot, reverse=True)
    outage = next((replace(item.outage, name=name) for item in told_last if item.outage is not None), None)
    message = outage_message(change or _standing(status), latest, outage, covered, last.message)
    kept = Kept(status, message.to_json())
    if change is None:
        return kept, []
    told = Told(
        name, change, message.to_json(), heard if change.event is AlertEvent.RESOLVED else fresh, latest.finished_at
    )
    about: dict[str, Json] = {
        "evaluation_id": latest.evaluation_id,
        "scheduled_for": utc_text(latest.slot),
        "state": status.state,
        "monitors": len(covered),
    }
    return kept, [draft_of(told, send(connection, told, routing), about)]


def _receivers(item: Joined, routing: Routing) -> list[str]:
    reason = (item.outage.reason.value,) if item.outage else ()
    return routing.receivers_for(item.made.definition, AlertKind.NO_DATA, _severity(item), reason)


def _severity(item: Joined) -> Severity:
    return item.status.severity or item.made.definition.severity


def _standing(status: AlertStatus) -> AlertChange:
    """An outage as it stands, for the message that is kept of it."""
    since = status.since or status.slot
    if since is None:
        raise ValueError("an outage without a slot")
    severity = status.severity or Severity.WARNING
    return AlertChange(AlertEvent.REPEATED, AlertKind.NO_DATA, None, status.episode, status.events, since, severity)
