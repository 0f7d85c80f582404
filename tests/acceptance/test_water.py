"""The water workspace: five exports of different layouts, nothing of them lost, and its generator's truth found."""

from __future__ import annotations

import csv
import json
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest

from cli.init import EXAMPLES
from tests.acceptance.command import ROOT, trivet

FIRST_ROWS = {2020: 2, 2021: 2, 2022: 4, 2023: 2, 2024: 2}
"""Of each year's export: the row of the first reading."""


@pytest.fixture(scope="module")
def water(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The workspace as `trivet init` copies it, ingested."""
    workspace = tmp_path_factory.mktemp("water") / "water"
    assert trivet("init", workspace, "--example", "water").code == 0
    assert trivet("check", at=workspace).code == 0
    assert trivet("ingest", at=workspace).code == 0
    assert trivet("check", "--live", at=workspace).code == 0
    return workspace


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """The workspace as `trivet init` copies it, for a test that changes its files."""
    workspace = tmp_path / "water"
    assert trivet("init", workspace, "--example", "water").code == 0
    return workspace


@pytest.fixture(scope="module")
def truth(water: Path) -> Any:
    return json.loads((water / "truth.json").read_text("ascii"))


@pytest.fixture(scope="module")
def view(water: Path) -> list[dict[str, Any]]:
    """Every row of the view that unites the exports."""
    with closing(duckdb.connect(str(water / "warehouse.duckdb"), read_only=True)) as connection:
        result = connection.execute("SELECT * FROM ontology.water_quality_observation")
        names = [column[0] for column in result.description]
        return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def test_every_shipped_workspace_can_be_copied() -> None:
    assert set(EXAMPLES) == {path.parent.name for path in (ROOT / "examples").glob("*/trivet.yaml")}


def test_every_row_of_every_export_is_in_the_view_once(water: Path, truth: Any, view: list[dict[str, Any]]) -> None:
    expected = []
    for name, count in truth["exports"].items():
        first = FIRST_ROWS[int(Path(name).stem[-4:])]
        with (water / name).open(encoding="utf-8", newline="") as file:
            assert len(list(csv.reader(file))) == first - 1 + count
        expected += [(name, row) for row in range(first, first + count)]
    assert sorted((row["_source_document"], row["_source_row"]) for row in view) == expected


def test_the_view_keeps_what_was_printed_beside_what_it_read(water: Path, view: list[dict[str, Any]]) -> None:
    printed = {}
    for name in {row["_source_document"] for row in view}:
        with (water / name).open(encoding="utf-8", newline="") as file:
            printed |= {(name, number): cells for number, cells in enumerate(csv.reader(file), start=1)}
    for row in view:
        cells = printed[row["_source_document"], row["_source_row"]]
        assert row["turbidity_raw"] in cells
        assert row["record_date_raw"] in cells
        assert row["turbidity_cause"] is None
        if row["turbidity_side"]:
            assert row["turbidity_side"] + row["turbidity_limit"] == row["turbidity_raw"]
            assert row["turbidity_ntu"] is None
        else:
            assert row["turbidity_ntu"] == row["turbidity_raw"]


def test_sites_and_days_have_one_spelling_in_all_years(truth: Any, view: list[dict[str, Any]]) -> None:
    assert {row["site"] for row in view} == set(truth["sites"])
    years = {(row["site"], row["record_date"][:4]) for row in view}
    sampled = {tuple(key.split(" / ")) for key, summary in truth["years"].items() if summary["readings"]}
    assert years == sampled
    assert all(len(row["record_date"]) == len("2020-01-01") for row in view)


DRIFTS = {
    "a code that two sites have": ("sites.csv", "WB,Western Bore,bore\n", "WB,Western Bore,bore\nWB,West Bore,bore\n"),
    "a column renamed again": ("turbidity_2023.csv", "site_code,sample_date,", "site_code,sampled_on,"),
    "a title above another export": ("turbidity_2021.csv", "Lab Ref,", "Turbidity by site,,,\nLab Ref,"),
}


@pytest.mark.parametrize("name", DRIFTS)
def test_a_drift_that_nobody_declared_is_refused(copied: Path, name: str) -> None:
    file, old, new = DRIFTS[name]
    path = copied / "sources" / file
    text = path.read_text("utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), "utf-8")
    ended = trivet("ingest", at=copied)
    assert (ended.code, ended.out) == (65, "")
    assert not (copied / "warehouse.duckdb").exists()


def test_a_reading_in_another_unit_is_no_value(copied: Path) -> None:
    export = copied / "sources" / "turbidity_2022.csv"
    lines = export.read_text("utf-8").splitlines()
    assert lines[3].count(",NTU,") == 1
    lines[3] = lines[3].replace(",NTU,", ",FNU,")
    export.write_text("\n".join(lines) + "\n", "utf-8")
    assert trivet("ingest", at=copied).code == 0
    document = trivet("evaluate", "turbidity-over-limit", "--json", "--dry-run", at=copied).document
    assert document["no_data"] == 2
    mismatched = [member for member in document["samples"]["no_data"] if member["provenance"][0]["row"] == 4]
    assert [member["causes"] for member in mismatched] == [{"turbidity_ntu": ["unit_mismatch"]}]
    assert mismatched[0]["operands"]["turbidity_ntu"].endswith(" FNU")


def test_single_readings_are_judged_as_the_truth_says(water: Path, truth: Any) -> None:
    ended = trivet("evaluate", "turbidity-over-limit", "--json", at=water)
    assert (ended.code, ended.err) == (1, "")
    document, expected = ended.document, truth["monitors"]["turbidity-over-limit"]
    counts = {name: document[name] for name in ("population", "compliant", "partial", "duplicate_keys")}
    assert counts == {name: expected[name] for name in ("population", "compliant", "partial")} | {"duplicate_keys": 0}
    assert {_key(member): member["operands"] for member in document["samples"]["breach"]} == expected["breach"]
    undecided = {_key(member): member for member in document["samples"]["no_data"]}
    assert undecided.keys() == expected["no_data"].keys()
    for key, member in undecided.items():
        wanted = expected["no_data"][key]
        assert (member["reason"], member["causes"]) == (wanted["reason"], wanted["causes"])
        assert wanted["operands"].items() <= member["operands"].items()
        assert member["operands"]["turbidity_ntu"] == "see note 2"
    assert document["breach"] == len(expected["breach"])
    assert document["no_data"] == len(expected["no_data"])


@pytest.mark.parametrize("monitor", ["turbidity-by-site-and-year", "readings-arrive"])
def test_groups_are_judged_as_the_truth_says(water: Path, truth: Any, monitor: str) -> None:
    expected = truth["monitors"][monitor]
    # Whether readings arrive depends on the day on which it is asked.
    at = expected.get("at", "2025-01-15T06:00:00+10:00")
    document = trivet("evaluate", monitor, "--at", at, "--json", "--dry-run", at=water).document
    found = {name: document[name] for name in ("population", "compliant", "partial", "unexpected")}
    assert found == {name: expected[name] for name in ("population", "compliant", "partial")} | {"unexpected": 0}
    assert {_key(member): member["operands"] for member in document["samples"]["breach"]} == expected["breach"]
    undecided = {
        _key(member): {"causes": member["causes"], "reason": member["reason"]}
        for member in document["samples"]["no_data"]
    }
    assert undecided == expected["no_data"]


def test_a_breach_says_where_reading_and_limit_were_read(water: Path) -> None:
    document = trivet("evaluate", "turbidity-over-limit", "--json", "--dry-run", at=water).document
    places = {_key(member): member["provenance"] for member in document["samples"]["breach"]}
    for (site, day), found in ((tuple(key.split(" / ")), place) for key, place in places.items()):
        reading, limit = found
        assert (reading["of"], limit["of"]) == ("water_quality_observation", "limited_by")
        assert reading["document"] == f"sources/turbidity_{day[:4]}.csv"
        assert limit["document"] == "sources/limits.csv"
        line = (water / reading["document"]).read_text("utf-8").splitlines()[reading["row"] - 1]
        assert site in line
        assert day[8:10] in line


def _key(member: dict[str, Any]) -> str:
    return " / ".join(member["key"].values())
