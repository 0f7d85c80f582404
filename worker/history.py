"""Looking back in the store: the values that a monitor's own earlier evaluations recorded.

Which evaluations count is decided here, in this order: those of the monitor, made, for an earlier slot, that recorded
the measure under the same hash; of a monitor with a schedule those of its schedule alone, else those that people asked
for; of one slot the first; of these the latest as many as the baseline says.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import islice
from re import compile as pattern
from typing import Any
from zoneinfo import ZoneInfo

import sqlalchemy as sa

from catalog.contract import Contract
from catalog.expressions.baselines import BaselineRule
from monitors.baselines import statistic_of
from monitors.definition import MonitorDefinition
from trivet.clock import utc_text
from trivet.verdicts import EvaluationStatus, Reason, Trigger
from worker.baselines import DamagedHistory, NothingPast, Past
from worker.stores import read_only
from worker.tables import evaluation, measure

_NUMBER = pattern(r"-?[0-9]{1,40}(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,3})?")
_BATCH = 500


@dataclass(frozen=True, slots=True)
class RecordedPast:
    """The recorded values of one measure."""

    rule: BaselineRule
    evaluations: tuple[str, ...]
    values: Mapping[str, Sequence[Decimal]]
    """By group, in the order of the evaluations; what had no value is left out."""

    def comes_to(self, key: str, *, exact: bool) -> Decimal | Reason:
        """The statistic of a group's values."""
        found = self.values.get(key, ())
        if len(found) < self.rule.min_history:
            return Reason.INSUFFICIENT
        value = statistic_of(self.rule.statistic, found, exact=exact)
        return Reason.LEFT_NULL if value is None else value


@dataclass(frozen=True, slots=True)
class StoreHistory:
    """Looks back in one audit store."""

    store: sa.Engine
    contract: Contract

    def __call__(self, definition: MonitorDefinition, rule: BaselineRule, measure_hash: str, at: datetime) -> Past:
        """What a baseline of a monitor looks back on from the slot `at`.

        Raises:
            DamagedHistory: a recorded value is none.
        """
        with read_only(self.store).connect() as connection:
            with closing(self._evaluations(connection, definition, rule, measure_hash, at)) as found:
                evaluations = tuple(islice(found, rule.last))
            return RecordedPast(rule, evaluations, _values(connection, evaluations, measure_hash))

    def _evaluations(
        self,
        connection: sa.Connection,
        definition: MonitorDefinition,
        rule: BaselineRule,
        measure_hash: str,
        at: datetime,
    ) -> Generator[str]:
        """The evaluations that count, the latest slot first."""
        zone = self._zone(definition)
        weekday, before = at.astimezone(zone).isoweekday(), None
        with connection.execute(_earlier(definition, measure_hash, at)) as rows:
            for row in rows:
                if row.scheduled_for == before:
                    continue
                before = row.scheduled_for
                instant = datetime.fromisoformat(row.scheduled_for).astimezone(zone)
                if not rule.same_weekday or instant.isoweekday() == weekday:
                    yield row.evaluation_id

    def _zone(self, definition: MonitorDefinition) -> ZoneInfo:
        named = definition.schedule.timezone if definition.schedule is not None else None
        return ZoneInfo(named or self.contract.calendar.time_zone)


@dataclass(frozen=True, slots=True)
class NamedHistory:
    """Looks back on the evaluations that a ledger entry names, whatever was recorded since: for replays."""

    connection: sa.Connection
    named: Mapping[str, Any]
    """`baselines` of the entry's payload: by name, with `measure_hash` and `evaluations`."""

    def __call__(self, definition: MonitorDefinition, rule: BaselineRule, measure_hash: str, at: datetime) -> Past:
        """What the evaluation looked back on then.

        Raises:
            DamagedHistory: a recorded value is none.
        """
        told = self.named.get(rule.name)
        if told is None:
            return NothingPast()
        evaluations = tuple(told["evaluations"])
        return RecordedPast(rule, evaluations, _values(self.connection, evaluations, told["measure_hash"]))


def _earlier(definition: MonitorDefinition, measure_hash: str, at: datetime) -> sa.Select[tuple[str, str]]:
    # What people ask for reads the data of the moment, whatever the slot: beside a schedule it is no history.
    trigger = Trigger.MANUAL if definition.schedule is None else Trigger.SCHEDULE
    columns = evaluation.c
    recorded = sa.exists().where(
        measure.c.evaluation_id == columns.evaluation_id, measure.c.measure_hash == measure_hash
    )
    return (
        sa.select(columns.evaluation_id, columns.scheduled_for)
        .where(
            columns.monitor == definition.id,
            columns.scheduled_for < utc_text(at),
            columns.trigger == trigger.value,
            columns.status == EvaluationStatus.COMPLETED.value,
            recorded,
        )
        .order_by(columns.scheduled_for.desc(), columns.started_at, columns.evaluation_id)
        .execution_options(yield_per=_BATCH)
    )


def _values(connection: sa.Connection, evaluations: Sequence[str], measure_hash: str) -> dict[str, list[Decimal]]:
    found: dict[str, list[Decimal]] = {}
    columns = measure.c
    for evaluation_id in evaluations:
        statement = sa.select(columns.member_key, columns.value).where(
            columns.evaluation_id == evaluation_id, columns.measure_hash == measure_hash, columns.value.is_not(None)
        )
        for key, value in connection.execute(statement):
            if not isinstance(value, str) or not _NUMBER.fullmatch(value):
                message = f"a recorded measure of evaluation {evaluation_id} is no number: run `trivet ledger verify`"
                raise DamagedHistory(message)
            found.setdefault(key, []).append(Decimal(value))
    return found
