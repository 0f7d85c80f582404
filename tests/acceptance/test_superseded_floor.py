"""The case that taught what an effective date means: only the current floor of one key is deleted.

Everyone must not quietly be judged by last year's floor: the schedule in force does not list the
key any more, so whoever it concerned is undecided, and the evaluation says why.
"""

from __future__ import annotations

import csv
import re
import sqlite3
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from alerts.message import Message
from alerts.rendering import body, subject
from alerts.rendering_html import html
from alerts.wording import inactive
from tests.acceptance.command import trivet

SNAPSHOTS = Path(__file__).parents[1] / "snapshots" / "demo_alerts"


def _read(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def _write(file: Path, records: list[dict[str, str]]) -> None:
    with file.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.DictWriter(handle, list(records[0]))
        writer.writeheader()
        writer.writerows(records)


@pytest.fixture
def employee(workspace: Path) -> dict[str, str]:
    """The pay line of an employee who is paid too little."""
    return next(line for line in _read(workspace / "sources" / "payroll.csv") if line["employee_id"] == "E1012")


def _of_key(rate: dict[str, str], employee: dict[str, str]) -> bool:
    return (rate["classification"], rate["pay_point"]) == (employee["classification"], employee["pay_point"])


def _floor_in_force(rates: list[dict[str, str]], employee: dict[str, str]) -> dict[str, str]:
    paid_on = date.fromisoformat(employee["pay_date"])
    floors = [
        rate for rate in rates if _of_key(rate, employee) and date.fromisoformat(rate["effective_from"]) <= paid_on
    ]
    return max(floors, key=lambda rate: rate["effective_from"])


def _evaluated(workspace: Path) -> dict[str, Any]:
    assert trivet("ingest", at=workspace).code == 0
    return trivet("evaluate", "pay-below-floor", "--json", at=workspace).document


def test_a_key_that_the_schedule_in_force_no_longer_lists_is_not_judged_by_an_older_floor(
    workspace: Path, employee: dict[str, str]
) -> None:
    file = workspace / "sources" / "agreement_rates.csv"
    rates = _read(file)
    current = _floor_in_force(rates, employee)
    assert current["hourly_rate"] == "28.04"
    older = [rate for rate in rates if _of_key(rate, employee) and rate["effective_from"] < current["effective_from"]]
    # By last year's floor the pay would be fine, which is what makes falling back to it so quiet.
    assert max(float(rate["hourly_rate"]) for rate in older) <= float(employee["hourly_rate"])
    _write(file, [rate for rate in rates if rate is not current])

    found = _evaluated(workspace)

    assert found["verdict"] == "breach"
    assert [member["key"]["employee_id"] for member in found["samples"]["breach"]] == ["E1024", "E1037", "E1049"]
    undecided = {member["key"]["employee_id"]: member for member in found["samples"]["no_data"]}
    assert undecided["E1012"]["reason"] == "right_missing"
    assert undecided["E1012"]["causes"] == {"governed_by": ["superseded"]}
    assert undecided["E1012"]["operands"] == {"hourly_rate": "27.10", "governed_by.min_hourly_rate": None}
    assert undecided["E1057"]["causes"] == {}
    assert found["breach"] + found["no_data"] + found["compliant"] == found["population"] == 57


def test_everyone_of_the_deleted_key_and_nobody_else_is_undecided_by_it(
    workspace: Path, employee: dict[str, str]
) -> None:
    file = workspace / "sources" / "agreement_rates.csv"
    rates = _read(file)
    current = _floor_in_force(rates, employee)
    concerned = {
        line["employee_id"]
        for line in _read(workspace / "sources" / "payroll.csv")
        if _of_key(current, line) and _floor_in_force(rates, line) is current
    }
    _write(file, [rate for rate in rates if rate is not current])

    found = _evaluated(workspace)

    superseded = {
        member["key"]["employee_id"]
        for member in found["samples"]["no_data"]
        if member["causes"] == {"governed_by": ["superseded"]}
    }
    assert superseded == concerned
    assert found["no_data_reasons"] == {"right_missing": len(concerned) + 1}


def test_deleting_the_whole_current_schedule_is_a_schedule_that_was_not_restated(
    workspace: Path, employee: dict[str, str]
) -> None:
    """With no row of the effective date left there is no such date: the schedule before it is in force."""
    file = workspace / "sources" / "agreement_rates.csv"
    rates = _read(file)
    current = _floor_in_force(rates, employee)["effective_from"]
    _write(file, [rate for rate in rates if rate["effective_from"] != current])

    found = _evaluated(workspace)

    assert found["no_data_reasons"] == {"right_missing": 1}
    assert "E1012" not in {member["key"]["employee_id"] for member in found["samples"]["breach"]}


def _told(workspace: Path, name: str, text: str) -> None:
    """What people are told is what `tests/snapshots/demo_alerts/` holds, but for times and numbers of entries."""
    with closing(sqlite3.connect(workspace / "trivet.db")) as store:
        ((payload,),) = store.execute(text).fetchall()
    message = Message.from_json(payload)
    for kind, told in (("txt", f"{subject(message)}\n{body(message, inactive)}\n"), ("html", html(message))):
        plain = re.sub(r"\d{4}-\d\d-\d\dT[\d:+]+", "TIME", told)
        plain = re.sub(r"ledger show \d+", "ledger show N", plain)
        file = SNAPSHOTS / f"{name}.{kind}"
        assert plain == file.read_text("utf-8"), file.name


def test_the_alert_says_that_a_breach_cannot_be_judged_any_more_and_nothing_is_resolved(
    workspace: Path, employee: dict[str, str]
) -> None:
    _told(workspace, "fired", "SELECT payload FROM outbox WHERE monitor = 'pay-below-floor' AND event = 'fired'")
    file = workspace / "sources" / "agreement_rates.csv"
    rates = _read(file)
    current = _floor_in_force(rates, employee)
    _write(file, [rate for rate in rates if rate is not current])

    assert _evaluated(workspace)["badge"] == "3 breaches / 3 no-data"

    _told(
        workspace, "floor_deleted_now", "SELECT payload FROM outbox WHERE monitor = 'pay-below-floor' AND ordinal = 2"
    )
    # What a repetition or an escalation sends.
    _told(workspace, "floor_deleted", "SELECT message FROM alert WHERE monitor = 'pay-below-floor'")
    shown = trivet("alerts", "show", "pay-below-floor", "--json", at=workspace).document
    assert (shown["state"], shown["kind"], shown["badge"], shown["carried"]) == (
        "firing",
        "breach",
        "3 breaches / 3 no-data",
        1,
    )
    assert [item["event"] for item in shown["deliveries"]] == ["changed", "fired"]
    assert _evaluated(workspace)["badge"] == "3 breaches / 3 no-data"
    again = trivet("alerts", "show", "pay-below-floor", "--json", at=workspace).document
    assert len(again["deliveries"]) == 2


def test_a_person_sees_the_cause(workspace: Path, employee: dict[str, str]) -> None:
    file = workspace / "sources" / "agreement_rates.csv"
    rates = _read(file)
    current = _floor_in_force(rates, employee)
    _write(file, [rate for rate in rates if rate is not current])
    assert trivet("ingest", at=workspace).code == 0

    shown = trivet("evaluate", "pay-below-floor", "--dry-run", at=workspace).out

    line = next(line for line in shown.splitlines() if line.strip().startswith("E1012"))
    assert line.split() == ["E1012", "27.10", "—", "right_missing", "governed_by:", "superseded"]
