"""What a view file may say, and in which order views are created."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from sources.view_rules import UNSTEADY_FUNCTIONS
from sources.views import View, read_view, read_views

SOURCES = ("payroll", "rates")


def _read(text: str, document: str = "views/pay.sql") -> View:
    view = read_view(document, text.encode())
    assert isinstance(view, View), [str(finding) for finding in view]
    return view


def _refusals(text: str | bytes, document: str = "views/pay.sql") -> list[str]:
    view = read_view(document, text.encode() if isinstance(text, str) else text)
    assert not isinstance(view, View)
    return [str(finding) for finding in view]


def _folder(tmp_path: Path, **files: str) -> Path:
    (tmp_path / "views").mkdir()
    for name, text in files.items():
        (tmp_path / "views" / f"{name}.sql").write_text(text)
    return tmp_path


def test_a_query_defines_the_view_that_its_file_is_named_after() -> None:
    view = _read("-- pay\nSELECT a FROM raw.payroll;\n-- end\n")
    assert view.qualified == "ontology.pay"
    assert view.statement == 'CREATE VIEW "ontology"."pay" AS -- pay\nSELECT a FROM raw.payroll;\n-- end\n'
    assert [relation.name for relation in view.reads] == ["raw.payroll"]


def test_a_create_statement_names_its_view_itself() -> None:
    view = _read("CREATE OR REPLACE VIEW people.pay_line AS (SELECT a FROM Raw.Payroll)")
    assert (view.qualified, view.reads[0].name) == ("people.pay_line", "raw.payroll")


@pytest.mark.parametrize(
    "query",
    [
        "WITH p AS (SELECT * FROM raw.payroll), q AS (SELECT * FROM p) SELECT * FROM q",
        "SELECT a FROM raw.payroll UNION ALL SELECT a FROM raw.rates",
        "FROM raw.payroll SELECT a",
        "SELECT p.a FROM raw.payroll p JOIN raw.rates r ON p.k = r.k",
        "SELECT u.x FROM raw.payroll p, unnest([1, 2]) AS u(x)",
        "SELECT * FROM raw.payroll UNPIVOT (v FOR n IN (a, b))",
        "SELECT * FROM (PIVOT raw.payroll ON a USING max(b))",
        "SELECT a FROM raw.payroll WHERE a IN (SELECT b FROM raw.rates)",
        "SELECT v.x FROM raw.payroll, (VALUES (1), (2)) AS v(x)",
        "SELECT a, row_number() OVER (PARTITION BY k ORDER BY d DESC) AS n FROM raw.payroll QUALIFY n = 1",
        "SELECT l.m FROM raw.payroll p, LATERAL (SELECT p.a + 1 AS m) AS l",
        "SELECT \"now\", t.current_date, 'random()' AS words FROM raw.payroll AS t",
    ],
)
def test_ordinary_queries_over_raw_tables_are_taken(query: str) -> None:
    assert "raw.payroll" in {relation.name for relation in _read(query).reads}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT * FROM read_csv('x.csv')", "1:15: table function"),
        ("SELECT *\nFROM read_text('/etc/passwd')", "2:6: table function"),
        ("SELECT a FROM raw.payroll WHERE EXISTS (FROM read_blob('x'))", "1:46: table function"),
        ("SELECT * FROM range(5)", "1:15: table function"),
        ("SELECT * FROM query('SELECT 1')", "1:15: table function"),
        ("SELECT * FROM query_table(['raw.payroll'])", "1:15: table function"),
        ("SELECT * FROM raw.read_csv('x')", "1:15: table function"),
        ("SELECT * FROM 'file.csv'", "1:15: 'file.csv' needs its schema"),
        ('SELECT * FROM "file.parquet"', "1:15: 'file.parquet' needs its schema"),
        ("SELECT * FROM payroll", "1:15: 'payroll' needs its schema"),
        ("SELECT * FROM (WITH p AS (SELECT 1) SELECT * FROM p), p", "1:55: 'p' needs its schema"),
        ("SELECT * FROM other.raw.payroll", "1:15: other.raw.payroll: leave the database out"),
        ("SELECT * FROM (SHOW TABLES)", "1:16: 'SHOW' needs its schema"),
        ("SELECT * FROM (DESCRIBE raw.payroll)", "DESCRIBE may not stand in a view"),
        ("SELECT * FROM (SUMMARIZE raw.payroll)", "SUMMARIZE may not stand in a view"),
        ("SELECT a FROM raw.payroll USING SAMPLE 10", "samples and parameters"),
        ("SELECT a FROM raw.payroll WHERE a = $1", "samples and parameters"),
        ("SELECT a FROM raw.payroll WHERE a = ?", "samples and parameters"),
        ("SELECT a,\n  now() FROM raw.payroll", "2:3: now varies"),
        ("SELECT CURRENT_DATE FROM raw.payroll", "1:8: current_date varies"),
        ('SELECT "random"() FROM raw.payroll', "1:8: random varies"),
        ("SELECT getenv('HOME') FROM raw.payroll", "1:8: getenv varies"),
        ("SELECT 1; SELECT 2", "holds 2 statements"),
        ("-- nothing", "holds 0 statements"),
        ("", "holds 0 statements"),
        ("DROP TABLE raw.payroll", "1:1: is no SELECT"),
        ("COPY raw.payroll TO 'x.csv'", "1:1: is no SELECT"),
        ("INSTALL httpfs", "1:1: is no SELECT"),
        ("WITH d AS (DELETE FROM raw.payroll RETURNING *) SELECT * FROM d", "DELETE may not stand in a view"),
        ("CREATE TABLE ontology.pay AS SELECT 1 AS a", "1:1: defines no view"),
        ("CREATE MACRO pay() AS 1", "1:1: defines no view"),
        ("CREATE TEMP VIEW ontology.pay AS SELECT 1 AS a", "write plain CREATE VIEW"),
        ("CREATE VIEW IF NOT EXISTS ontology.pay AS SELECT 1 AS a", "write plain CREATE VIEW"),
        ("CREATE VIEW other.ontology.pay AS SELECT 1 AS a", "write plain CREATE VIEW"),
        ("CREATE VIEW pay AS SELECT 1 AS a", "1:1: 'pay' needs its schema"),
        ("CREATE VIEW raw.pay AS SELECT 1 AS a", "cannot be put into the schema 'raw'"),
        ("CREATE VIEW main.pay AS SELECT 1 AS a", "cannot be put into the schema 'main'"),
        ("CREATE VIEW _trivet.pay AS SELECT 1 AS a", "cannot be put into the schema '_trivet'"),
        ('CREATE VIEW ontology."pay line" AS SELECT 1 AS a', "'pay line' is no name for a view"),
        ("SELECT a FROM\nFROM", "cannot be read as SQL"),
        ("SELECT 'unclosed", "cannot be read as SQL"),
        ("SELECT " + "(" * 5000 + "1" + ")" * 5000, "cannot be read as SQL"),
        ("SELECT a FROM raw.payroll --" + "x" * 300_000, "larger than 256 KB"),
    ],
)
def test_what_else_a_file_may_hold_is_refused_with_its_place(text: str, message: str) -> None:
    refusals = _refusals(text)
    assert any(message in refusal for refusal in refusals), refusals


def test_all_faults_of_a_view_are_said_at_once() -> None:
    refusals = _refusals("SELECT random() AS r\nFROM read_csv('x'), payroll")
    assert len(refusals) == 3


def test_bytes_that_are_no_text_are_refused_with_their_line() -> None:
    refusals = _refusals(b"SELECT a\nFROM raw.payroll -- \xff")
    assert refusals == ["views/pay.sql:2:1: byte 0xff is not UTF-8"]


def test_a_file_name_that_is_no_view_name_is_refused() -> None:
    refusals = _refusals("SELECT 1 AS a", "views/Pay-Line.sql")
    assert "'Pay-Line' is no name for a view" in refusals[0]


def test_views_come_after_the_views_that_they_read(tmp_path: Path) -> None:
    workspace = _folder(
        tmp_path,
        a="SELECT * FROM ontology.c",
        b="SELECT * FROM raw.payroll",
        c="SELECT * FROM ontology.b JOIN raw.rates USING (k)",
    )
    views, findings = read_views(workspace, "views", SOURCES)
    assert not findings
    assert [view.name for view in views] == ["b", "c", "a"]


def test_views_that_read_each_other_are_refused(tmp_path: Path) -> None:
    workspace = _folder(tmp_path, a="SELECT * FROM ontology.b", b="SELECT * FROM ontology.a")
    views, findings = read_views(workspace, "views", SOURCES)
    assert not views
    assert "these views read each other" in str(findings[0])


def test_a_view_that_reads_itself_is_refused(tmp_path: Path) -> None:
    _, findings = read_views(_folder(tmp_path, a="SELECT * FROM ontology.a"), "views", SOURCES)
    assert "ontology.a -> ontology.a" in str(findings[0])


def test_unknown_relations_are_refused_with_the_nearest_known_one(tmp_path: Path) -> None:
    workspace = _folder(tmp_path, a="SELECT *\nFROM raw.payrol", b="SELECT * FROM information_schema.tables")
    _, findings = read_views(workspace, "views", SOURCES)
    assert str(findings[0]) == (
        "views/a.sql:2:6: reads raw.payrol, which is neither a source nor a view; did you mean 'raw.payroll'?"
    )
    assert "reads information_schema.tables, which is neither" in str(findings[1])


def test_a_view_defined_twice_is_refused(tmp_path: Path) -> None:
    again = "CREATE VIEW ontology.a AS SELECT * FROM raw.rates"
    workspace = _folder(tmp_path, a="SELECT * FROM raw.payroll", b=again)
    _, findings = read_views(workspace, "views", SOURCES)
    assert [str(finding) for finding in findings] == [
        "views/b.sql:1:1: ontology.a is defined by views/a.sql already; a view has one file"
    ]


def test_a_workspace_without_views_has_none(tmp_path: Path) -> None:
    assert read_views(tmp_path, "views", SOURCES) == ((), [])


def test_a_view_file_that_links_out_of_the_workspace_is_refused(tmp_path: Path) -> None:
    outside = tmp_path / "outside.sql"
    outside.write_text("SELECT * FROM raw.payroll")
    workspace = tmp_path / "workspace"
    (workspace / "views").mkdir(parents=True)
    (workspace / "views" / "a.sql").symlink_to(outside)
    _, findings = read_views(workspace, "views", SOURCES)
    assert "leads out of the workspace" in str(findings[0])


def test_the_list_of_unsteady_functions_covers_what_the_engine_marks_volatile() -> None:
    steady = {"error"}  # it ends a query, and so cannot say two things
    with duckdb.connect() as connection:
        marked = connection.execute("""
            SELECT function_name FROM duckdb_functions() GROUP BY 1
            HAVING bool_or(stability = 'VOLATILE')
                OR bool_or(stability = 'CONSISTENT_WITHIN_QUERY' AND len(parameters) = 0)
        """).fetchall()
    assert {name for (name,) in marked} - steady - {"current_date"} <= UNSTEADY_FUNCTIONS
