"""`trivet demo`: a ready workspace that shows what it should, and says so only where it does."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.command import finish, start, trivet
from tests.acceptance.files import files_of, last_entry

FLOORS = {
    "E1012": ("27.10", "28.04", "page 64, row 2"),
    "E1024": ("38.56", "38.96", "page 68, row 4"),
    "E1037": ("40.59", "43.29", "page 68, row 2"),
    "E1049": ("35.67", "35.68", "page 67, row 6"),
}
AGREEMENT = "Aruma Enterprise Agreement 2023 (consolidated 2026).pdf"


@pytest.fixture
def shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """What a person reads of the demo in a new directory `demo`."""
    monkeypatch.chdir(tmp_path)
    ended = trivet("demo", "demo", "--verify")
    assert (ended.code, ended.err) == (0, "")
    return ended.out


def test_the_demo_shows_what_a_person_wants_to_see(shown: str) -> None:
    assert "demo: ingested 164 ontology.award_rate, 57 ontology.employee_pay" in shown
    monitor = shown[shown.index("pay-below-floor") : shown.index("verified")]
    assert "4 breaches / 1 no-data  57 members = 4 breach + 1 no_data + 52 compliant" in monitor
    assert "1 right_missing" in monitor
    for employee, (rate, floor, place) in FLOORS.items():
        line, read_from = _lines_of(employee, monitor)
        assert line.split() == [employee, rate, floor]
        assert read_from.startswith("read from sources/payroll.csv, row ")
        assert read_from.endswith(f"{AGREEMENT}, {place}")
    line, read_from = _lines_of("E1057", monitor)
    assert line.split() == ["E1057", "64.80", "—", "right_missing", "—"]
    assert read_from == "read from sources/payroll.csv, row 58"
    assert "verified: every member agrees with the generator's truth" in shown


def test_what_the_demo_says_to_look_at_next_can_be_run(shown: str) -> None:
    lines = shown[shown.index("Where to look next") :].splitlines()[1:]
    commands = [line.strip().split("   ")[0] for line in lines if line.strip()]
    assert [command.split()[:3] for command in commands] == [["trivet", "-C", "demo"]] * 4
    codes = {command: trivet(*command.split()[1:]).code for command in commands}
    assert codes == {
        "trivet -C demo evaluate pay-below-floor --json": 1,
        "trivet -C demo monitors explain pay-below-floor": 0,
        "trivet -C demo monitors compile pay-below-floor": 0,
        "trivet -C demo ledger verify": 0,
    }


def test_a_directory_whose_name_needs_quotes_is_named_with_them(tmp_path: Path) -> None:
    ended = trivet("init", tmp_path / "our pay")
    assert f"trivet -C '{tmp_path}/our pay' check" in " ".join(ended.out.split())


def _lines_of(employee: str, text: str) -> tuple[str, str]:
    lines = [line.strip() for line in text.splitlines()]
    at = next(number for number, line in enumerate(lines) if line.startswith(employee))
    return lines[at], " ".join(lines[at + 1].split())


def test_the_demo_gives_one_document_with_every_evaluation(workspace: Path) -> None:
    ended = trivet("demo", workspace, "--json", "--verify")
    assert (ended.code, ended.err) == (0, "")
    document = ended.document
    assert document.keys() == {"workspace", "evaluations", "outcomes", "verified", "differences"}
    assert (document["workspace"], document["verified"], document["differences"]) == (str(workspace), True, [])
    found = {item["monitor"]: (item["badge"], item["compliant"]) for item in document["evaluations"]}
    assert found == {
        "pay-below-floor": ("4 breaches / 1 no-data", 52),
        "hours-over-limit": ("2 breaches / 1 no-data", 54),
        "entitlements-short": ("3 breaches / 3 no-data", 51),
    }
    answered = [(item["state"], item["reason_code"]) for item in document["outcomes"]]
    assert answered == [("ANSWER", None), ("ANSWER", None), ("ABSTAIN", "SCHEMA_MISMATCH")]


def test_the_demo_shows_the_alert_as_it_was_sent(shown: str) -> None:
    alert = shown[shown.index("The alert, as it was sent") : shown.index("Asked:")]
    assert "[critical] Paid below the agreement's floor: breach" in alert
    for employee, (rate, floor, _) in FLOORS.items():
        assert f"- employee_id {employee}; hourly_rate {rate}, governed_by.min_hourly_rate {floor}" in alert


def test_the_alert_of_a_demo_that_a_program_reads_stands_beside_the_document(tmp_path: Path) -> None:
    ended = trivet("demo", tmp_path, "--json")
    assert (ended.code, len(ended.documents)) == (0, 1)
    assert ended.err.startswith("[critical] Paid below the agreement's floor: breach\n")


def test_a_second_demo_in_the_same_directory_adds_to_its_history(workspace: Path) -> None:
    generations = len(list(workspace.glob("warehouse.2*.duckdb")))
    last = last_entry(workspace)
    ended = trivet("demo", workspace, "--json")
    assert ended.code == 0
    assert [item["ledger_seq"] for item in ended.document["evaluations"]] == [last + 1, last + 2, last + 3]
    assert "verified" not in ended.document
    assert len(list(workspace.glob("warehouse.2*.duckdb"))) == generations + 1
    assert trivet("ledger", "verify", at=workspace).code == 0


def test_a_second_demo_tells_nobody_again(workspace: Path) -> None:
    ended = trivet("demo", workspace)
    assert (ended.code, ended.err) == (0, "")
    assert "4 breaches / 1 no-data" in ended.out
    assert "The alert" not in ended.out
    assert "[critical]" not in ended.out


def test_the_demo_keeps_what_was_changed_in_its_directory_and_verify_finds_it(workspace: Path) -> None:
    payroll = workspace / "sources" / "payroll.csv"
    changed = payroll.read_text("utf-8").replace("E1012,casual,", "E1012,casual,", 1).replace(",27.10,", ",28.04,", 1)
    payroll.write_text(changed, "utf-8")
    ended = trivet("demo", workspace, "--verify")
    assert ended.code == 4
    assert payroll.read_text("utf-8") == changed
    assert "pay-below-floor: breached are ['E1024', 'E1037', 'E1049'], truth is ['E1012'," in ended.err


@pytest.mark.parametrize("content", [{"notes.txt": "mine\n"}, {"trivet.yaml": "store: {}\n"}, {".hidden": ""}])
def test_a_directory_that_holds_something_else_is_refused_and_left_alone(
    tmp_path: Path, content: dict[str, str]
) -> None:
    for name, text in content.items():
        (tmp_path / name).write_text(text)
    ended = trivet("demo", tmp_path)
    assert (ended.code, ended.out) == (64, "")
    assert ended.err == f"'{tmp_path}' is there already and not empty; nothing was changed\n"
    assert files_of(tmp_path) == {name: text.encode() for name, text in content.items()}


def test_an_empty_directory_is_taken(tmp_path: Path) -> None:
    assert trivet("demo", tmp_path, "--json").code == 0
    assert (tmp_path / "trivet.db").is_file()


TAMPERED: dict[str, tuple[dict[str, Any], str]] = {
    "a member too few": ({"breach": {"E1012": None}}, "pay-below-floor: breached are ['E1012', "),
    "a member too many": ({"breach": {"E1001": {}}}, "pay-below-floor: breached are ['E1012', "),
    "another rate": (
        {"breach": {"E1012": {"hourly_rate": "27.11"}}},
        "pay-below-floor: E1012: hourly_rate is 27.10, truth is 27.11",
    ),
    "another floor": (
        {"breach": {"E1049": {"governed_by.min_hourly_rate": "35.69"}}},
        "pay-below-floor: E1049: governed_by.min_hourly_rate is 35.68, truth is 35.69",
    ),
    "another reason": (
        {"no_data": {"E1057": {"reason": "left_null", "causes": {}}}},
        "pay-below-floor: E1057: right_missing {}, truth is left_null {}",
    ),
    "a cause": (
        {"no_data": {"E1057": {"reason": "right_missing", "causes": {"governed_by": ["superseded"]}}}},
        "pay-below-floor: E1057: right_missing {}, truth is right_missing {'governed_by': ['superseded']}",
    ),
    "another undecided member": ({"no_data": {"E1001": {}}}, "pay-below-floor: undecided are ['E1057'], truth is"),
    "another population": ({"population": 58}, "pay-below-floor: population is 57, truth is 58"),
    "other compliant": ({"compliant": 53}, "pay-below-floor: compliant is 52, truth is 53"),
}


@pytest.fixture(scope="module")
def changeable(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A demo workspace whose truth is written anew by each test."""
    return Path(shutil.copytree(demo, tmp_path_factory.mktemp("changeable") / "demo"))


@pytest.mark.parametrize("name", TAMPERED)
def test_a_truth_that_was_tampered_with_fails_the_verification(
    demo: Path, changeable: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes, message = TAMPERED[name]
    truth = json.loads((demo / "truth.json").read_text("utf-8"))
    _change(truth["monitors"]["pay-below-floor"], changes)
    (changeable / "truth.json").write_text(json.dumps(truth), "utf-8")
    ended = trivet("demo", changeable, "--verify", "--json")
    assert ended.code == 4
    assert ended.document["verified"] is False
    (difference,) = ended.document["differences"]
    assert difference.startswith(message)
    assert ended.err == f"the demo differs from the generator's truth:\n{difference}\n"


def _change(tree: dict[str, Any], changes: dict[str, Any]) -> None:
    for key, value in changes.items():
        if value is None:
            del tree[key]
        elif isinstance(value, dict) and value and isinstance(tree.get(key), dict):
            _change(tree[key], value)
        else:
            tree[key] = value


def test_a_truth_about_a_monitor_that_is_not_there_fails_the_verification(workspace: Path) -> None:
    (workspace / "monitors" / "pay.yaml").write_text(
        "monitors:\n  - {id: hours-over-limit, object: employee_pay, breach_when: ordinary_hours > 38}\n"
    )
    ended = trivet("demo", workspace, "--verify")
    assert ended.code == 4
    assert "entitlements-short: no such monitor was evaluated" in ended.err
    assert "pay-below-floor: no such monitor was evaluated" in ended.err


def test_the_demo_runs_as_a_command_of_its_own(tmp_path: Path) -> None:
    ended = finish(start("demo", "--verify", at=tmp_path))
    assert (ended.code, ended.err) == (0, "")
    assert "trivet-demo: ingested 164 ontology.award_rate, 57 ontology.employee_pay" in ended.out
    assert "4 breaches / 1 no-data" in ended.out
    assert "\x1b" not in ended.out
    assert (tmp_path / "trivet-demo" / "warehouse.duckdb").is_file()
