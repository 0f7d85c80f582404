"""`trivet referee`: decisions on SQL, on one statement or on a file of them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.acceptance.command import ROOT, trivet

CASES = ROOT / "tests" / "cases" / "referee"
KEYS = {
    "id", "decision", "clause", "reason_code", "message", "span", "suggestion", "certificate", "sql", "columns",
    "contract",
}  # fmt: skip


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A workspace that has a contract, and neither data nor monitors."""
    shutil.copy(CASES / "contract.yaml", tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("sql", "code", "words"),
    [
        (
            "SELECT site FROM ontology.readings",
            0,
            ["ALLOW under shop 1.0.0", "no restricted column", "readings.site AS"],
        ),
        ("SELECT site FROM readings", 3, ["ABSTAIN", "relation_allow_list", "UNSAFE_REQUEST", "ontology.readings"]),
        ("SELECT email FROM ontology.customers", 3, ["ESCALATE", "ontology.customers.email; a data steward decides"]),
        ("", 3, ["ABSTAIN", "exactly one statement is run, 0 were found"]),
        ("SELECT '\x1b[31m' FROM x", 3, ["ABSTAIN", "control character U+001B at offset 8"]),
    ],
)
def test_a_decision_is_told_in_words_and_by_the_exit_code(sql: str, code: int, words: list[str], shop: Path) -> None:
    ended = trivet("referee", sql, at=shop)
    assert (ended.code, ended.err) == (code, "")
    assert [word for word in words if word not in ended.out] == []
    assert "\x1b" not in ended.out


def test_a_decision_is_one_json_document(shop: Path) -> None:
    for sql in ("SELECT site FROM ontology.readings", "SELECT 1", "SELECT email FROM ontology.customers"):
        document = trivet("referee", sql, "--json", at=shop).document
        assert set(document) == KEYS
        assert document["contract"]["id"] == "shop"


def test_a_file_gives_one_decision_for_each_line_in_its_order(shop: Path) -> None:
    proposals = [json.loads(line) for line in (CASES / "attacks.jsonl").read_text("utf-8").splitlines()]
    file = shop / "proposals.jsonl"
    file.write_text("\n".join(json.dumps({"id": item["id"], "sql": item["sql"]}) for item in proposals) + "\n\n")
    ended = trivet("referee", "--jsonl", file, at=shop)
    assert (ended.code, ended.err) == (3, "")
    assert [document["id"] for document in ended.documents] == [item["id"] for item in proposals]
    assert {document["decision"] for document in ended.documents} == {"ALLOW", "ABSTAIN", "ESCALATE"}


def test_a_file_where_all_is_allowed_ends_fine_and_ids_come_back(shop: Path) -> None:
    file = shop / "proposals.jsonl"
    sql = "SELECT site FROM ontology.readings"
    file.write_text(f'{{"id": 7, "sql": "{sql}"}}\n{{"sql": "{sql}", "question": "which?"}}\n')
    ended = trivet("referee", "--jsonl", file, at=shop)
    assert ended.code == 0
    assert [document["id"] for document in ended.documents] == [7, None]


def test_every_line_that_is_no_proposal_is_named_and_nothing_is_decided(shop: Path) -> None:
    file = shop / "proposals.jsonl"
    file.write_bytes(b'{"sql": "SELECT 1"}\nnope\n{"id": "2"}\n{"id": [], "sql": "SELECT 1"}\n\xff\n')
    ended = trivet("referee", "--jsonl", file, at=shop)
    assert (ended.code, ended.out) == (65, "")
    assert [line.split(": ")[0] for line in ended.err.splitlines()[:4]] == [f"{file}:{line}:1" for line in (2, 3, 4, 5)]


def test_a_purpose_can_be_chosen(shop: Path) -> None:
    sql = "SELECT email FROM ontology.customers, ontology.readings"
    assert trivet("referee", sql, "--purpose", "monitor", at=shop).code == 0
    assert trivet("referee", sql, at=shop).code == 3


@pytest.mark.parametrize("arguments", [(), ("SELECT 1", "--jsonl", "x.jsonl"), ("SELECT 1", "--purpose", "report")])
def test_it_takes_one_statement_or_one_file(arguments: tuple[str, ...], shop: Path) -> None:
    ended = trivet("referee", *arguments, at=shop)
    assert (ended.code, ended.out) == (64, "")


def test_a_file_that_is_not_there_is_told(shop: Path) -> None:
    ended = trivet("referee", "--jsonl", shop / "none.jsonl", at=shop)
    assert ended.code in (64, 69)
    assert "none.jsonl" in ended.err
