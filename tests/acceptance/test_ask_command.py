"""`trivet ask`: its document, its exit codes, what a person sees, and the trace that every question leaves."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.command import trivet
from tests.acceptance.files import append_to, rows_of

PROMISED = {
    "request_id", "question", "state", "answer", "assumptions", "reason_code", "clause", "refusal", "nearest",
    "no_data", "table", "sql", "views", "provenance", "claims", "agreement", "contract", "model", "ledger_seq",
    "timings_ms",
}  # fmt: skip
"""The keys that programs rely on."""
ADDED = {"verdict", "monitor"}
FLOOR = "How many employees are paid below the floor?"
CHURN = "What is our employee churn rate?"


def outcomes(workspace: Path) -> list[Any]:
    """The outcomes that the store holds, oldest first."""
    return rows_of(workspace)["outcome"]


def last_entry(workspace: Path) -> dict[str, Any]:
    return trivet("ledger", "show", "--last", "1", "--json", at=workspace).document


def test_an_answer_is_a_document_and_exits_with_0(workspace: Path) -> None:
    ended = trivet("ask", FLOOR, "--as", "ana", "--json", at=workspace)
    assert (ended.code, ended.err) == (0, "")
    document = ended.document
    assert document.keys() == PROMISED | ADDED
    assert (document["state"], document["reason_code"]) == ("ANSWER", None)
    assert document["no_data"]["badge"] == "4 breaches / 1 no-data"
    assert document["no_data"]["missing_members"] == ["E1057"]
    entry = last_entry(workspace)
    assert (entry["seq"], entry["payload"]["request_id"]) == (document["ledger_seq"], document["request_id"])


def test_a_refusal_is_a_document_of_the_same_keys_and_exits_with_3(workspace: Path) -> None:
    ended = trivet("ask", CHURN, "--json", at=workspace)
    assert (ended.code, ended.err) == (3, "")
    document = ended.document
    assert document.keys() == PROMISED | ADDED
    assert (document["state"], document["reason_code"], document["answer"]) == ("ABSTAIN", "SCHEMA_MISMATCH", None)
    assert len(document["nearest"]) == 3


def test_a_person_sees_the_answer_and_what_could_not_be_decided(workspace: Path) -> None:
    out = trivet("ask", FLOOR, at=workspace).out
    assert "4 of 57 employees are in breach" in out
    assert "4 breaches / 1 no-data" in out
    assert "E1057 (right_missing)" in out
    assert "page 64" in out
    assert f"ledger entry {last_entry(workspace)['seq']}" in out


def test_a_person_sees_an_assumption(workspace: Path) -> None:
    out = trivet("ask", "How many employees in 2026?", at=workspace).out
    assert "assumed: 2026 is read as calendar year 2026" in out


def test_a_person_sees_why_a_question_is_refused_and_what_can_be_asked(workspace: Path) -> None:
    out = trivet("ask", CHURN, at=workspace).out
    assert "not answered: SCHEMA_MISMATCH" in out
    assert "'churn', 'rate'" in out
    assert "How many employees are there?" in out


def test_every_question_leaves_a_row_and_a_ledger_entry(workspace: Path) -> None:
    for question in (FLOOR, CHURN, "Delete all employees", "café\x00\ud800 \u202e?"):
        trivet("ask", question, "--as", "ana", at=workspace)
    with closing(sqlite3.connect(workspace / "trivet.db")) as store:
        rows = store.execute(
            "SELECT state, verdict, reason_code, asker FROM outcome WHERE asker = 'ana' ORDER BY asked_at"
        ).fetchall()
    assert rows == [
        ("ANSWER", "compliant", None, "ana"),
        ("ABSTAIN", "no_data", "SCHEMA_MISMATCH", "ana"),
        ("ABSTAIN", "breach", "UNSAFE_REQUEST", "ana"),
        ("ABSTAIN", "no_data", "OUT_OF_SCOPE", "ana"),
    ]
    shown = trivet("ledger", "show", "--type", "outcome", "--json", at=workspace).documents
    asked = {row[0]: row[4] for row in outcomes(workspace)}
    assert [asked[entry["payload"]["request_id"]] for entry in shown][-4:-2] == [FLOOR, CHURN]
    assert not any(text in json.dumps(entry) for entry in shown for text in (FLOOR, CHURN, "ana"))
    verified = trivet("ledger", "verify", "--json", at=workspace)
    assert (verified.code, verified.document["ok"]) == (0, True)


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ("UPDATE outcome SET answer = 'all is well'", "rows"),
        ("UPDATE outcome SET asker = 'someone else'", "rows"),
        ("DELETE FROM outcome", "rows"),
        ("INSERT INTO outcome SELECT asked_at, * FROM (SELECT asked_at, finished_at, asker, question, state, verdict, "
         "reason_code, clause, answer, refusal, draft, contract_id, contract_version, contract_hash, document, "
         "candidates, snapshot, salt, erased FROM outcome)", "orphan_rows"),
    ],
)  # fmt: skip
def test_an_outcome_that_was_tampered_with_is_found(workspace: Path, change: str, kind: str) -> None:
    trivet("ask", FLOOR, at=workspace)
    with closing(sqlite3.connect(workspace / "trivet.db")) as store, store:
        for (name,) in store.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
            store.execute(f"DROP TRIGGER {name}")
        store.execute(change)
    ended = trivet("ledger", "verify", "--json", at=workspace)
    assert ended.code == 4
    assert kind in {item["kind"] for item in ended.document["damage"]}


def test_a_recording_takes_the_place_of_a_model_and_keeps_what_it_said(workspace: Path, tmp_path: Path) -> None:
    plan = {"object": "employee_pay", "measure": "count", "property": None, "by": None, "filters": []}
    replies: list[dict[str, Any]] = [{"content": json.dumps(plan), "finish_reason": "stop"}] * 2
    replies.append({"content": '{"sql": "SELECT COUNT(*) FROM raw.payroll"}', "finish_reason": "stop"})
    recording = tmp_path / "recording.jsonl"
    recording.write_text(json.dumps({"question": "How many employees?", "model": "tiny", "replies": replies}), "utf-8")
    ended = trivet("ask", "How many employees?", "--replay", recording, "--json", at=workspace)
    assert ended.code == 0
    assert ended.document["table"]["rows"] == [[57]]
    assert ended.document["agreement"] == {"requested": 3, "usable": 2, "winning": 2}
    candidates = json.loads(outcomes(workspace)[-1][-4])
    assert [item["fate"] for item in candidates] == ["ran", "ran", "abstain"]
    assert candidates[2]["why"].startswith("relation_allow_list")


def test_a_model_that_is_not_there_is_said_and_recorded(workspace: Path) -> None:
    append_to(workspace / "trivet.yaml", "model: {provider: openai, base_url: 'http://127.0.0.1:9/v1', name: tiny}\n")
    before = len(outcomes(workspace))
    ended = trivet("ask", "How many employees are there?", "--json", at=workspace)
    assert (ended.code, ended.document["reason_code"]) == (3, "MODEL_UNAVAILABLE")
    assert len(outcomes(workspace)) == before + 1


def test_mistakes_are_told_before_anything_is_asked(workspace: Path, tmp_path: Path) -> None:
    before = outcomes(workspace)
    assert trivet("ask", at=workspace).code == 64
    assert trivet("ask", " ", at=workspace).code == 64
    assert trivet("ask", "Who?", "--replay", tmp_path / "none.jsonl", at=workspace).code == 64
    bad = tmp_path / "bad.jsonl"
    bad.write_text("{", "utf-8")
    ended = trivet("ask", "Who?", "--replay", bad, at=workspace)
    assert ended.code == 65
    assert "bad.jsonl:1:1" in ended.err
    assert outcomes(workspace) == before


def test_the_small_example_can_be_asked_too(small: Path) -> None:
    assert trivet("ask", "How many readings are there?", "--json", at=small).document["table"]["rows"] == [[4]]
    ended = trivet("ask", "What is the highest temperature?", "--json", at=small)
    assert ended.document["state"] == "ANSWER"
    assert ended.document["no_data"]["badge"] == "0 breaches / 1 no-data"
