"""An evaluation is written down whole or not at all, whenever the process ends and whoever else is writing."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from ledger.append import Draft, append_all
from ledger.entries import LedgerEntry
from ledger.tables import ledger_entry, ledger_head
from tests.integration.store import migrated_store
from tests.integration.worlds import BADGES, a_warehouse, assert_verifies, evaluate, rows
from trivet.errors import InternalError
from worker.stores import open_store
from worker.tables import audit, evaluation, member

ROOT = Path(__file__).parents[2]
TABLES = (evaluation, audit, member, ledger_entry, ledger_head)

# Evaluates the batch again and again, told how often; then prints that it is done. `crash` may be
# a line that plants the end of the process somewhere.
DRIVER = """\
import os, signal, sys
from pathlib import Path
import worker.evaluate, worker.recording
from tests.integration.worlds import evaluate
from worker.stores import open_store

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

def dying(module, name, call, after=False):
    calls, real = [], getattr(module, name)
    def wrapped(*arguments, **named):
        calls.append(name)
        if len(calls) == call and not after:
            die()
        result = real(*arguments, **named)
        if len(calls) == call:
            die()
        return result
    setattr(module, name, wrapped)

folder, times, crash = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
exec(crash)
print("ready", flush=True)
sys.stdin.readline()
store = open_store(f"sqlite:///{folder / 'trivet.db'}")
for _ in range(times):
    evaluate(folder / "warehouse.duckdb", store)
print("done", flush=True)
"""

CRASHES = {
    "between the members and the ledger of the first evaluation": "dying(worker.recording, 'append_all', 1)",
    "between two evaluations of one batch": "dying(worker.evaluate, 'record_all', 2)",
    "between the members and the ledger of the last evaluation": "dying(worker.recording, 'append_all', 3)",
    "after the last evaluation and before the commit": "dying(worker.evaluate, 'record_all', 3, after=True)",
}


def drive(folder: Path, times: int = 1, crash: str = "") -> subprocess.Popen[str]:
    """A process that is ready to evaluate and waits to be let go."""
    return subprocess.Popen(
        [sys.executable, "-c", DRIVER, str(folder), str(times), crash],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def let_go(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    assert process.stdin is not None
    assert process.stdout.readline() == "ready\n"
    process.stdin.write("\n")
    process.stdin.flush()


def contents(store: sa.Engine) -> dict[str, list[dict[str, Any]]]:
    return {table.name: [dict(row) for row in rows(store, table)] for table in TABLES}


def test_a_process_that_is_killed_leaves_nothing_half_written(tmp_path: Path) -> None:
    folders = {name: tmp_path / str(number) for number, name in enumerate(CRASHES)}
    processes = {}
    for name, folder in folders.items():
        folder.mkdir()
        store = migrated_store(folder)
        evaluate(a_warehouse(folder), store)
        processes[name] = drive(folder, crash=CRASHES[name])
    for name, process in processes.items():
        store = open_store(f"sqlite:///{folders[name] / 'trivet.db'}")
        before = contents(store)
        let_go(process)
        out, err = process.communicate(timeout=120)
        assert (process.returncode, out, err) == (-signal.SIGKILL, "", ""), name
        assert contents(store) == before, name
        assert_verifies(store, 3)
        found = evaluate(folders[name] / "warehouse.duckdb", store)
        assert {monitor: made.badge for monitor, made in found.items()} == BADGES
        assert_verifies(store, 6)


def test_two_processes_that_evaluate_at_once_are_both_recorded(tmp_path: Path) -> None:
    store = migrated_store(tmp_path)
    a_warehouse(tmp_path)
    times = 5
    processes = [drive(tmp_path, times) for _ in range(2)]
    for process in processes:
        let_go(process)
    for process in processes:
        out, err = process.communicate(timeout=120)
        assert (process.returncode, out, err) == (0, "done\n", "")
    batches = 2 * times
    assert len(rows(store, evaluation)) == batches * 3
    assert_verifies(store, batches * 3)
    # The three of a batch stand together: a transaction is never split by another one.
    order = [row["subject_id"] for row in rows(store, ledger_entry) if row["entry_type"] == "evaluation"]
    monitors = {row["evaluation_id"]: row["monitor"] for row in rows(store, evaluation)}
    assert [monitors[subject] for subject in order] == list(BADGES) * batches


@pytest.mark.parametrize("failing", BADGES)
def test_an_evaluation_that_cannot_be_written_is_told_and_takes_no_other_of_its_batch_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    store = migrated_store(tmp_path)
    warehouse = a_warehouse(tmp_path)

    def append_others(connection: sa.Connection, drafts: Sequence[Draft]) -> list[LedgerEntry]:
        if any(draft.payload.get("monitor_id") == failing for draft in drafts):
            raise ValueError("it cannot be written")
        return append_all(connection, drafts)

    monkeypatch.setattr("worker.recording.append_all", append_others)
    with pytest.raises(ValueError, match="it cannot be written"):
        evaluate(warehouse, store)
    assert {row["monitor"] for row in rows(store, evaluation)} == BADGES.keys() - {failing}
    assert_verifies(store, 2)
    monkeypatch.undo()
    evaluate(warehouse, store)
    assert_verifies(store, 5)


def test_a_store_that_refuses_everything_is_left_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = migrated_store(tmp_path)
    warehouse = a_warehouse(tmp_path)
    evaluate(warehouse, store)
    before = contents(store)

    def full(*_arguments: Any) -> list[LedgerEntry]:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("worker.recording.append_all", full)
    with pytest.raises(OSError, match="No space left"):
        evaluate(warehouse, store)
    assert contents(store) == before


def test_a_ledger_whose_head_was_changed_by_hand_takes_no_further_entry(tmp_path: Path) -> None:
    store = migrated_store(tmp_path)
    warehouse = a_warehouse(tmp_path)
    evaluate(warehouse, store)
    with closing(sqlite3.connect(tmp_path / "trivet.db")) as file:
        file.execute("DROP TRIGGER ledger_head_update")
        file.execute(
            "UPDATE ledger_head SET seq = 1, merkle_frontier = json_array(json_extract(merkle_frontier, '$[0]'))"
        )
        file.commit()
    before = contents(store)
    with pytest.raises(InternalError, match="the head row was changed by hand"):
        evaluate(warehouse, store)
    assert contents(store) == before
