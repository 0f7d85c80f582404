"""The quick form of the type rules and the readable one give the same value for every text.

The readable form is the one that the oracle judges. Here both read the same texts: every short one
over an alphabet of dangerous signs, every number text that was met, and ordinary texts with one or
two signs changed.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.contract import Property
from catalog.datatypes import BOOLEAN, DATE, DOUBLE, DURATION, INTEGER, TEXT, TIMESTAMP, DataType, decimal
from compiler.determinacy import PropertyRules
from compiler.dialects.duckdb_dialect import DuckDBDialect
from compiler.pruning import Relation, with_clause
from compiler.quick_rules import QuickRules
from tests.oracle import cells

CASES = Path(__file__).parents[1] / "cases" / "numbers"
DIALECT = DuckDBDialect()
DECIMALS = (decimal(12, 4), decimal(3, 1), decimal(2, 2), decimal(18, 0), decimal(38, 10))
TYPES = (TEXT, INTEGER, DOUBLE, BOOLEAN, DATE, TIMESTAMP, DURATION, *DECIMALS)
MARKS = ((), ("1", "-1", "n/a", "9.", "2024-02-03"))
WRITTEN = (
    "2024-02-03", "2024-02-03 10:00:00", "2024-02-03 10:00:00.123456", "2024-02-03T10:00:00Z", "0001-01-01",
    "9999-12-31 23:59:59.999999", "true", "false", "P1DT2H", "12345.6789", "-0.5", "1e22", "9223372036854775807",
)  # fmt: skip


def values(rules: PropertyRules) -> str:
    """A query over `texts` for each text and the value that the rules read in it."""
    places = (("text", "v", "texts AS v"), ("number", "t", "one AS t"), ("value", "t", "two AS t"))
    relations = []
    for (stage, alias, source), name in zip(places, ("one", "two", "three"), strict=True):
        selections = {
            "text": rules.text_stage,
            "number": rules.number_stage,
            "value": rules.value_stage,
        }[stage](alias)
        relations.append(Relation(name, (*selections, (f'{alias}."place"', "place")), source))
    return with_clause(relations, 'SELECT t."place", t."x" FROM three AS t', DIALECT)


def disagreements(texts: Iterable[str | None], types: Iterable[DataType], marks: tuple[str, ...]) -> list[object]:
    """Type, text, readable and quick value wherever they differ."""
    with duckdb.connect(":memory:") as connection:
        connection.execute("SET TimeZone = 'UTC'")
        listed = list(texts)
        connection.execute(
            "CREATE TABLE texts AS SELECT UNNEST(?::VARCHAR[]) AS x, UNNEST(range(?)) AS place", [listed, len(listed)]
        )
        return [found for data_type in types for found in _disagreements(connection, data_type, marks)]


def _disagreements(
    connection: duckdb.DuckDBPyConnection, data_type: DataType, marks: tuple[str, ...]
) -> Iterator[object]:
    declared, physical = Property("x", data_type, missing=marks), {"x": "VARCHAR"}
    slow, quick = (
        values(kind(declared, physical, DIALECT, "Australia/Sydney")) for kind in (PropertyRules, QuickRules)
    )
    rows = connection.execute(
        f"SELECT texts.x, slow.x, quick.x FROM ({slow}) AS slow JOIN ({quick}) AS quick USING (place) "
        f"JOIN texts USING (place) WHERE slow.x IS DISTINCT FROM quick.x ORDER BY place LIMIT 5"
    ).fetchall()
    yield from ((str(data_type), *row) for row in rows)


def every_text(alphabet: str, longest: int) -> Iterator[str]:
    """Every text of up to so many signs."""
    for length in range(longest + 1):
        yield from map("".join, product(alphabet, repeat=length))


def with_a_sign_changed(text: str, alphabet: str) -> Iterator[str]:
    """The text with one sign left out, put in, or put in place of another."""
    for place in range(len(text) + 1):
        yield text[:place] + text[place + 1 :]
        for sign in alphabet:
            yield text[:place] + sign + text[place:]
            yield text[:place] + sign + text[place + 1 :]


@pytest.mark.parametrize("marks", MARKS)
def test_every_short_text_has_one_value(marks: tuple[str, ...]) -> None:
    assert disagreements(every_text("019.+-e_xn a", 4), TYPES, marks) == []


@pytest.mark.slow
@pytest.mark.parametrize("marks", MARKS)
@pytest.mark.parametrize(("alphabet", "longest"), [("019.+-e_xn a", 5), ("1.+-e_ ", 7), ("-+.10E\t\0if", 5)])
def test_every_longer_text_has_one_value(alphabet: str, longest: int, marks: tuple[str, ...]) -> None:
    assert disagreements(every_text(alphabet, longest), TYPES, marks) == []


@pytest.mark.parametrize("marks", MARKS)
def test_every_text_that_is_nearly_a_value_has_one_value(marks: tuple[str, ...]) -> None:
    texts = {near for text in WRITTEN for near in with_a_sign_changed(text, "019-+.: _eTZ/")}
    assert disagreements(sorted(texts), TYPES, marks) == []


@pytest.mark.slow
def test_every_date_with_two_signs_changed_has_one_value() -> None:
    once = {near for text in WRITTEN[:2] for near in with_a_sign_changed(text, "0139-+: ")}
    twice = {near for text in once for near in with_a_sign_changed(text, "0139-+: ")}
    assert disagreements(sorted(twice), (DATE, TIMESTAMP), ()) == []


@pytest.mark.parametrize("marks", MARKS)
def test_every_number_text_that_was_met_has_one_value(marks: tuple[str, ...]) -> None:
    texts = []
    for name, column in (("number_texts.csv", "text"), ("number_cells.csv", "cell")):
        with (CASES / name).open(encoding="utf-8", newline="") as file:
            for line in csv.DictReader(file):
                text = line[column]
                texts.append(json.loads(f'"{text}"') if line.get("escaped") == "yes" else text)
    assert len(texts) > 100
    assert disagreements(texts, TYPES, marks) == []


@given(data=st.data(), data_type=st.sampled_from(TYPES), marks=st.sampled_from(MARKS))
def test_every_cell_of_a_generated_table_has_one_value(
    data: st.DataObject, data_type: DataType, marks: tuple[str, ...]
) -> None:
    texts = st.one_of(cells.cells(data_type, "VARCHAR"), st.text(max_size=12))
    drawn = data.draw(st.lists(texts, max_size=30))
    assert disagreements([None if text is None else str(text) for text in drawn], [data_type], marks) == []
