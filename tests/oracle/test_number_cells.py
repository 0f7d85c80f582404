"""The oracle against written-down expectations for number texts, which no program made.

`number_texts.csv` has one line for each text and type. Where `escaped` is `yes`, `text` is written with
the escapes of JSON. `value` is as Python's `repr` writes a double, and in plain notation without needless
zeros for the exact types.

`number_cells_expected.csv` goes line by line with `number_cells.csv`, read as doubles: once with no
missing marks (`cause_default`), once with every cell of the kind `missing` declared as one.
"""

from __future__ import annotations

import csv
import json
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from catalog.contract import Property
from catalog.datatypes import DOUBLE, DataType, parse_type
from evals.oracle.outcomes import Determinate, Indeterminate, Outcome, Value
from evals.oracle.values import read_property

CASES = Path(__file__).parents[1] / "cases" / "numbers"


def _lines(name: str) -> list[dict[str, str]]:
    with (CASES / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _read(text: str, data_type: DataType, missing: tuple[str, ...] = ()) -> Outcome:
    return read_property(Property("x", data_type, missing=missing), {"x": text}, {}, ZoneInfo("UTC"))


def _canonical(value: Value) -> str:
    if isinstance(value, float):
        return repr(value + 0.0)
    if isinstance(value, int):
        return str(value)
    assert isinstance(value, Decimal)
    text = f"{abs(value) if value == 0 else value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _spelled(outcome: Outcome) -> tuple[str, str]:
    match outcome:
        case Determinate(value=value):
            return _canonical(value), ""
        case Indeterminate(cause=cause):
            return "", str(cause)
    raise AssertionError(f"{outcome} has no companion columns to be censored by")


@pytest.mark.parametrize("type_name", ["double", "decimal(18,4)", "decimal(38,10)", "integer"])
def test_every_number_text_is_read_as_written_down(type_name: str) -> None:
    data_type = parse_type(type_name)
    assert data_type is not None
    lines = [line for line in _lines("number_texts.csv") if line["type"] == type_name]
    assert len(lines) > 100
    for line in lines:
        text = json.loads(f'"{line["text"]}"') if line["escaped"] == "yes" else line["text"]
        assert _spelled(_read(text, data_type)) == (line["value"], line["cause"]), text


def test_number_texts_name_each_text_once_for_each_type() -> None:
    named = [(line["text"], line["type"]) for line in _lines("number_texts.csv")]
    assert len(named) == len(set(named))
    assert len({text for text, _ in named}) * 4 == len(named)


def test_expected_cells_go_line_by_line_with_the_cells() -> None:
    cells, expected = _lines("number_cells.csv"), _lines("number_cells_expected.csv")
    assert [line["cell"] for line in expected] == [line["cell"] for line in cells]
    numbers = [line["default_verdict"] == "number" for line in cells]
    assert [bool(line["value"]) for line in expected] == numbers


def test_every_number_cell_is_read_as_written_down() -> None:
    for line in _lines("number_cells_expected.csv"):
        assert _spelled(_read(line["cell"], DOUBLE)) == (line["value"], line["cause_default"]), line["cell"]


def test_every_number_cell_is_read_as_written_down_with_missing_marks() -> None:
    missing = {line["cell"] for line in _lines("number_cells.csv") if line["kind"] == "missing"}
    marks = tuple(sorted(mark for mark in missing if mark.strip()))
    for line in _lines("number_cells_expected.csv"):
        outcome = _read(line["cell"], DOUBLE, missing=marks)
        assert _spelled(outcome) == (line["value"], line["cause_with_marks"]), line["cell"]
