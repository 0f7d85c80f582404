"""A ledger that was recorded once verifies and is judged again for ever after, whatever changes in between.

`tests/cases/ledger/v1` is the export of a workspace: three monitors of the bundled example, two questions, a restored
backup, an erased member and question, replays, an evaluation that could not be made, and three checkpoints. Its
private key was thrown away. It is never made anew: a change that it does not survive breaks the ledgers of others too.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from ledger.entries import EntryType
from ledger.reading import entries
from ledger.tables import ledger_entry, ledger_head
from ledger.verification.files import ExportSource
from ledger.verification.findings import Report
from ledger.verification.notes import read_key, read_witness
from ledger.verification.verify import verify, verify_store
from tests.integration.store import migrated_store
from tests.integration.tampering import auditor
from trivet.clock import FixedClock
from trivet.verdicts import ReplayResult
from worker.replaying import Replayer
from worker.store_tables import store_tables
from worker.stores import read_only

SAMPLE = Path(__file__).parents[1] / "cases" / "ledger" / "v1"
KEY = read_key((SAMPLE / "public.key").read_text("utf-8"))
WITNESS = read_witness((SAMPLE / "checkpoints.txt").read_text("utf-8"), "checkpoints.txt")
KINDS = {
    EntryType.CONTRACT_PUBLISHED: 1,
    EntryType.DEFINITION_PUBLISHED: 3,
    EntryType.EVALUATION: 5,
    EntryType.ALERT_CHANGE: 4,
    EntryType.DELIVERY: 1,
    EntryType.OUTCOME: 2,
    EntryType.CHECKPOINT: 3,
    EntryType.RECOVERY: 1,
    EntryType.REDACTION: 2,
    EntryType.REPLAY: 4,
}


def lines(name: str) -> Iterator[dict[str, Any]]:
    with (SAMPLE / name).open(encoding="ascii") as found:
        yield from map(json.loads, found)


@pytest.fixture
def store(tmp_path: Path) -> sa.Engine:
    """The sample in a store of today's schema."""
    engine = migrated_store(tmp_path)
    tables = {table.name: table for table in store_tables()}
    hashes = ("leaf_hash", "prev_hash", "entry_hash")
    with engine.begin() as connection:
        for item in lines("entries.jsonl"):
            connection.execute(sa.insert(ledger_entry).values(item | {n: bytes.fromhex(item[n]) for n in hashes}))
        for item in sorted(lines("rows.jsonl"), key=lambda row: row["table"] in ("audit", "member")):
            connection.execute(sa.insert(tables[item["table"]]).values(item["row"]))
        (head,) = lines("head.json")
        connection.execute(sa.update(ledger_head).values(head | {"entry_hash": bytes.fromhex(head["entry_hash"])}))
    return engine


def assert_is_the_sample(report: Report) -> None:
    assert report.damage == ()
    assert (report.entries, report.rows, report.redactions) == (26, 39, 2)
    assert (report.coverage.checkpoints, report.coverage.size, report.coverage.witnessed) == (3, 25, 25)
    assert [(item.seq, item.lost) for item in report.recoveries] == [(16, (16, 16))]


def test_the_sample_verifies_as_files() -> None:
    assert_is_the_sample(verify(ExportSource(SAMPLE), [KEY], [WITNESS]))


def test_the_sample_verifies_by_the_auditors_script() -> None:
    ledger = auditor().Ledger(SAMPLE, {(KEY.name, KEY.key_id): KEY.data}, [str(SAMPLE / "checkpoints.txt")])
    assert list(ledger.findings()) == []
    assert (ledger.last, max(ledger.agreed)) == (26, 25)


def test_the_auditors_script_can_be_read_in_one_sitting() -> None:
    assert len((Path(__file__).parents[2] / "docs" / "auditor" / "verify.py").read_text("utf-8").splitlines()) <= 200


def test_the_sample_verifies_in_a_store(store: sa.Engine) -> None:
    with read_only(store).connect() as connection:
        assert_is_the_sample(verify_store(connection, [KEY], [WITNESS]))
        assert Counter(item.entry_type for item in entries(connection)) == KINDS


def test_every_recorded_member_of_the_sample_is_judged_as_it_was(store: sa.Engine, tmp_path: Path) -> None:
    replayer = Replayer(store, tmp_path / "warehouse.duckdb", FixedClock(datetime(2027, 1, 1, tzinfo=UTC)))
    with read_only(store).connect() as connection:
        evaluations = list(entries(connection, entry_type=EntryType.EVALUATION))
    found = []
    for item in evaluations:
        made = replayer.replay(item.subject_id, rerunning=False).rejudge
        assert made is not None
        found.append((made.result, dict(made.members)))
    whole, gone = ReplayResult.REPRODUCED, ReplayResult.INPUTS_GONE
    assert found == [
        (whole, {"reproduced": 6, "inputs_gone": 0, "diverged": 0}),
        (whole, {"reproduced": 3, "inputs_gone": 0, "diverged": 0}),
        (gone, {"reproduced": 4, "inputs_gone": 1, "diverged": 0}),
        (whole, {"reproduced": 5, "inputs_gone": 0, "diverged": 0}),
        (gone, {}),
    ]
