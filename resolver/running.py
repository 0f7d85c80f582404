"""Running what was certified, and the statements of our own that an answer needs beside its result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from catalog.contract import Contract, ObjectType, Property
from catalog.engines.port import (
    EngineFault,
    QueryTimeout,
    QueryTooLarge,
    QuestionEngine,
    QuestionResult,
    SnapshotIdentity,
)
from catalog.referee.certified import CertifiedQuery, Purpose
from catalog.referee.certify import certify
from catalog.referee.decisions import Allowed
from monitors.evaluation import NotMade
from resolver.monitor_drafting import monitor_table
from resolver.outcome import ResultTable
from resolver.plan import MonitorQuestion
from resolver.plan_sql import values_sql
from resolver.state import Failed, Parts, Ran
from resolver.vocabulary import ValueLookup
from trivet.errors import InternalError
from trivet.verdicts import NotMadeReason


class OneSnapshot:
    """An engine for one question: every statement sees the same data, or the question ends."""

    def __init__(self, engine: QuestionEngine) -> None:
        self.name, self.version = engine.name, engine.version
        self._engine = engine
        self._seen: SnapshotIdentity | None = None

    def run(self, query: CertifiedQuery) -> QuestionResult:
        """The rows of a query; raises as the engine does, and where the data was replaced meanwhile."""
        result = self._engine.run(query)
        if self._seen is not None and self._seen != result.snapshot:
            raise EngineFault("the data was replaced while the question was answered; ask again")
        self._seen = result.snapshot
        return result


def run(todo: CertifiedQuery | MonitorQuestion, parts: Parts) -> Ran | Failed:
    """Runs a certified query, or judges a monitor."""
    if isinstance(todo, MonitorQuestion):
        return _judge(todo, parts)
    try:
        result = parts.engine.run(todo)
    except (QueryTimeout, QueryTooLarge) as error:
        return Failed(str(error), too_costly=True)
    except EngineFault as error:
        return Failed(str(error))
    return Ran(todo, table_of(result), snapshot=result.snapshot.to_json())


def run_own(sql: str, contract: Contract, engine: QuestionEngine) -> ResultTable:
    """The result of SQL that the plan's printer made; it passes the referee too.

    Raises:
        EngineFault: it cannot be run.
        InternalError: the referee objects, so printer and referee disagree.
    """
    decision = certify(sql, contract, Purpose.ACCOUNT)
    if not isinstance(decision, Allowed):
        objection = decision.objection
        raise InternalError(f"a plan's own SQL was refused by clause {objection.clause}: {objection.message}")
    return table_of(engine.run(decision.query))


def table_of(result: QuestionResult) -> ResultTable:
    """A result as the resolver holds it."""
    names = tuple(column.name for column in result.columns)
    return ResultTable(names, result.rows, result.truncated, result.total if result.truncated else None)


def value_lookup(contract: Contract, engine: QuestionEngine) -> ValueLookup:
    """Looks up the values of a property in the data, as many as a question may read."""

    def look_up(object_type: ObjectType, declared: Sequence[Property]) -> Mapping[str, tuple[str, ...]]:
        table = run_own(values_sql(object_type, declared, contract), contract, engine)
        if table.truncated and len(declared) > 1:
            # A key with many values must not hide the few of a category beside it.
            return {item.name: look_up(object_type, [item])[item.name] for item in declared}
        columns = zip(*table.rows, strict=True) if table.rows else [()] * len(declared)
        return {
            item.name: tuple(dict.fromkeys(str(cell) for cell in column if cell is not None))
            for item, column in zip(declared, columns, strict=True)
        }

    return look_up


def _judge(asked: MonitorQuestion, parts: Parts) -> Ran | Failed:
    judged = parts.judge(parts.monitor(asked.monitor))
    if isinstance(judged.outcome, NotMade):
        message = f"monitor {asked.monitor} could not be judged: {judged.outcome.reason}"
        if judged.outcome.message:
            message += f", {judged.outcome.message}"
        return Failed(message, too_costly=judged.outcome.reason is NotMadeReason.TIMEOUT)
    table = monitor_table(asked.asks, judged, judged.outcome)
    return Ran(asked, table, judged, judged.outcome, judged.snapshot)
