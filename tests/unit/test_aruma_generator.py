"""The truth of the Aruma workspace, found a second time from the written files alone."""

from __future__ import annotations

import csv
import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

ARUMA = Path(__file__).parent.parent.parent / "examples" / "aruma"
WRITTEN = ("sources/payroll.csv", "sources/agreement_rates.csv", "truth.json")
NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?")

Row = dict[str, str]
Verdict = tuple[str, Any]


@pytest.fixture(scope="module")
def generate() -> Callable[[Path], None]:
    """The generator's function; it is a script of the workspace and no module of a package."""
    specification = importlib.util.spec_from_file_location("aruma_generate", ARUMA / "generate.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = module
    specification.loader.exec_module(module)
    found: Callable[[Path], None] = module.generate
    return found


@pytest.fixture(scope="module")
def directory(generate: Callable[[Path], None], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace that was just generated."""
    target = tmp_path_factory.mktemp("aruma")
    generate(target)
    return target


@pytest.fixture(scope="module")
def payroll(directory: Path) -> list[Row]:
    return _rows(directory / "sources" / "payroll.csv")


@pytest.fixture(scope="module")
def rates(directory: Path) -> list[Row]:
    return _rows(directory / "sources" / "agreement_rates.csv")


@pytest.fixture(scope="module")
def truth(directory: Path) -> Any:
    return json.loads((directory / "truth.json").read_text(encoding="ascii"))


def _rows(path: Path) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _operand(row: Row, column: str) -> Decimal | str:
    """The number in a cell, or the cause why there is none."""
    text = row[column].strip()
    if not text or (column == "casual_loading" and text == "n/a"):
        return "null"
    return Decimal(text) if NUMBER.fullmatch(text) else "not_castable"


def _below_floor(row: Row, rates: list[Row]) -> Verdict:
    in_force = max(rate["effective_from"] for rate in rates if rate["effective_from"] <= row["pay_date"])
    key = (in_force, row["classification"], row["pay_point"])
    found = [r for r in rates if (r["effective_from"], r["classification"], r["pay_point"]) == key]
    if not found:
        return "no_data", {"reason": "right_missing", "causes": {}}
    (rate,) = found
    if Decimal(row["hourly_rate"]) < Decimal(rate["hourly_rate"]):
        floor = {"governed_by.min_hourly_rate": rate["hourly_rate"], "effective_from": in_force}
        return "breach", {"hourly_rate": row["hourly_rate"], **floor}
    return "compliant", None


def _over_hours(row: Row, _rates: list[Row]) -> Verdict:
    hours = _operand(row, "ordinary_hours")
    if isinstance(hours, str):
        return "no_data", {"reason": "left_null", "causes": {"ordinary_hours": [hours]}}
    return ("breach", {"ordinary_hours": row["ordinary_hours"]}) if hours > 38 else ("compliant", None)


def _short(row: Row, _rates: list[Row]) -> Verdict:
    contribution, loading = _operand(row, "super_rate"), _operand(row, "casual_loading")
    is_casual = row["employment_type"] == "casual"
    too_little = not isinstance(contribution, str) and contribution < 12
    too_low = is_casual and not isinstance(loading, str) and loading < 25
    causes = {"super_rate": [contribution]} if isinstance(contribution, str) else {}
    causes |= {"casual_loading": [loading]} if is_casual and isinstance(loading, str) else {}
    if causes and not (too_little or too_low):
        return "no_data", {"reason": "left_null", "causes": causes}
    operands = {"super_rate": row["super_rate"], "casual_loading": row["casual_loading"]}
    return ("breach", operands) if too_little or too_low else ("compliant", None)


@pytest.mark.parametrize(
    ("monitor", "judge"),
    [("pay-below-floor", _below_floor), ("hours-over-limit", _over_hours), ("entitlements-short", _short)],
)
def test_the_truth_is_what_the_files_say(
    payroll: list[Row], rates: list[Row], truth: Any, monitor: str, judge: Callable[[Row, list[Row]], Verdict]
) -> None:
    found: dict[str, dict[str, Any]] = {"breach": {}, "no_data": {}, "compliant": {}}
    for row in payroll:
        verdict, detail = judge(row, rates)
        found[verdict][row["employee_id"]] = detail
    assert truth["monitors"][monitor] == {
        "population": len(payroll),
        "breach": found["breach"],
        "no_data": found["no_data"],
        "compliant": len(found["compliant"]),
    }


def test_there_are_57_employees_with_a_number_and_a_pay_date_in_2026_each(payroll: list[Row]) -> None:
    assert [row["employee_id"] for row in payroll] == [f"E{number}" for number in range(1001, 1058)]
    assert all(date(2026, 1, 1) <= date.fromisoformat(row["pay_date"]) <= date(2026, 11, 30) for row in payroll)
    assert {row["employment_type"] for row in payroll} == {"full-time", "part-time", "casual"}


def test_the_agreement_has_41_pay_rows_at_four_dates_in_three_measures(rates: list[Row], truth: Any) -> None:
    dates = sorted({row["effective_from"] for row in rates})
    keys = {(row["classification"], row["pay_point"]) for row in rates}
    measures = ("hourly_rate", "fortnightly_rate", "annual_salary")
    numbers = [row[measure] for row in rates for measure in measures]
    assert truth["agreement"] == {"pay_rows": len(keys), "effective_dates": dates, "numbers": len(numbers)}
    assert (len(keys), len(dates), len(numbers)) == (41, 4, 492)
    assert len({(row["effective_from"], row["classification"], row["pay_point"]) for row in rates}) == 164
    assert all(NUMBER.fullmatch(number) for number in numbers)


def test_every_rate_names_a_place_of_its_own_in_the_agreement(rates: list[Row]) -> None:
    places = [(row["document"], row["schedule"], row["page"], row["line"]) for row in rates]
    assert len(set(places)) == len(rates)


def test_rates_rise_from_point_to_point_and_from_date_to_date(rates: list[Row]) -> None:
    hourly = {
        (row["classification"], int(row["pay_point"]), row["effective_from"]): Decimal(row["hourly_rate"])
        for row in rates
    }
    dates = sorted({start for _, _, start in hourly})
    for (classification, point, start), rate in hourly.items():
        assert rate > hourly.get((classification, point - 1, start), Decimal(0))
        assert all(rate > hourly[classification, point, earlier] for earlier in dates if earlier < start)


def test_last_years_schedule_would_have_passed_an_underpaid_employee(
    payroll: list[Row], rates: list[Row], truth: Any
) -> None:
    stale = [rate for rate in rates if rate["effective_from"] != "2026-07-01"]
    passed = {
        row["employee_id"]
        for row in payroll
        if row["employee_id"] in truth["monitors"]["pay-below-floor"]["breach"]
        and _below_floor(row, stale)[0] == "compliant"
    }
    assert "E1024" in passed


def test_the_latest_schedule_would_have_accused_employees_paid_before_it(payroll: list[Row], rates: list[Row]) -> None:
    latest = [rate | {"effective_from": "2000-01-01"} for rate in rates if rate["effective_from"] == "2026-07-01"]
    accused = {row["employee_id"] for row in payroll if _below_floor(row, latest)[0] == "breach"}
    assert {"E1005", "E1018", "E1042"} <= accused


def test_some_are_paid_the_floor_to_the_cent_on_the_days_round_a_change(payroll: list[Row], rates: list[Row]) -> None:
    at = {row["employee_id"]: row for row in payroll}
    for member, day in (("E1018", "2026-06-30"), ("E1031", "2026-07-01")):
        row = at[member]
        assert row["pay_date"] == day
        assert _below_floor(row, rates)[0] == "compliant"
        cheaper = row | {"hourly_rate": str(Decimal(row["hourly_rate"]) - Decimal("0.01"))}
        assert _below_floor(cheaper, rates)[0] == "breach"


def test_a_level_that_the_agreement_lacks_stands_in_the_payroll(payroll: list[Row], rates: list[Row]) -> None:
    assert {row["employee_id"] for row in payroll if row["classification"] == "DDSO 7"} == {"E1057"}
    assert {row["classification"] for row in rates} == {f"DDSO {level}" for level in range(1, 7)}


@pytest.mark.parametrize("name", WRITTEN)
def test_the_workspace_holds_what_the_generator_writes(directory: Path, name: str) -> None:
    assert (ARUMA / name).read_bytes() == (directory / name).read_bytes()


def test_a_second_run_in_another_process_writes_the_same_bytes(directory: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-I", str(ARUMA / "generate.py"), str(tmp_path)]
    subprocess.run(command, check=True, env={"PYTHONHASHSEED": "7"})
    assert [(tmp_path / name).read_bytes() for name in WRITTEN] == [(directory / name).read_bytes() for name in WRITTEN]
