"""The partition law is checked by the product itself, on every evaluation and against any engine.

The engine here is a fake at the port: it may answer anything at all, and whatever it answers, an
evaluation is either one whose three parts add up to its population, or none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from catalog.engines.port import EngineFault, HeldName, QueryTimeout, SnapshotIdentity, WarehouseMissing
from catalog.referee.certified import CertifiedQuery
from compiler.compile import compile_monitor
from compiler.compiled import MemberQuery, Role
from monitors.evaluation import Counts, Evaluation, NotMade
from tests.integration.store import migrated_store
from tests.integration.worlds import BADGES, a_contract, assert_verifies, evaluate, some_monitors, stored
from trivet.verdicts import NotMadeReason, Verdict

ONE = "monitors: [{id: m, object: reading, breach_when: value < 0}]"
ALLOWED = "monitors: [{id: m, object: reading, breach_when: value < 0, allow_empty: true}]"
COLUMNS = {
    "ontology.reading": dict.fromkeys(("id", "site", "value", "doc", "line"), "VARCHAR"),
    "ontology.floor": dict.fromkeys(("site", "least"), "VARCHAR"),
}
_CONTRACT = a_contract()
_COMPILED = compile_monitor(some_monitors(_CONTRACT, ONE)[0], _CONTRACT, COLUMNS)

Answer = Callable[[CertifiedQuery], Iterator[tuple[Any, ...]]]


class FakeSnapshot:
    """A snapshot that answers whatever it is told to."""

    identity = SnapshotIdentity("20261130T060000000000Z-0000", 1, 2, 3, 4)
    can_hold = False

    def __init__(self, answer: Answer, columns: Callable[[str], Mapping[str, str] | None]) -> None:
        self._answer = answer
        self._columns = columns

    def columns(self, view: str) -> Mapping[str, str] | None:
        return self._columns(view)

    def run(self, query: CertifiedQuery, timeout: timedelta) -> list[tuple[Any, ...]]:
        return list(self._answer(query))

    def stream(self, query: CertifiedQuery, timeout: timedelta) -> Iterator[tuple[Any, ...]]:
        return self._answer(query)

    def hold(self, name: HeldName, query: CertifiedQuery, timeout: timedelta) -> None:
        raise EngineFault(f"{name} cannot be held here")

    def remembered(self, query: CertifiedQuery, timeout: timedelta) -> list[tuple[Any, ...]]:
        return self.run(query, timeout)


class FakeEngine:
    """An engine whose snapshots answer whatever they are told to."""

    name = "fake"
    version = "1"

    def __init__(self, answer: Answer, columns: Callable[[str], Mapping[str, str] | None] = COLUMNS.get) -> None:
        self.opened = 0
        self._answer = answer
        self._columns = columns

    @contextmanager
    def snapshot(self, longest: timedelta | None = None) -> Iterator[FakeSnapshot]:
        self.opened += 1
        yield FakeSnapshot(self._answer, self._columns)


def member_row(query: MemberQuery, number: int) -> tuple[Any, ...]:
    """A row that a member query could return."""
    values = {Role.REASON: "left_null", Role.PARTIAL: False, Role.CAUSES: None}
    return tuple(values.get(column.role, f"x{number}") for column in query.columns)


def answering(population: tuple[Any, ...], breach: int, no_data: int) -> Answer:
    """Answers with these counts, and so many members of each kind."""

    def answer(query: CertifiedQuery) -> Iterator[tuple[Any, ...]]:
        if query.sql == _COMPILED.population.sql:
            yield population
        elif query.sql == _COMPILED.breach.query.sql:
            yield from (member_row(_COMPILED.breach, number) for number in range(breach))
        else:
            assert query.sql == _COMPILED.no_data.query.sql
            yield from (member_row(_COMPILED.no_data, number) for number in range(no_data))

    return answer


def judged(answer: Answer, monitors: str = ONE) -> Evaluation:
    return evaluate(FakeEngine(answer), None, monitors=monitors)["m"]


few = st.integers(0, 3)


@given(population=few, compliant=few, unaccounted=few, breach=few, no_data=few, allowed=st.booleans())
def test_an_evaluation_adds_up_or_is_none(
    population: int, compliant: int, unaccounted: int, breach: int, no_data: int, allowed: bool
) -> None:
    answer = answering((population, compliant, 0, unaccounted, 0), breach, no_data)
    made = judged(answer, ALLOWED if allowed else ONE)
    adds_up = unaccounted == 0 and breach + no_data + compliant == population
    if not adds_up:
        assert isinstance(made.outcome, NotMade)
        assert made.outcome.reason is NotMadeReason.ACCOUNTING
        assert "please report this fault" in str(made.outcome.message)
        assert made.verdict is Verdict.NO_DATA
    elif population == 0 and not allowed:
        assert isinstance(made.outcome, NotMade)
        assert made.outcome.reason is NotMadeReason.POPULATION_EMPTY
    else:
        assert isinstance(made.outcome, Counts)
        found = (made.outcome.population, made.outcome.breach, made.outcome.no_data, made.outcome.compliant)
        assert found == (population, breach, no_data, compliant)
        worst = Verdict.BREACH if breach else Verdict.NO_DATA if no_data else Verdict.COMPLIANT
        assert made.verdict is worst


@pytest.mark.parametrize("name", ["population", "compliant", "partial", "unaccounted", "duplicate_keys"])
def test_a_count_that_is_missing_is_never_read_as_nought(name: str) -> None:
    names = ["population", "compliant", "partial", "unaccounted", "duplicate_keys"]
    counts = tuple(None if one == name else 0 for one in names)
    made = judged(answering(counts, 0, 0), ALLOWED)
    assert isinstance(made.outcome, NotMade)
    assert made.outcome.reason in (NotMadeReason.ENGINE_ERROR, NotMadeReason.ACCOUNTING)


@pytest.mark.parametrize(
    "population", [(), (5,), (5, 5, 0, 0, 0, 0), ("five", "five", "0", "0", "0"), (None,) * 5, (float("nan"),) * 5]
)
def test_counts_of_another_shape_are_no_counts(population: tuple[Any, ...]) -> None:
    made = judged(answering(population, 0, 0), ALLOWED)
    assert isinstance(made.outcome, NotMade)
    assert made.outcome.reason is NotMadeReason.ENGINE_ERROR
    assert str(made.outcome.message).startswith("fault in Trivet: ")


def test_no_row_of_counts_is_no_count() -> None:
    made = judged(lambda _: iter(()), ALLOWED)
    assert isinstance(made.outcome, NotMade)
    assert made.outcome.reason is NotMadeReason.ENGINE_ERROR


@pytest.mark.parametrize("row", [(), ("x",), tuple("x" * 30)])
def test_members_of_another_shape_are_no_members(row: tuple[Any, ...]) -> None:
    def answer(query: CertifiedQuery) -> Iterator[tuple[Any, ...]]:
        yield (1, 0, 0, 0, 0) if query.sql == _COMPILED.population.sql else row

    made = judged(answer)
    assert isinstance(made.outcome, NotMade)
    assert made.outcome.reason is NotMadeReason.ENGINE_ERROR


def test_a_reason_that_is_not_in_the_list_is_no_reason() -> None:
    def answer(query: CertifiedQuery) -> Iterator[tuple[Any, ...]]:
        if query.sql == _COMPILED.population.sql:
            yield (1, 0, 0, 0, 0)
        elif query.sql == _COMPILED.no_data.query.sql:
            columns = _COMPILED.no_data.columns
            yield tuple("just so" if column.role is Role.REASON else None for column in columns)

    made = judged(answer)
    assert isinstance(made.outcome, NotMade)
    assert made.outcome.reason is NotMadeReason.ENGINE_ERROR


def test_an_undecided_member_without_a_reason_is_a_fault_of_ours() -> None:
    def answer(query: CertifiedQuery) -> Iterator[tuple[Any, ...]]:
        if query.sql == _COMPILED.population.sql:
            yield (1, 0, 0, 0, 0)
        elif query.sql == _COMPILED.no_data.query.sql:
            yield tuple(None for _ in _COMPILED.no_data.columns)

    made = judged(answer)
    assert isinstance(made.outcome, NotMade)
    assert made.outcome.reason is NotMadeReason.ACCOUNTING
    assert "1 undecided ones without a reason" in str(made.outcome.message)


FAULTS: dict[str, tuple[Exception, NotMadeReason]] = {
    "a time-out": (QueryTimeout("Interrupted!"), NotMadeReason.TIMEOUT),
    "an engine's fault": (EngineFault("the disk\non fire"), NotMadeReason.ENGINE_ERROR),
    "a warehouse that went away": (WarehouseMissing("gone"), NotMadeReason.ENGINE_ERROR),
    "a key error": (KeyError("value"), NotMadeReason.ENGINE_ERROR),
    "no memory": (MemoryError(), NotMadeReason.ENGINE_ERROR),
    "no stack": (RecursionError("maximum recursion depth exceeded"), NotMadeReason.ENGINE_ERROR),
    "no file": (OSError(24, "Too many open files"), NotMadeReason.ENGINE_ERROR),
    "no text": (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"), NotMadeReason.ENGINE_ERROR),
}


@pytest.mark.parametrize("place", ["columns", "population", "breach", "no_data"])
@pytest.mark.parametrize("name", FAULTS)
def test_whatever_an_engine_raises_is_no_data_and_the_next_monitor_gets_a_snapshot_of_its_own(
    tmp_path: Path, name: str, place: str
) -> None:
    fault, reason = FAULTS[name]
    whole = answering((3, 1, 0, 0, 0), 1, 1)
    raised = 0

    def answer(query: CertifiedQuery) -> Iterator[tuple[Any, ...]]:
        nonlocal raised
        at = {_COMPILED.population.sql: "population", _COMPILED.breach.query.sql: "breach"}.get(query.sql, "no_data")
        yield from whole(query) if at == "breach" and place == "breach" and not raised else ()
        if at == place and not raised:
            raised += 1
            raise fault
        yield from whole(query)

    def columns(view: str) -> Mapping[str, str] | None:
        nonlocal raised
        if place == "columns" and not raised:
            raised += 1
            raise fault
        return COLUMNS[view]

    monitors = (
        "monitors:\n  - {id: m, object: reading, breach_when: value < 0}\n"
        "  - {id: n, object: reading, breach_when: value < 0}\n"
    )
    store = migrated_store(tmp_path)
    engine = FakeEngine(answer, columns)
    found = evaluate(engine, store, monitors=monitors)
    outcome = found["m"].outcome
    assert isinstance(outcome, NotMade)
    assert outcome.reason is reason
    assert found["n"].badge == "1 breach / 1 no-data"
    assert engine.opened == 2
    assert stored(store, found["m"])[1:] == ({"no_data": None}, 0)
    assert_verifies(store, 2)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (WarehouseMissing("warehouse.duckdb is not there"), NotMadeReason.VIEW_MISSING),
        (EngineFault("no lock"), NotMadeReason.ENGINE_ERROR),
        (OSError(28, "No space left on device"), NotMadeReason.ENGINE_ERROR),
    ],
)
def test_an_engine_that_cannot_be_opened_again_leaves_the_rest_undecided(
    fault: Exception, reason: NotMadeReason
) -> None:
    class Once(FakeEngine):
        @contextmanager
        def snapshot(self, longest: timedelta | None = None) -> Iterator[FakeSnapshot]:
            if self.opened:
                raise fault
            with super().snapshot(longest) as snapshot:
                yield snapshot

    def answer(_: CertifiedQuery) -> Iterator[tuple[Any, ...]]:
        raise EngineFault("spoilt")
        yield ()

    outcomes = {name: made.outcome for name, made in evaluate(Once(answer), None).items()}
    assert list(outcomes) == list(BADGES)
    reasons = [outcome.reason for outcome in outcomes.values() if isinstance(outcome, NotMade)]
    assert reasons == [NotMadeReason.ENGINE_ERROR, reason, reason]


def test_an_interrupt_by_the_person_is_no_verdict() -> None:
    def answer(_: CertifiedQuery) -> Iterator[tuple[Any, ...]]:
        raise KeyboardInterrupt
        yield ()

    with pytest.raises(KeyboardInterrupt):
        judged(answer)


def test_members_beyond_the_hard_limit_are_counted_and_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("worker.judging.RECORDED_MEMBERS", 3)
    store: sa.Engine = migrated_store(tmp_path)
    made = evaluate(FakeEngine(answering((9, 2, 0, 0, 0), 3, 4)), store, monitors=ONE)["m"]
    assert isinstance(made.outcome, Counts)
    assert (made.outcome.breach, made.outcome.no_data, made.recorded_truncated) == (3, 4, True)
    row, counts, members = stored(store, made)
    assert (row["recorded_truncated"], counts["no_data"], members) == (True, 4, 6)
    assert made.to_json(1)["recorded_truncated"] is True
    assert_verifies(store, 1)
