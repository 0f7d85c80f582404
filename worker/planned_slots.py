"""What the planner reads and writes of slots and watermarks: many at once, on the caller's connection.

Slots are taken in the order of their keys; see `worker.claims`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from monitors.definition import MonitorDefinition
from trivet.clock import utc_text
from worker.claims import SlotKey, among, change_each, chunks, judged_by, key_of
from worker.planning import Mark, OpenSlots
from worker.tables import IS_OPEN, IS_PLANNED, SlotState, slot, watermark


@dataclass(frozen=True, slots=True)
class NewSlot:
    """A slot to be written down."""

    definition: MonitorDefinition
    at: datetime
    state: SlotState
    """Planned, or done at once."""

    @property
    def key(self) -> SlotKey:
        """Names it."""
        return key_of(self.definition, self.at)


def insert_slots(connection: sa.Connection, slots: Sequence[NewSlot]) -> set[SlotKey]:
    """Writes slots down, and gives those that were not written before."""
    rows = [
        {
            "monitor": item.definition.id,
            "scheduled_for": utc_text(item.at),
            "slot": item.at.isoformat(),
            "state": item.state.value,
            **judged_by(item.definition, item.at),
        }
        for item in sorted(slots, key=lambda item: item.key)
    ]
    if not rows:
        return set()
    if connection.dialect.name == "postgresql":
        columns = {name: [row[name] for row in rows] for name in rows[0]}
        found = connection.execute(_insert_arrays(list(columns)), columns)
    else:
        statement = _insert(connection, slot).returning(slot.c.monitor, slot.c.scheduled_for)
        found = connection.execute(statement, [row | {"fence": 0, "attempt": 0} for row in rows])
    return {SlotKey(row.monitor, row.scheduled_for) for row in found}


def _insert_arrays(names: list[str]) -> Any:
    """Inserts slots from one array for each column: the driver reads a statement of ten thousand parameters slowly."""
    arrays = [sa.bindparam(name, type_=postgresql.ARRAY(sa.Text)) for name in names]
    rows = sa.func.unnest(*arrays).table_valued(*names).render_derived()
    none_yet: list[sa.ColumnElement[int]] = [sa.literal_column("0"), sa.literal_column("0")]
    return (
        postgresql.insert(slot)
        .from_select([*names, "fence", "attempt"], sa.select(*(rows.c[name] for name in names), *none_yet))
        .on_conflict_do_nothing()
        .returning(slot.c.monitor, slot.c.scheduled_for)
    )


def open_slots(connection: sa.Connection, monitors: Sequence[str], now: datetime) -> dict[str, OpenSlots]:
    """The slots of some monitors that are not at their end; monitors that have none are left out."""
    statement = (
        sa.select(slot.c.monitor, slot.c.slot, slot.c.state, slot.c.lease_until)
        .where(slot.c.monitor.in_(monitors), IS_OPEN)
        .order_by(slot.c.monitor, slot.c.scheduled_for)
    )
    waiting: defaultdict[str, list[datetime]] = defaultdict(list)
    running: set[str] = set()
    for row in connection.execute(statement):
        if row.state == SlotState.PLANNED:
            waiting[row.monitor].append(datetime.fromisoformat(row.slot))
        elif row.lease_until > utc_text(now):
            running.add(row.monitor)
    return {name: OpenSlots(tuple(waiting[name]), name in running) for name in {*waiting, *running}}


def pass_over(connection: sa.Connection, slots: Mapping[SlotKey, MonitorDefinition]) -> set[SlotKey]:
    """Ends slots that nobody has begun, and gives them; somebody has begun those that are missing."""
    ended: list[SlotKey] = []
    for keys in chunks(sorted(slots)):
        taken = sa.select(slot.c.monitor, slot.c.scheduled_for).where(among(keys), IS_OPEN, IS_PLANNED)
        taken = taken.order_by(slot.c.monitor, slot.c.scheduled_for)
        ended += [SlotKey(row.monitor, row.scheduled_for) for row in connection.execute(taken.with_for_update())]
    done = {"state": SlotState.DONE.value}
    change_each(
        connection, {key: done | judged_by(slots[key], datetime.fromisoformat(key.scheduled_for)) for key in ended}
    )
    return set(ended)


def watermarks(connection: sa.Connection, monitors: Sequence[str]) -> dict[str, Mark]:
    """The watermarks of some monitors, locked until the transaction ends."""
    return _marks(connection, sa.select(watermark).where(watermark.c.monitor.in_(monitors)))


def all_watermarks(connection: sa.Connection) -> dict[str, Mark]:
    """Every watermark, locked until the transaction ends: nobody plans meanwhile."""
    return _marks(connection, sa.select(watermark))


def _marks(connection: sa.Connection, statement: sa.Select[Any]) -> dict[str, Mark]:
    rows = connection.execute(statement.order_by(watermark.c.monitor).with_for_update())
    return {
        row.monitor: Mark(
            row.planned_until,
            row.refresh,
            row.definition_hash,
            row.contract_hash,
            row.jumped_from,
            row.jumped_until,
        )
        for row in rows
    }


def insert_watermarks(connection: sa.Connection, marks: Mapping[str, Mark]) -> None:
    """Begins the planning of monitors; one that had begun before is left as it is."""
    rows = [
        {"monitor": name, "planned_until": mark.planned_until, "refresh": mark.refresh}
        for name, mark in sorted(marks.items())
    ]
    if rows:
        connection.execute(_insert(connection, watermark), rows)


def begin_watermarks(connection: sa.Connection, marks: Mapping[str, Mark]) -> None:
    """Begins the planning of monitors, or begins it anew, whatever was planned of them before."""
    insert_watermarks(connection, marks)
    _note(
        connection,
        [
            {
                "of": name,
                "planned_until": mark.planned_until,
                "refresh": mark.refresh,
                "jumped_from": None,
                "jumped_until": None,
            }
            for name, mark in sorted(marks.items())
        ],
    )


def move_watermarks(connection: sa.Connection, monitors: Sequence[str], now: datetime) -> None:
    """Moves watermarks forward; a clock that went back leaves them where they are."""
    until = utc_text(now)
    behind = sa.and_(watermark.c.monitor.in_(monitors), watermark.c.planned_until < until)
    connection.execute(sa.update(watermark).where(behind).values(planned_until=until))


def set_back(connection: sa.Connection, marks: Mapping[str, str]) -> None:
    """Sets watermarks back that a clock which had jumped left in the future."""
    _note(
        connection,
        [
            {"of": name, "planned_until": until, "jumped_from": None, "jumped_until": None}
            for name, until in sorted(marks.items())
        ],
    )


def note_jumps(connection: sa.Connection, began: Mapping[str, str], now: datetime) -> None:
    """Writes down that the clock jumped over slots of monitors, and from where."""
    until = utc_text(now)
    rows = [{"of": name, "jumped_from": mark, "jumped_until": until} for name, mark in sorted(began.items())]
    _note(connection, rows)


def note_refreshes(connection: sa.Connection, seen: Mapping[str, str]) -> None:
    """Writes down which warehouse each monitor's schedule has seen."""
    _note(connection, [{"of": name, "refresh": refresh} for name, refresh in sorted(seen.items())])


def note_judges(connection: sa.Connection, definitions: Sequence[MonitorDefinition], contract_hash: str) -> None:
    """Writes down by what the slots of monitors are planned."""
    rows = [
        {"of": item.id, "definition_hash": item.definition_hash, "contract_hash": contract_hash}
        for item in sorted(definitions, key=lambda item: item.id)
    ]
    _note(connection, rows)


def _note(connection: sa.Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    if rows:
        values: dict[str, Any] = {name: sa.bindparam(name) for name in rows[0] if name != "of"}
        statement = sa.update(watermark).where(watermark.c.monitor == sa.bindparam("of")).values(values)
        connection.execute(statement, rows)


def _insert(connection: sa.Connection, table: sa.Table) -> Any:
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    return dialect.insert(table).on_conflict_do_nothing()
