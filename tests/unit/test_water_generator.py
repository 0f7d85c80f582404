"""The truth of the Corella Water workspace, found a second time from the written files alone."""

from __future__ import annotations

import csv
import json
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

WATER = Path(__file__).parent.parent.parent / "examples" / "water"
YEARS = range(2020, 2025)
EXPORTS = {year: f"sources/turbidity_{year}.csv" for year in YEARS}
WRITTEN = (*EXPORTS.values(), "sources/sites.csv", "sources/limits.csv", "truth.json")
NUMBER = re.compile(r"[0-9]+\.[0-9]{2}")

HEADERS = {
    2020: (1, ["Site", "Sample Date", "Turbidity (NTU)"]),
    2021: (1, ["Lab Ref", "Sample Date", "Site", "Turbidity (NTU)"]),
    2022: (3, ["Site", "Date", "Turbidity", "Unit", "Lab Ref"]),
    2023: (1, ["site_code", "sample_date", "turbidity_ntu"]),
    2024: (1, ["site_code", "site", "sample_date", "turbidity_ntu", "lab_ref"]),
}
"""Of each year: the row of the header, and its columns."""
COLUMNS = {
    2020: ("Site", "Sample Date", "Turbidity (NTU)"),
    2021: ("Site", "Sample Date", "Turbidity (NTU)"),
    2022: ("Site", "Date", "Turbidity"),
    2023: ("site_code", "sample_date", "turbidity_ntu"),
    2024: ("site", "sample_date", "turbidity_ntu"),
}
"""Of each year: where site, day and reading stand."""


@dataclass(frozen=True)
class Reading:
    """One row of an export, understood."""

    site: str
    day: date
    text: str

    @property
    def key(self) -> str:
        return f"{self.site} / {self.day.isoformat()}"

    @property
    def value(self) -> Decimal | None:
        return Decimal(self.text) if NUMBER.fullmatch(self.text) else None


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace that was just generated."""
    target = tmp_path_factory.mktemp("water")
    runpy.run_path(str(WATER / "generate.py"))["generate"](target)
    return target


@pytest.fixture(scope="module")
def names(directory: Path) -> dict[str, str]:
    """Code to name of every site."""
    return {row[0]: row[1] for row in _rows(directory / "sources" / "sites.csv")[1:]}


@pytest.fixture(scope="module")
def limits(directory: Path, names: dict[str, str]) -> dict[tuple[str, date], Decimal]:
    """The limit of each site from each date."""
    rows = _rows(directory / "sources" / "limits.csv")[1:]
    return {(names[code], date.fromisoformat(start)): Decimal(limit) for code, limit, start in rows}


@pytest.fixture(scope="module")
def readings(directory: Path, names: dict[str, str]) -> list[Reading]:
    return [reading for year in YEARS for reading in _exported(directory, year, names)]


@pytest.fixture(scope="module")
def truth(directory: Path) -> Any:
    return json.loads((directory / "truth.json").read_text(encoding="ascii"))


def _rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def _exported(directory: Path, year: int, names: dict[str, str]) -> Iterator[Reading]:
    at, header = HEADERS[year]
    rows = _rows(directory / EXPORTS[year])
    assert rows[at - 1] == header
    for row in rows[at:]:
        site, day, text = (row[header.index(column)] for column in COLUMNS[year])
        yield Reading(names.get(site, site), _day(day), text)


def _day(text: str) -> date:
    found = re.fullmatch(r"([0-9]{2})[/.]([0-9]{2})[/.]([0-9]{4})", text)
    return date(int(found[3]), int(found[2]), int(found[1])) if found else date.fromisoformat(text)


def _over(reading: Reading, limits: dict[tuple[str, date], Decimal]) -> tuple[bool | None, Decimal]:
    """Whether a reading is over the limit in force on its day, where that can be said, and the limit."""
    start = max(start for site, start in limits if site == reading.site and start <= reading.day)
    limit = limits[reading.site, start]
    if reading.value is not None:
        return reading.value > limit, limit
    bound = re.fullmatch(r"<([0-9.]+)", reading.text)
    return (False if bound and Decimal(bound[1]) <= limit else None), limit


def _average(values: list[Decimal]) -> str:
    """To 12 significant digits, without zeros at the end."""
    return f"{(sum(values) / len(values)).normalize():.12g}"


def test_the_truth_about_single_readings_is_what_the_files_say(
    readings: list[Reading], limits: dict[tuple[str, date], Decimal], truth: Any
) -> None:
    judged = {reading: _over(reading, limits) for reading in readings}
    breach = {
        reading.key: {"turbidity_ntu": reading.text, "limited_by.max_turbidity_ntu": f"{limit}.00"}
        for reading, (over, limit) in judged.items()
        if over
    }
    no_data = {
        reading.key: {
            "reason": "left_null",
            "causes": {"turbidity_ntu": ["not_castable"]},
            "operands": {"limited_by.max_turbidity_ntu": f"{limit}.00"},
        }
        for reading, (over, limit) in judged.items()
        if over is None
    }
    assert truth["monitors"]["turbidity-over-limit"] == {
        "population": len(readings),
        "breach": breach,
        "no_data": no_data,
        "compliant": sum(over is False for over, _ in judged.values()),
        "partial": 0,
    }


def test_the_truth_about_sites_and_years_is_what_the_files_say(
    readings: list[Reading], names: dict[str, str], truth: Any
) -> None:
    found: dict[str, Any] = {"breach": {}, "no_data": {}, "compliant": 0, "partial": 0}
    for site in names.values():
        for year in YEARS:
            group = [reading for reading in readings if (reading.site, reading.day.year) == (site, year)]
            values = [reading.value for reading in group if reading.value is not None]
            months = {reading.day.month for reading in group if reading.value is not None}
            assert len(months) == len(values)
            if not group or len(months) / 12 < 0.8:
                reason = "insufficient" if group else "left_missing"
                found["no_data"][f"{site} / {year}"] = {"reason": reason, "causes": {}}
                continue
            found["partial"] += len(values) < len(group)
            if sum(values) > 5 * len(values):
                found["breach"][f"{site} / {year}"] = {"avg(turbidity_ntu)": _average(values)}
            else:
                found["compliant"] += 1
    assert truth["monitors"]["turbidity-by-site-and-year"] == {"population": 6 * 5, **found}


def test_the_truth_about_freshness_is_what_the_files_say(
    readings: list[Reading], names: dict[str, str], truth: Any
) -> None:
    expected = truth["monitors"]["readings-arrive"]
    today = date.fromisoformat(expected["at"][:10])
    last = {site: max(reading.day for reading in readings if reading.site == site) for site in names.values()}
    stale = {site: {"max(record_date)": day.isoformat()} for site, day in last.items() if (today - day).days >= 45}
    assert list(stale) == ["Western Bore"]
    assert expected == {
        "at": expected["at"],
        "population": 6,
        "breach": stale,
        "no_data": {},
        "compliant": 5,
        "partial": 0,
    }


def test_the_summary_of_every_year_is_what_the_files_say(
    readings: list[Reading], names: dict[str, str], truth: Any
) -> None:
    assert truth["years"].keys() == {f"{site} / {year}" for site in names.values() for year in YEARS}
    for key, summary in truth["years"].items():
        group = [reading for reading in readings if f"{reading.site} / {reading.day.year}" == key]
        values = [reading.value for reading in group if reading.value is not None]
        assert summary == {
            "readings": len(group),
            "censored": sum(reading.text.startswith("<") for reading in group),
            "not_castable": sum(reading.text == "see note 2" for reading in group),
            "average": _average(values) if values else None,
        }


def test_every_month_of_every_site_has_one_reading_but_for_those_never_taken(
    readings: list[Reading], names: dict[str, str], truth: Any
) -> None:
    months = [(reading.site, reading.day.year, reading.day.month) for reading in readings]
    every = {(site, year, month) for site in names.values() for year in YEARS for month in range(1, 13)}
    never = {("Western Bore", 2024, month) for month in range(1, 13)}
    never |= {("Mill Creek", 2022, month) for month in range(2, 6)}
    assert sorted(months) == sorted(every - never)
    assert truth["readings"] == sum(truth["exports"].values()) == len(months)


def test_one_reading_is_a_bound_one_is_words_and_all_others_are_numbers(readings: list[Reading]) -> None:
    odd = {reading.text: reading.key for reading in readings if reading.value is None}
    assert odd.keys() == {"<0.05", "see note 2"}
    assert sum(reading.value is None for reading in readings) == 2


def test_the_limit_of_the_day_decides_and_neither_the_first_nor_the_last(
    readings: list[Reading], limits: dict[tuple[str, date], Decimal]
) -> None:
    at = {reading.key: reading for reading in readings}
    before, after = at["Eastern Bore / 2022-06-30"], at["Western Bore / 2022-07-01"]
    assert before.text == after.text
    assert [_over(reading, limits)[0] for reading in (before, after)] == [False, True]
    only = {start: {key: limit for key, limit in limits.items() if key[1] == start} for _, start in limits}
    always = {
        start: {(site, date(2020, 1, 1)): limit for (site, _), limit in some.items()} for start, some in only.items()
    }
    assert _over(before, always[date(2022, 7, 1)])[0] is True
    assert _over(after, always[date(2020, 1, 1)])[0] is False


def test_the_layout_of_the_export_changes_with_every_year(directory: Path) -> None:
    layouts = [tuple(_rows(directory / EXPORTS[year])[HEADERS[year][0] - 1]) for year in YEARS]
    assert len(set(layouts)) == len(layouts)


@pytest.mark.parametrize("name", WRITTEN)
def test_the_workspace_holds_what_the_generator_writes(directory: Path, name: str) -> None:
    assert (WATER / name).read_bytes() == (directory / name).read_bytes()


def test_a_second_run_in_another_process_writes_the_same_bytes(directory: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-I", str(WATER / "generate.py"), str(tmp_path)]
    subprocess.run(command, check=True, env={"PYTHONHASHSEED": "7"})
    assert [(tmp_path / name).read_bytes() for name in WRITTEN] == [(directory / name).read_bytes() for name in WRITTEN]
