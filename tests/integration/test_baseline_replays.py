"""Evaluations that looked back are replayed by what they looked back on, and the keys of their groups can be erased."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pytest
import sqlalchemy as sa

from catalog.engines.duckdb_engine import DuckDBEngine
from ledger.entries import EntryType
from ledger.export import export_ledger
from ledger.reading import entries
from ledger.verification.files import ExportSource
from ledger.verification.verify import verify, verify_store
from monitors.evaluation import Counts, Evaluation
from tests.integration.store import lift_guards
from tests.integration.tampering import auditor
from tests.integration.worlds import NOW, a_contract, a_warehouse, rows, some_monitors
from trivet.clock import FixedClock
from trivet.errors import UsageError
from trivet.verdicts import ReplayResult
from worker.evaluate import Evaluator, scheduled_slot
from worker.redacting import redact_group, redact_member
from worker.replaying import Replay, Replayer
from worker.stores import read_only
from worker.tables import measure

MONITORS = """\
monitors:
  - id: usual
    object: reading
    group_by: [site]
    schedule: {every: 1d}
    breach_when: count() < baseline.usual - baseline.spread or max(value) > baseline.most
    baselines:
      usual: {of: count(), statistic: mean, last: 5, min_history: 1}
      spread: {of: count(), statistic: deviation, last: 5, min_history: 2}
      most: {of: max(value), statistic: median, last: 5, min_history: 1}
"""
CONTRACT = a_contract()
(MONITOR,) = some_monitors(CONTRACT, MONITORS)
CLOCK = FixedClock(NOW)


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    return a_warehouse(tmp_path, "UPDATE raw.reading SET value = '4' WHERE id = 'R3'")


def evaluate(store: sa.Engine, warehouse: Path, days: Sequence[int]) -> list[Evaluation]:
    """One slot for each day, in this order, on what the warehouse holds now."""
    evaluator = Evaluator(CONTRACT, DuckDBEngine(warehouse), CLOCK)
    found = []
    for day in days:
        (made,) = evaluator.evaluate([scheduled_slot(MONITOR, NOW + timedelta(days=day))], store)
        found.append(made.evaluation)
    return found


def change(warehouse: Path, statement: str) -> None:
    with duckdb.connect(str(warehouse)) as connection:
        connection.execute(statement)


def replay(store: sa.Engine, warehouse: Path, made: Evaluation) -> Replay:
    return Replayer(store, warehouse, FixedClock(datetime(2027, 1, 1, tzinfo=UTC))).replay(made.evaluation_id)


def test_an_evaluation_is_reproduced_by_the_evaluations_that_its_entry_names(
    any_store: sa.Engine, warehouse: Path
) -> None:
    evaluate(any_store, warehouse, [0, 1])
    change(warehouse, "INSERT INTO raw.reading VALUES ('R7', 'south', '9', 'r.csv', 7)")
    change(warehouse, "DELETE FROM raw.reading WHERE id = 'R5'")
    (made,) = evaluate(any_store, warehouse, [5])
    assert isinstance(made.outcome, Counts)
    assert (made.outcome.breach, made.outcome.no_data) == (2, 0)
    # An earlier slot that is recorded later is no part of what was looked back on.
    evaluate(any_store, warehouse, [3])
    found = replay(any_store, warehouse, made)
    assert found.rejudge is not None
    assert found.rerun is not None
    assert (found.rejudge.result, found.rerun.result) == (ReplayResult.REPRODUCED,) * 2, (found.rejudge, found.rerun)


def test_an_evaluation_without_a_history_is_reproduced_too(any_store: sa.Engine, warehouse: Path) -> None:
    (made,) = evaluate(any_store, warehouse, [0])
    assert made.badge == "0 breaches / 3 no-data"
    assert replay(any_store, warehouse, made).result is ReplayResult.REPRODUCED


@pytest.mark.parametrize("statement", ["value = '7'", "reason = 'insufficient'", 'member_key = \'{"site":"east"}\''])
def test_a_recorded_measure_that_the_data_does_not_give_diverges(
    any_store: sa.Engine, warehouse: Path, statement: str
) -> None:
    (made,) = evaluate(any_store, warehouse, [0])
    with any_store.begin() as connection:
        lift_guards(connection)
        changed = f"UPDATE measure SET {statement} WHERE ordinal = 1 AND measure = 'count()'"
        assert connection.exec_driver_sql(changed).rowcount == 1
    rerun = replay(any_store, warehouse, made).rerun
    assert rerun is not None
    assert (rerun.result, rerun.told) == (ReplayResult.DIVERGED, ("measure count() of group 1 differs",))


def keys(store: sa.Engine, made: Evaluation) -> list[tuple[str, str, bool]]:
    """Measure, group and whether it was erased, of one evaluation."""
    found = [row for row in rows(store, measure) if row["evaluation_id"] == made.evaluation_id]
    return sorted((row["measure"], row["member_key"], row["erased"] is not None) for row in found)


NORTH, SOUTH, WEST = ('{"site":"north"}', '{"site":"south"}', '{"site":"west"}')


def assert_sound(store: sa.Engine, redactions: int, folder: Path) -> None:
    """By the program, on the store and on its export, and by the auditor's script."""
    with read_only(store).connect() as connection:
        report = verify_store(connection)
        export_ledger(connection, folder, "2026-11-30T06:00:00.000000Z")
    assert (report.damage, report.redactions) == ((), redactions)
    assert verify(ExportSource(folder)).damage == ()
    assert list(auditor().Ledger(folder, {}, []).findings()) == []


def test_with_a_member_the_keys_of_its_measures_are_erased(
    any_store: sa.Engine, warehouse: Path, tmp_path: Path
) -> None:
    first, second = evaluate(any_store, warehouse, [0, 1])
    assert [dict(item.key) for item in first.undecided] == [{"site": "north"}, {"site": "south"}, {"site": "west"}]
    redact_member(any_store, first.evaluation_id, 2, "data officer", "asked for", NOW)
    erased = [("count()", NORTH, False), ("count()", WEST, False), ("count()", "{}", True)]
    erased += [("max(value)", NORTH, False), ("max(value)", WEST, False), ("max(value)", "{}", True)]
    assert keys(any_store, first) == erased
    assert [key for _, key, _ in keys(any_store, second)] == [NORTH, SOUTH, WEST] * 2
    with read_only(any_store).connect() as connection:
        told = [item.content()["table"] for item in entries(connection, entry_type=EntryType.REDACTION)]
    assert told == ["member", "measure", "measure"]
    (tmp_path / "export").mkdir()
    assert_sound(any_store, 3, tmp_path / "export")
    # What is erased is no history any more, and everybody else has theirs.
    (third,) = evaluate(any_store, warehouse, [2])
    shown = {item.key["site"]: item.operands["baseline.spread"] for item in (*third.breached, *third.undecided)}
    assert shown == {"south": None}


def test_the_key_of_a_compliant_group_is_erased_by_its_place(
    any_store: sa.Engine, warehouse: Path, tmp_path: Path
) -> None:
    *_, made = evaluate(any_store, warehouse, [0, 1, 2])
    assert made.badge == "0 breaches / 0 no-data"
    redact_group(any_store, made.evaluation_id, 1, "data officer", "asked for", NOW)
    assert [key for _, key, _ in keys(any_store, made)] == [SOUTH, WEST, "{}"] * 2
    with pytest.raises(UsageError, match="has no measure 1, or it was erased before"):
        redact_group(any_store, made.evaluation_id, 1, "data officer", "asked for", NOW)
    (tmp_path / "export").mkdir()
    assert_sound(any_store, 2, tmp_path / "export")
    assert replay(any_store, warehouse, made).rerun is not None
