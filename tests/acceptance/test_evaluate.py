"""`trivet evaluate`: its documents, its exit codes, and what it writes."""

from __future__ import annotations

import re
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.command import finish, start, trivet
from tests.acceptance.files import append_to, files_of, last_entry, replace_in, rows_of

HASH = re.compile(r"[0-9a-f]{64}")
UTC_TEXT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
AGREEMENT = "Aruma Enterprise Agreement 2023 (consolidated 2026).pdf"

PROMISED = {
    "evaluation_id",
    "monitor",
    "definition_hash",
    "contract",
    "slot",
    "started_at",
    "finished_at",
    "verdict",
    "status",
    "reason",
    "cause",
    "population",
    "breach",
    "no_data",
    "compliant",
    "partial",
    "duplicate_keys",
    "unexpected",
    "no_data_reasons",
    "badge",
    "samples",
    "samples_truncated",
    "engine",
    "snapshot",
    "ledger_seq",
}
"""The keys that programs rely on."""
ADDED = {"trigger", "message", "recorded_truncated"}

DECIDED = """\
monitors:
  - {id: nobody-over-100, object: employee_pay, breach_when: ordinary_hours > 100, where: ordinary_hours is present}
"""
UNDECIDED = "monitors:\n  - {id: hours-over-100, object: employee_pay, breach_when: ordinary_hours > 100}\n"


@pytest.fixture(scope="module")
def document(demo: Path) -> dict[str, Any]:
    """The document of a breached monitor, evaluated without a trace."""
    ended = trivet("evaluate", "pay-below-floor", "--json", "--dry-run", at=demo)
    assert (ended.code, ended.err) == (1, "")
    return ended.document


def test_an_evaluation_has_exactly_the_documented_keys(document: dict[str, Any]) -> None:
    assert document.keys() == PROMISED | ADDED


def test_an_evaluation_says_what_it_found(document: dict[str, Any]) -> None:
    said = {key: document[key] for key in ("monitor", "verdict", "status", "reason", "cause", "message", "badge")}
    assert said == {
        "monitor": "pay-below-floor",
        "verdict": "breach",
        "status": "completed",
        "reason": None,
        "cause": None,
        "message": None,
        "badge": "4 breaches / 1 no-data",
    }
    counts = {key: document[key] for key in ("population", "breach", "no_data", "compliant", "partial")}
    assert counts == {"population": 57, "breach": 4, "no_data": 1, "compliant": 52, "partial": 0}
    assert (document["duplicate_keys"], document["unexpected"]) == (0, 0)
    assert document["no_data_reasons"] == {"right_missing": 1}
    assert document["samples_truncated"] == {"breach": False, "no_data": False}
    assert document["recorded_truncated"] is False


def test_an_evaluation_names_everything_that_it_speaks_of(document: dict[str, Any]) -> None:
    assert HASH.fullmatch(document["evaluation_id"])
    assert HASH.fullmatch(document["definition_hash"])
    assert document["contract"].keys() == {"id", "version", "hash"}
    assert (document["contract"]["id"], document["contract"]["version"]) == ("aruma", "1.0.0")
    assert HASH.fullmatch(document["contract"]["hash"])
    assert (document["engine"], document["trigger"]) == ("duckdb", "manual")
    assert re.fullmatch(r"\d{8}T\d{12}Z-[0-9a-f]{4}", document["snapshot"])
    assert UTC_TEXT.fullmatch(document["started_at"])
    assert UTC_TEXT.fullmatch(document["finished_at"])
    assert document["started_at"] <= document["finished_at"]


def test_a_breached_member_is_shown_with_its_floor_and_where_both_are_printed(document: dict[str, Any]) -> None:
    breached = document["samples"]["breach"]
    assert [member["key"] for member in breached] == [
        {"employee_id": name} for name in ("E1012", "E1024", "E1037", "E1049")
    ]
    assert breached[0] == {
        "key": {"employee_id": "E1012"},
        "operands": {"hourly_rate": "27.10", "governed_by.min_hourly_rate": "28.04"},
        "provenance": [
            {"of": "employee_pay", "document": "sources/payroll.csv", "table": "payroll", "page": None, "row": 13},
            {"of": "governed_by", "document": AGREEMENT, "table": "Table B.13", "page": 64, "row": 2},
        ],
        "partial": False,
    }


def test_an_undecided_member_is_shown_with_its_reason(document: dict[str, Any]) -> None:
    assert document["samples"]["no_data"] == [
        {
            "key": {"employee_id": "E1057"},
            "reason": "right_missing",
            "causes": {},
            "operands": {"hourly_rate": "64.80", "governed_by.min_hourly_rate": None},
            "provenance": [
                {"of": "employee_pay", "document": "sources/payroll.csv", "table": "payroll", "page": None, "row": 58}
            ],
        }
    ]


def test_counts_are_integers_and_values_from_data_are_text(document: dict[str, Any]) -> None:
    for name in ("population", "breach", "no_data", "compliant", "partial", "duplicate_keys", "unexpected"):
        assert type(document[name]) is int
    values = [value for member in document["samples"]["breach"] for value in member["operands"].values()]
    assert {type(value) for value in values} == {str}


def test_an_undecided_operand_tells_its_cause_and_what_the_data_said(demo: Path) -> None:
    ended = trivet("evaluate", "entitlements-short", "--json", "--dry-run", at=demo)
    assert ended.code == 1
    undecided = {member["key"]["employee_id"]: member for member in ended.document["samples"]["no_data"]}
    assert {key: (member["reason"], member["causes"]) for key, member in undecided.items()} == {
        "E1021": ("left_null", {"casual_loading": ["null"]}),
        "E1033": ("left_null", {"super_rate": ["null"]}),
        "E1046": ("left_null", {"super_rate": ["not_castable"]}),
    }
    assert undecided["E1021"]["operands"]["casual_loading"] == "n/a"
    assert undecided["E1046"]["operands"]["super_rate"] == "see note 2"


def test_without_ids_every_enabled_monitor_is_evaluated_one_document_to_a_line(workspace: Path) -> None:
    replace_in(workspace / "monitors" / "pay.yaml", "    breach_when: ordinary_hours > 38\n", NOT_ENABLED)
    last = last_entry(workspace)
    ended = trivet("evaluate", "--json", at=workspace)
    assert (ended.code, ended.err) == (1, "")
    found = [(item["monitor"], item["badge"], item["ledger_seq"]) for item in ended.documents]
    assert found == [
        ("entitlements-short", "3 breaches / 3 no-data", last + 1),
        ("pay-below-floor", "4 breaches / 1 no-data", last + 2),
    ]


NOT_ENABLED = "    breach_when: ordinary_hours > 38\n    enabled: false\n"


def test_a_monitor_that_is_not_enabled_is_evaluated_where_it_is_named(workspace: Path) -> None:
    replace_in(workspace / "monitors" / "pay.yaml", "    breach_when: ordinary_hours > 38\n", NOT_ENABLED)
    ended = trivet("evaluate", "hours-over-limit", "--json", at=workspace)
    assert (ended.code, ended.document["badge"]) == (1, "2 breaches / 1 no-data")


def test_an_id_that_is_named_twice_is_evaluated_once(demo: Path) -> None:
    ended = trivet("evaluate", "hours-over-limit", "hours-over-limit", "--json", "--dry-run", at=demo)
    assert ended.document["monitor"] == "hours-over-limit"


@pytest.mark.parametrize(
    ("at", "slot"),
    [
        ("2026-11-30T06:00+11:00", "2026-11-30T06:00:00+11:00"),
        ("2026-11-29T19:00:00Z", "2026-11-30T06:00:00+11:00"),
        # Without an offset the contract's time zone is meant, here Australia/Sydney.
        ("2026-07-01T06:00", "2026-07-01T06:00:00+10:00"),
        ("2026-07-01", "2026-07-01T00:00:00+10:00"),
    ],
)
def test_an_evaluation_can_be_made_for_another_slot(small_hours: Path, at: str, slot: str) -> None:
    before = datetime.now(UTC)
    document = trivet("evaluate", "nobody-over-100", "--at", at, "--json", "--dry-run", at=small_hours).document
    assert document["slot"] == slot
    assert datetime.fromisoformat(document["started_at"]) >= before


@pytest.fixture(scope="module")
def small_hours(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's data under monitors of the tests' own."""
    workspace = tmp_path_factory.mktemp("hours") / "demo"
    shutil.copytree(demo, workspace)
    (workspace / "monitors" / "pay.yaml").write_text(DECIDED)
    (workspace / "monitors" / "hours.yaml").write_text(UNDECIDED)
    return workspace


def test_the_exit_code_is_0_where_everyone_is_compliant(small_hours: Path) -> None:
    ended = trivet("evaluate", "nobody-over-100", "--json", "--dry-run", at=small_hours)
    assert ended.code == 0
    document = ended.document
    assert (document["verdict"], document["badge"]) == ("compliant", "0 breaches / 0 no-data")
    assert (document["population"], document["compliant"]) == (56, 56)
    assert document["samples"] == {"breach": [], "no_data": []}


def test_the_exit_code_is_2_where_no_one_is_in_breach_and_someone_is_undecided(small_hours: Path) -> None:
    ended = trivet("evaluate", "--json", "--dry-run", at=small_hours)
    assert ended.code == 2
    assert [(item["monitor"], item["verdict"]) for item in ended.documents] == [
        ("hours-over-100", "no_data"),
        ("nobody-over-100", "compliant"),
    ]
    assert ended.documents[0]["badge"] == "0 breaches / 1 no-data"


def test_an_evaluation_is_written_down_whole(workspace: Path) -> None:
    before, last = rows_of(workspace), last_entry(workspace)
    document = trivet("evaluate", "pay-below-floor", "--json", at=workspace).document
    after = rows_of(workspace)
    added = {name: len(after[name]) - len(before[name]) for name in after if after[name] != before[name]}
    # The alert fires as before: its row says which slot was the latest, and nobody is told anything.
    assert added == {"evaluation": 1, "audit": 3, "member": 5, "ledger_entry": 1, "ledger_head": 0, "alert": 0}
    assert document["ledger_seq"] == last + 1
    audit = {row[1]: row[2] for row in after["audit"] if row[0] == document["evaluation_id"]}
    assert audit == {"breach": 4, "no_data": 1, "compliant": 52}


def test_a_dry_run_writes_nothing(workspace: Path) -> None:
    before = files_of(workspace)
    ended = trivet("evaluate", "hours-over-limit", "--json", "--dry-run", at=workspace)
    assert (ended.code, ended.document["ledger_seq"]) == (1, None)
    assert files_of(workspace) == before


def test_a_dry_run_makes_no_store(small: Path) -> None:
    ended = trivet("evaluate", "--json", "--dry-run", at=small)
    assert (ended.code, ended.document["badge"]) == (1, "1 breach / 1 no-data")
    assert not list(small.glob("trivet.db*"))
    assert trivet("evaluate", "--json", at=small).document["ledger_seq"] == 3
    assert (small / "trivet.db").is_file()


def test_samples_are_capped_and_counts_are_not(small: Path) -> None:
    replace_in(small / "monitors" / "example.yaml", "breach_when: temperature > 5", "breach_when: temperature > 1")
    append_to(small / "monitors" / "example.yaml", "    samples: 2\n")
    document = trivet("evaluate", "--json", at=small).document
    assert (document["breach"], len(document["samples"]["breach"])) == (3, 2)
    assert document["samples_truncated"] == {"breach": True, "no_data": False}
    assert len(rows_of(small)["member"]) == 4


def test_an_evaluation_that_could_not_be_made_has_no_counts_and_is_recorded(small: Path) -> None:
    for file in small.glob("warehouse*"):
        file.unlink()
    ended = trivet("evaluate", "--json", at=small)
    assert ended.code == 2
    document = ended.document
    assert document.keys() == PROMISED | ADDED
    assert (document["verdict"], document["status"], document["reason"]) == ("no_data", "not_made", "view_missing")
    assert document["message"] == "warehouse.duckdb is not there; `trivet ingest` builds it"
    counts = ("population", "breach", "no_data", "compliant", "partial", "duplicate_keys", "unexpected")
    assert [document[name] for name in (*counts, "badge", "snapshot")] == [None] * 9
    rows = rows_of(small)
    assert rows["audit"] == [(document["evaluation_id"], "no_data", None, '{"view_missing":null}')]
    assert (len(rows["evaluation"]), rows["member"], document["ledger_seq"]) == (1, [], 3)


def test_a_person_is_told_why_an_evaluation_could_not_be_made_and_where_it_is_recorded(small: Path) -> None:
    (small / "warehouse.duckdb").unlink()
    ended = trivet("evaluate", at=small)
    assert ended.code == 2
    lines = [line.strip() for line in ended.out.splitlines() if line.strip()]
    assert lines == [
        "Cold store warmer than 5 degrees  reading-too-warm",
        "no_data  not evaluated: view_missing",
        "warehouse.duckdb is not there; `trivet ingest` builds it",
        "ledger entry 3",
    ]


def test_the_workspace_may_be_named_by_the_environment_or_be_the_current_directory(
    demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(demo)
    here = trivet("evaluate", "hours-over-limit", "--dry-run", "--json").document
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRIVET_WORKSPACE", str(demo))
    named = trivet("evaluate", "hours-over-limit", "--dry-run", "--json").document
    assert named["samples"] == here["samples"] != {"breach": [], "no_data": []}


def test_options_may_stand_before_the_command_and_behind_it(demo: Path) -> None:
    before = trivet("--json", "-C", demo, "monitors", "list")
    behind = trivet("monitors", "list", "-C", demo, "--json")
    assert before == behind
    assert [item["id"] for item in behind.document["monitors"]] == [
        "pay-below-floor",
        "hours-over-limit",
        "entitlements-short",
    ]


def test_evaluating_works_as_a_command_of_its_own(small: Path) -> None:
    ended = finish(start("evaluate", "--json", at=small))
    assert (ended.code, ended.err) == (1, "")
    assert ended.document["samples"]["breach"][0]["key"] == {"reading_id": "R2"}


def test_two_evaluations_at_once_make_one_store_and_are_both_recorded(small: Path) -> None:
    started = [start("evaluate", "--json", at=small) for _ in range(2)]
    ended = [finish(process) for process in started]
    assert [(end.code, end.err) for end in ended] == [(1, "")] * 2
    entries = rows_of(small)["ledger_entry"]
    # One of them is the first to find the breach, and moves the alert.
    texts = ["contract_published", "definition_published"]
    assert [row[1] for row in entries] == [*texts, "evaluation", "member_changes", "alert_change", "evaluation"]
    assert sorted(end.document["ledger_seq"] for end in ended) == [row[0] for row in entries if row[1] == "evaluation"]
    assert trivet("ledger", "verify", at=small).code == 0
