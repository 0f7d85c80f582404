"""CSV files, sound and hostile, against what each must become: the cases are in `tests/cases/csv`."""

from __future__ import annotations

import csv
import json
import tempfile
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sources.csv_files import CsvDialect, stage_csv
from sources.identifiers import quoted
from sources.ingest import ingest
from sources.raw_tables import RawTable, create_raw_table
from sources.workspace_files import matching_files
from trivet.clock import SystemClock
from trivet.errors import InputError

CASES = Path(__file__).parent.parent / "cases" / "csv"
DOCUMENT = "sources/case.csv"


def _workspace(folder: Path, content: bytes, dialect: dict[str, str]) -> Path:
    (folder / "sources").mkdir()
    (folder / DOCUMENT).write_bytes(content)
    source = {"name": "cells", "files": DOCUMENT} | dialect
    (folder / "sources.yaml").write_text(json.dumps({"sources": [source]}))
    return folder


def _loaded(warehouse: Path) -> tuple[list[str], list[list[Any]]]:
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{warehouse}' AS warehouse (READ_ONLY)")
        result = connection.execute("SELECT * FROM warehouse.raw.cells ORDER BY _source_row")
        names = [column[0] for column in result.description]
        return names, [list(row) for row in result.fetchall()]


@pytest.mark.parametrize("name", sorted(path.stem for path in CASES.glob("*.csv")))
def test_a_csv_file_becomes_exactly_what_its_case_says(name: str, tmp_path: Path) -> None:
    expected = json.loads((CASES / f"{name}.json").read_text(encoding="utf-8"))
    content = (CASES / f"{name}.csv").read_bytes()
    workspace = _workspace(tmp_path, content, expected.get("dialect", {}))
    warehouse = workspace / "warehouse.duckdb"
    if "findings" in expected:
        with pytest.raises(InputError) as caught:
            ingest(workspace, warehouse=warehouse, keep=1, clock=SystemClock())
        assert [str(finding) for finding in caught.value.findings] == [
            text.replace("FILE", DOCUMENT, 1) for text in expected["findings"]
        ]
        assert not warehouse.exists()
        return
    report = ingest(workspace, warehouse=warehouse, keep=1, clock=SystemClock())
    names, rows = _loaded(warehouse)
    assert names == [*expected["columns"], "_source_document", "_source_table", "_source_page", "_source_row"]
    assert rows == [[*cells, DOCUMENT, "cells", None, row] for *cells, row in expected["records"]]
    assert report.tables[0].documents[0].blank_lines == expected["blank_lines"]
    assert report.tables[0].documents[0].bytes == len(content)


def test_every_case_has_both_its_files() -> None:
    files = {path.stem for path in CASES.glob("*.csv")}
    assert files == {path.stem for path in CASES.glob("*.json")}
    assert len(files) >= 40


_CELLS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)


@settings(max_examples=60, deadline=None)
@given(width=st.integers(1, 4), data=st.data(), quoting=st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]))
def test_any_cells_that_a_csv_writer_writes_come_back_unchanged(width: int, data: st.DataObject, quoting: Any) -> None:
    records = data.draw(st.lists(st.lists(_CELLS, min_size=width, max_size=width), max_size=6))
    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as connection:
        path = Path(folder) / "cells.csv"
        with path.open("w", encoding="utf-8", newline="") as written:
            csv.writer(written, quoting=quoting).writerows([[f"c{number}" for number in range(width)], *records])
        file = matching_files(Path(folder), "cells.csv")[0]
        staged = stage_csv(file, CsvDialect(), Path(folder) / "copy.csv")
        connection.execute("CREATE SCHEMA raw")
        create_raw_table(connection, RawTable("cells", "csv", (staged,)))
        cells = ", ".join(quoted(column.name) for column in staged.columns)
        loaded = connection.execute(f"SELECT {cells} FROM raw.cells ORDER BY _source_row").fetchall()
    assert [list(row) for row in loaded] == records


@pytest.mark.slow
def test_a_million_records_keep_their_order_and_row_numbers(tmp_path: Path) -> None:
    path = tmp_path / "big.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write("id,note,nothing\n")
        for number in range(1_000_000):
            note = f'"line ""{number}""\nsecond, line\r\n"' if number % 7 == 0 else "x"
            file.write(f"E{number},{note},\n")
    staged = stage_csv(matching_files(tmp_path, "big.csv")[0], CsvDialect(), tmp_path / "copy.csv")
    with duckdb.connect(config={"threads": "4"}) as connection:
        connection.execute("CREATE SCHEMA raw")
        create_raw_table(connection, RawTable("big", "csv", (staged,)))
        counts = connection.execute("""
            SELECT count(*), count(DISTINCT _source_row), min(_source_row), max(_source_row),
                   count(*) FILTER (id <> 'E' || (_source_row - 2)),
                   count(*) FILTER (_source_row <> rowid + 2),
                   count(*) FILTER (nothing IS NULL),
                   count(*) FILTER (ends_with(note, chr(10) || 'second, line' || chr(13) || chr(10)))
            FROM raw.big""").fetchall()
    assert counts == [(1_000_000, 1_000_000, 2, 1_000_001, 0, 0, 0, 142_858)]
