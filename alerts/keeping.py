"""The rows of alerts: how each stands, and whom it follows. Reading and writing, on the caller's connection."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from alerts.groups import MARK, GroupAlert
from alerts.members import Flagged, MemberChange
from alerts.states import AlertKind, AlertState, MemberState
from alerts.status import AlertStatus, detail_fields
from alerts.tables import FOLLOWED, MEMBER_CHANGE_BINDING, alert, alert_member, member_change
from ledger.append import Draft
from ledger.bound_rows import new_salt, rows_root
from ledger.entries import EntryType
from monitors.evaluation import Evaluation
from trivet.canonical import Json
from trivet.clock import utc_text

PAYLOAD_VERSION = 1
ERASED_KEY = "erased "
"""Stands before what is in place of an erased key."""
_CHUNK = 500


@dataclass(frozen=True, slots=True)
class Kept:
    """One alert as the store keeps it."""

    status: AlertStatus = field(default_factory=AlertStatus)
    message: str | None = None
    """What repetitions are made of, while it fires."""
    outage: str | None = None
    """The outage that tells of it in its place; of a group's alert, its monitor's own."""
    group_of: str | None = None
    """Of a group's alert: the monitor."""
    key: str | None = None
    """Of a group's alert: the group's key, as `monitors.evaluation.key_text` spells it."""


def kept_alerts(connection: sa.Connection, monitors: Collection[str]) -> dict[str, Kept]:
    """The alerts of some monitors; those that were never moved are left out."""
    found = {}
    for names in _chunks(monitors):
        rows = connection.execute(sa.select(alert).where(alert.c.monitor.in_(names)))
        found.update({row.monitor: read_alert(row) for row in rows})
    return found


def read_alert(row: sa.Row[Any]) -> Kept:
    """A row of `alert` as a record."""
    return Kept(read_status(row), row.message, row.outage, row.group_of, row.member_key)


def group_alerts(connection: sa.Connection, monitors: Collection[str]) -> dict[str, Kept]:
    """The alerts that groups of some monitors have or had, by their own names."""
    found = {}
    for names in _chunks(monitors):
        rows = connection.execute(sa.select(alert).where(alert.c.group_of.in_(names)))
        found.update({row.monitor: read_alert(row) for row in rows})
    return found


def keys_to_look_up(connection: sa.Connection, monitors: Collection[str]) -> dict[str, set[str]]:
    """The keys of members to be looked up, by monitor: flagged ones, and groups whose own alerts are live."""
    flagged = flagged_members(connection, monitors)
    found = {name: {key for key, item in members.items() if item.is_followed} for name, members in flagged.items()}
    for name, kept in group_alerts(connection, monitors).items():
        if kept.group_of is not None and kept.key is not None and as_group(name, kept).is_live:
            found.setdefault(kept.group_of, set()).add(kept.key)
    return found


def as_group(name: str, kept: Kept) -> GroupAlert:
    """A group's alert, as it moves."""
    return GroupAlert(int(name.rpartition(MARK)[2]), kept.key or "", kept.status)


def read_status(row: sa.Row[Any]) -> AlertStatus:
    """A row of `alert` as a record."""
    kind, told = _kind(row.kind), _kind(row.told)
    return AlertStatus(
        AlertState(row.state),
        kind,
        _instant(row.since),
        _instant(row.slot),
        row.pending,
        row.episode,
        row.events,
        told,
        row.evaluation_id,
        **detail_fields(row.detail, kind, told),
    )


def write_alerts(connection: sa.Connection, kept: Mapping[str, Kept], before: Collection[str]) -> None:
    """Writes how alerts stand.

    Args:
        connection: the caller's.
        kept: by monitor; those that saw no slot yet are left out.
        before: the monitors that have a row already.
    """
    rows = [_status_row(name, item) for name, item in kept.items() if item.status.slot is not None]
    fresh = [row for row in rows if row["of"] not in before]
    known = [row for row in rows if row["of"] in before]
    if fresh:
        connection.execute(alert.insert(), [{"monitor": row.pop("of"), **row} for row in fresh])
    if known:
        values: dict[str, Any] = {name: sa.bindparam(name) for name in known[0] if name != "of"}
        connection.execute(sa.update(alert).where(alert.c.monitor == sa.bindparam("of")).values(values), known)


def flagged_members(connection: sa.Connection, monitors: Collection[str]) -> dict[str, dict[str, Flagged]]:
    """The members that the alerts of some monitors follow, by monitor and key; monitors without any are left out.

    With them come those that are followed no longer, and of which people were told in the episode.
    """
    found: dict[str, dict[str, Flagged]] = {}
    for names in _chunks(monitors):
        rows = connection.execute(sa.select(alert_member).where(alert_member.c.monitor.in_(names)))
        for row in rows:
            since = datetime.fromisoformat(row.since)
            item = Flagged(MemberState(row.state), row.breached, since, row.told)
            found.setdefault(row.monitor, {})[row.member_key] = item
    return found


def write_members(connection: sa.Connection, monitor: str, changes: Sequence[MemberChange]) -> None:
    """Writes how members stand that stand otherwise than before. Those that nobody looks for any more go.

    One of which people were told stays until the episode is over, so that they are not told of it again. So the table
    holds what is followed, however long a monitor runs; what became of the others, `member_change` says.
    """
    if not changes:
        return
    over = [item for item in changes if not _is_kept(item.after)]
    if over:
        this = sa.and_(alert_member.c.monitor == monitor, alert_member.c.member_key == sa.bindparam("of"))
        connection.execute(sa.delete(alert_member).where(this), [{"of": item.key} for item in over])
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    insert: Any = dialect.insert(alert_member)
    new = {name: insert.excluded[name] for name in ("state", "breached", "since", "told")}
    statement = insert.on_conflict_do_update(index_elements=["monitor", "member_key"], set_=new)
    rows = [
        {
            "monitor": monitor,
            "member_key": item.key,
            "state": item.after.now.value,
            "breached": item.after.breached,
            "since": utc_text(item.after.since),
            "told": item.after.told,
        }
        for item in changes
        if _is_kept(item.after)
    ]
    if rows:
        connection.execute(statement, rows)


def _is_kept(item: Flagged) -> bool:
    return item.is_followed or item.told > 0


def forget_told(connection: sa.Connection, monitors: Collection[str]) -> None:
    """Takes away the members that were kept for having been told of, once the episodes of their alerts are over."""
    for names in _chunks(monitors):
        connection.execute(sa.delete(alert_member).where(alert_member.c.monitor.in_(names), sa.not_(FOLLOWED)))


def forget_members(connection: sa.Connection, monitors: Collection[str]) -> None:
    """Takes away every member that the alerts of some monitors follow: nobody will look for them."""
    for names in _chunks(monitors):
        connection.execute(sa.delete(alert_member).where(alert_member.c.monitor.in_(names)))


def forget_member(connection: sa.Connection, monitor: str, key: str) -> None:
    """Erases the key of a member that an alert follows, inside the caller's transaction.

    If it breached and was not seen compliant since, the alert goes on: as one that follows members as a whole.
    """
    chosen = sa.and_(alert_member.c.monitor == monitor, alert_member.c.member_key == key)
    row = connection.execute(sa.select(alert_member).where(chosen)).one()
    connection.execute(sa.delete(alert_member).where(chosen))
    kept = kept_alerts(connection, {monitor}).get(monitor)
    if row.breached and kept is not None:
        beyond = replace(kept, status=replace(kept.status, beyond=True))
        write_alerts(connection, {monitor: beyond}, {monitor})


def forget_group(connection: sa.Connection, name: str) -> None:
    """Erases the key of a group that has an alert of its own, inside the caller's transaction.

    That alert ends without a word, since nobody could say any more what it is about.
    """
    values = {
        "member_key": ERASED_KEY + secrets.token_hex(16),
        "state": AlertState.QUIET.value,
        "kind": None,
        "told": None,
        "message": None,
        "detail": AlertStatus().detail_json(),
    }
    connection.execute(sa.update(alert).where(alert.c.monitor == name).values(values))


def record_moves(connection: sa.Connection, made: Evaluation, changes: Sequence[MemberChange]) -> Iterator[Draft]:
    """Writes the members' moves down, and gives the ledger's entry that binds them; none where nobody moved."""
    if not changes:
        return
    rows: list[dict[str, Any]] = [
        {
            "evaluation_id": made.evaluation_id,
            "ordinal": ordinal,
            "member_key": item.key,
            "was": item.was.value if item.was else None,
            "state": item.after.now.value,
            "salt": new_salt(),
        }
        for ordinal, item in enumerate(sorted(changes, key=lambda item: item.key), start=1)
    ]
    connection.execute(member_change.insert(), rows)
    payload: dict[str, Json] = {
        "schema": PAYLOAD_VERSION,
        "monitor_id": made.definition.id,
        "scheduled_for": utc_text(made.slot),
        "moves": _moves(changes),
        "rows_root": rows_root(MEMBER_CHANGE_BINDING, ((member_change.name, row) for row in rows)).hex(),
    }
    yield Draft(EntryType.MEMBER_CHANGES, made.evaluation_id, payload)


def _moves(changes: Iterable[MemberChange]) -> dict[str, Json]:
    """How many members moved from where to where."""
    counted = Counter(f"{item.was or 'new'} > {item.after.now}" for item in changes)
    return {name: counted[name] for name in sorted(counted)}


def _status_row(monitor: str, kept: Kept) -> dict[str, Any]:
    status = kept.status
    return {
        "of": monitor,
        "state": status.state.value,
        "kind": status.kind.value if status.kind else None,
        "since": utc_text(status.since) if status.since else None,
        "slot": utc_text(status.slot) if status.slot else None,
        "pending": status.pending,
        "episode": status.episode,
        "events": status.events,
        "told": status.told.value if status.told else None,
        "evaluation_id": status.evaluation_id,
        "detail": status.detail_json(),
        "message": kept.message,
        "outage": kept.outage,
        "group_of": kept.group_of,
        "member_key": kept.key,
    }


def _chunks(names: Collection[str]) -> Iterator[Sequence[str]]:
    ordered = sorted(names)
    yield from (ordered[start : start + _CHUNK] for start in range(0, len(ordered), _CHUNK))


def _kind(text: str | None) -> AlertKind | None:
    return None if text is None else AlertKind(text)


def _instant(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
