"""Writing an alert change down: its row, its ledger entry, and one outbox row for each address that is told."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from alerts.changes import AlertChange, AlertStatus, advance
from alerts.message import message_of
from alerts.routing import Routing, Target
from alerts.states import AlertEvent, AlertKind, AlertState, DeliveryState
from alerts.tables import alert, outbox
from ledger.append import Draft, append_all
from ledger.entries import EntryType
from ledger.reading import entry_about
from monitors.evaluation import Evaluation
from trivet.canonical import Json, content_hash
from trivet.clock import utc_text

PAYLOAD_VERSION = 1
_CHUNK = 500


def apply(connection: sa.Connection, made: Evaluation, routing: Routing) -> AlertChange | None:
    """Moves the alert of one evaluation's monitor on; see `apply_all`."""
    return next(iter(apply_all(connection, [made], routing)), None)


def apply_all(connection: sa.Connection, made: Sequence[Evaluation], routing: Routing) -> list[AlertChange]:
    """Moves the monitors' alerts on, inside the evaluations' transaction, in their order. It never commits.

    Call it after the evaluations were recorded: a message names its evaluation's ledger entry, and the lock on the
    ledger's head keeps two evaluations of one monitor from moving the alert at the same time.
    """
    before = _statuses(connection, {item.definition.id for item in made})
    statuses: dict[str, AlertStatus] = dict(before)
    changes, drafts = [], []
    for item in made:
        name = item.definition.id
        statuses[name], change = advance(statuses.get(name, AlertStatus()), item)
        if change is not None:
            changes.append(change)
            drafts.append(_tell(connection, item, change, statuses[name], routing))
    moved = {name: status for name, status in statuses.items() if status != before.get(name)}
    _write_statuses(connection, {name: item for name, item in moved.items() if name not in before}, fresh=True)
    _write_statuses(connection, {name: item for name, item in moved.items() if name in before}, fresh=False)
    append_all(connection, drafts)
    return changes


def _tell(
    connection: sa.Connection, made: Evaluation, change: AlertChange, status: AlertStatus, routing: Routing
) -> Draft:
    """Writes what is to be sent, and gives the ledger's entry of it."""
    names = _told(connection, made.definition.id, change, routing.receivers_for(made.definition, change.kind))
    targets = [target for name in names for target in routing.receivers.get(name, ())]
    recorded = entry_about(connection, EntryType.EVALUATION, made.evaluation_id)
    payload = message_of(change, made, recorded.seq if recorded else None).to_json()
    rows = [_outbox_row(made, change, target, payload) for target in targets]
    if rows:
        connection.execute(outbox.insert(), rows)
    subject = f"{made.definition.id}/{change.episode}/{change.ordinal}"
    return Draft(EntryType.ALERT_CHANGE, subject, _entry(made, change, status, rows))


def _statuses(connection: sa.Connection, monitors: Collection[str]) -> dict[str, AlertStatus]:
    found = {}
    for start in range(0, len(monitors), _CHUNK):
        names = sorted(monitors)[start : start + _CHUNK]
        rows = connection.execute(sa.select(alert).where(alert.c.monitor.in_(names)))
        found.update({row.monitor: read_status(row) for row in rows})
    return found


def status_of(connection: sa.Connection, monitor: str) -> AlertStatus | None:
    """How the monitor's alert stands; None before its first evaluation."""
    row = connection.execute(sa.select(alert).where(alert.c.monitor == monitor)).one_or_none()
    return None if row is None else read_status(row)


def read_status(row: sa.Row[Any]) -> AlertStatus:
    """A row of `alert` as a record."""
    return AlertStatus(
        AlertState(row.state),
        _kind(row.kind),
        _instant(row.since),
        _instant(row.slot),
        row.pending,
        row.episode,
        row.events,
        _kind(row.told),
        row.evaluation_id,
    )


def alert_key(monitor: str, change: AlertChange, target: Target) -> str:
    """The one name of one notice to one address, the same on every attempt: 64 hex digits."""
    parts: list[Json] = [target.receiver, target.number, monitor, change.episode, change.event, change.ordinal]
    return content_hash(parts)


def _write_statuses(connection: sa.Connection, statuses: Mapping[str, AlertStatus], *, fresh: bool) -> None:
    rows = [_status_row(name, status) for name, status in statuses.items() if status.slot is not None]
    if not rows:
        return
    if fresh:
        connection.execute(alert.insert(), [{"monitor": row.pop("of"), **row} for row in rows])
        return
    values: dict[str, Any] = {name: sa.bindparam(name) for name in rows[0] if name != "of"}
    connection.execute(sa.update(alert).where(alert.c.monitor == sa.bindparam("of")).values(values), rows)


def _status_row(monitor: str, status: AlertStatus) -> dict[str, Any]:
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
    }


def _told(connection: sa.Connection, monitor: str, change: AlertChange, matched: Sequence[str]) -> list[str]:
    """Who is told: those who match, and whoever was told of this episode before, so that nobody misses its end."""
    if change.event is AlertEvent.FIRED:
        return list(matched)
    before = connection.execute(
        sa.select(outbox.c.receiver)
        .where(outbox.c.monitor == monitor, outbox.c.episode == change.episode)
        .distinct()
        .order_by(outbox.c.receiver)
    ).scalars()
    return list(dict.fromkeys([*matched, *before]))


def _outbox_row(made: Evaluation, change: AlertChange, target: Target, payload: str) -> dict[str, Any]:
    created = utc_text(made.finished_at)
    return {
        "alert_key": alert_key(made.definition.id, change, target),
        "monitor": made.definition.id,
        "episode": change.episode,
        "ordinal": change.ordinal,
        "event": change.event.value,
        "receiver": target.receiver,
        "target": target.number,
        "payload": payload,
        "state": DeliveryState.PENDING.value,
        "attempts": 0,
        "next_attempt": created,
        "created_at": created,
    }


def _entry(
    made: Evaluation, change: AlertChange, status: AlertStatus, rows: Sequence[dict[str, Any]]
) -> dict[str, Json]:
    return {
        "schema": PAYLOAD_VERSION,
        "monitor_id": made.definition.id,
        "evaluation_id": made.evaluation_id,
        "definition_hash": made.definition.definition_hash,
        "scheduled_for": utc_text(made.slot),
        "event": change.event,
        "kind": change.kind,
        "was": change.was,
        "state": status.state,
        "since": utc_text(change.since),
        "episode": change.episode,
        "ordinal": change.ordinal,
        "severity": made.definition.severity,
        "verdict": made.verdict,
        "alert_keys": [str(row["alert_key"]) for row in rows],
    }


def _kind(text: str | None) -> AlertKind | None:
    return None if text is None else AlertKind(text)


def _instant(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
