"""The referee under purpose `monitor`: every case of `tests/cases/referee`, and what holds of any text."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.contract import Contract
from catalog.loading import load_contract
from catalog.referee.certified import CertifiedQuery, Clause, Purpose
from catalog.referee.certify import Abstained, Allowed, Decision, certified_or_fault, certify
from catalog.referee.rules import RULES
from catalog.referee.statement import Objection
from trivet.documents import read_yaml
from trivet.errors import InternalError

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "tests" / "cases" / "referee"
CLAUSES = [Clause.TEXT, *(rule.clause for rule in RULES[Purpose.MONITOR])]
SECRET = "do not disclose"  # noqa: S105
"""What `main.internal_notes` of the fixture holds."""


def cases(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (CASES / f"{name}.jsonl").read_text("utf-8").splitlines()]


def statements(name: str) -> list[str]:
    return [case["sql"] for case in cases(name)]


def read_contract(name: str = "contract.yaml") -> Contract:
    document = read_yaml((CASES / name).read_bytes(), file=name).document
    assert document is not None
    contract = load_contract([document]).contract
    assert contract is not None
    return contract


CONTRACT = read_contract()
CERTIFIED = read_contract("certified.yaml")
"""The same with metrics and mandatory filters."""


def judge(sql: str) -> Decision:
    return certify(sql, CONTRACT, Purpose.MONITOR)


def objection(sql: str) -> Objection:
    decision = judge(sql)
    assert isinstance(decision, Abstained), decision
    return decision.objection


def printed(sql: str) -> str:
    decision = judge(sql)
    assert isinstance(decision, Allowed), decision.objection
    return " ".join(decision.query.sql.split())


@pytest.fixture(scope="module")
def shop() -> Iterator[duckdb.DuckDBPyConnection]:
    """The fixture, with undeclared columns and raw tables wherever a statement could stray to."""
    with duckdb.connect() as connection:
        connection.execute((CASES / "fixture.sql").read_text("utf-8"))
        hidden = ", ".join(f"'{SECRET}' AS {name}" for name in ("secret", "note", "n", "x", "a"))
        connection.execute(
            f"CREATE OR REPLACE VIEW ontology.readings AS SELECT *, {hidden} FROM raw_extracted.t_readings"
        )
        for name in ("t", "x", "a", "b", "c", "q", "r", "o", "readings", "orders", "customers"):
            connection.execute(f"CREATE TABLE main.{name} AS SELECT '{SECRET}' AS site, {hidden}")
        yield connection


@pytest.mark.parametrize("clause", CLAUSES)
def test_a_clause_refuses_each_of_its_cases(clause: Clause) -> None:
    found = {sql: objection(sql).clause for sql in statements(clause)}
    assert {sql: named for sql, named in found.items() if named is not clause} == {}


def test_every_clause_has_cases() -> None:
    assert [clause for clause in Clause if not cases(clause)] == []


@pytest.mark.parametrize("sql", statements("allowed"))
def test_a_harmless_statement_passes_and_runs(sql: str, shop: duckdb.DuckDBPyConnection) -> None:
    decision = judge(sql)
    assert isinstance(decision, Allowed), decision.objection
    assert SECRET not in str(shop.execute(decision.query.sql).fetchall())


@pytest.mark.parametrize("case", cases("attacks"), ids=lambda case: case["id"])
def test_the_attack_corpus_comes_to_what_it_says(case: dict[str, Any]) -> None:
    decision = judge(case["sql"])
    passes = isinstance(decision, Allowed)
    assert case["monitor"] == "later" or passes == (case["monitor"] == "allowed"), decision


def test_an_attack_waits_for_a_later_clause_only_where_the_readme_says_so() -> None:
    readme = (CASES / "README.md").read_text("utf-8")
    named = set(re.findall(r"\b[CG]\d{3}\b", readme))
    for first, last in re.findall(r"\b(G\d{3}) to (G\d{3})\b", readme):
        named |= {case["id"] for case in cases("attacks") if first <= case["id"] <= last}
    assert {case["id"] for case in cases("attacks") if case["monitor"] == "later"} == named


def test_no_statement_stands_in_two_files() -> None:
    every = [sql for name in ("allowed", "questions", "measured_questions", *Clause) for sql in statements(name)]
    assert len(every) == len(set(every))


def test_what_is_certified_is_the_printed_tree_without_comments() -> None:
    assert printed("select site -- */ drop\nfrom ontology.readings /* x */;") == (
        "SELECT readings.site AS site FROM ontology.readings AS readings"
    )


def test_a_hint_is_a_comment_and_is_dropped() -> None:
    assert "hint" not in printed("SELECT /*+ hint */ site FROM ontology.readings")


def test_a_certificate_names_every_clause_once_and_in_order() -> None:
    decision = judge("SELECT site FROM ontology.readings")
    assert isinstance(decision, Allowed)
    assert [line.clause for line in decision.query.certificate] == CLAUSES
    assert all(line.satisfied_by for line in decision.query.certificate)
    assert decision.query.contract == CONTRACT.reference()
    assert decision.query.purpose is Purpose.MONITOR


def test_certifying_what_was_certified_changes_nothing() -> None:
    for sql in statements("allowed"):
        once = printed(sql)
        assert printed(once) == once


def test_the_first_clause_that_objects_is_named() -> None:
    stray = "SELECT *, getenv('HOME') FROM main.internal_notes"
    assert objection(stray).clause is Clause.FUNCTION_ALLOW_LIST
    assert objection(f"{stray}; SELECT 1").clause is Clause.ONE_STATEMENT
    assert objection(f"{stray}\r").clause is Clause.TEXT


@pytest.mark.parametrize(
    ("sql", "message", "text"),
    [
        ("SELECT getenv('A') FROM ontology.readings", "function 'getenv' is not on the list", "GETENV('A')"),
        ("SELECT note FROM main.internal_notes", "'main.internal_notes' is not a governed view", "main.internal_notes"),
        ("DROP VIEW ontology.readings", "only a SELECT is run, not DROP", ""),
        ("SELECT a\u00a0FROM x", "character '\\xa0' outside a string literal", "\u00a0"),
        ("SELECT a\r", "control character U+000D at offset 8", ""),
        (
            "SELECT main.r.site FROM ontology.readings r",
            "'main.r.site' belongs to no relation here",
            "main.r.site",
        ),
        ("SELECT 1 AS n FROM ontology.readings r GROUP BY 1", "name the column instead of its position", "1"),
        (
            "SELECT a.site FROM ontology.readings a NATURAL JOIN ontology.orders b",
            "syntax 'JOIN NATURAL' is not on the list",
            "NATURAL JOIN ontology.orders AS b",
        ),
    ],
)
def test_an_objection_says_what_and_where(sql: str, message: str, text: str) -> None:
    found = objection(sql)
    assert (found.message, found.text) == (message, text)


def test_names_of_the_contract_may_have_capitals() -> None:
    document = read_yaml(
        "contract: {id: c, version: 1.0.0}\n"
        "object_types:\n"
        "  - {name: Pay, view: Ontology.PayLine, primary_key: [Id], properties: [{name: Id, type: text}]}\n",
        file="contract.yaml",
    ).document
    assert document is not None
    contract = load_contract([document]).contract
    assert contract is not None
    for sql in ("SELECT Id FROM Ontology.PayLine", 'SELECT p."Id" FROM "Ontology"."PayLine" AS p'):
        assert isinstance(certify(sql, contract, Purpose.MONITOR), Allowed)
    assert isinstance(certify("SELECT Id2 FROM Ontology.PayLine", contract, Purpose.MONITOR), Abstained)


DEEP = 3000
NESTED = {
    "brackets": "SELECT " + "(" * DEEP + "1" + ")" * DEEP + " FROM ontology.readings",
    "not": "SELECT site FROM ontology.readings WHERE " + "NOT " * DEEP + "TRUE",
    "minus": "SELECT " + "- " * DEEP + "1 FROM ontology.readings",
    "case": "SELECT " + "CASE WHEN TRUE THEN " * DEEP + "1" + " END" * DEEP + " FROM ontology.readings",
    "functions": "SELECT " + "ABS(" * DEEP + "1" + ")" * DEEP + " FROM ontology.readings",
    "casts": "SELECT site" + "::TEXT" * DEEP + " FROM ontology.readings",
    "dots": "SELECT site" + ".a" * DEEP + " FROM ontology.readings",
    "subqueries": "SELECT site FROM " + "(SELECT site FROM " * 700 + "ontology.readings" + ") x" * 700,
    "lists": "SELECT " + "[" * DEEP + "1" + "]" * DEEP + " FROM ontology.readings",
    "comments": "SELECT site FROM ontology.readings " + "/*" * DEEP,
    "open brackets": "SELECT " + "(" * DEEP,
}


@pytest.mark.parametrize("sql", NESTED.values(), ids=NESTED)
def test_what_is_nested_too_deeply_is_refused_and_crashes_nothing(sql: str) -> None:
    found = objection(sql)
    assert found.clause in (Clause.TEXT, Clause.ONE_STATEMENT, Clause.NODE_ALLOW_LIST)
    assert len(found.message) < 300


JOINS = "".join(f" JOIN ontology.orders b{number} ON TRUE" for number in range(100))
LONG = {
    "sum": "SELECT " + "1 + " * 1500 + "1 AS n FROM ontology.readings",
    "choices": f"SELECT site FROM ontology.readings WHERE site IN ({', '.join(['1'] * 5000)})",
    "joins": f"SELECT a.site FROM ontology.readings a{JOINS}",
    "literal": f"SELECT '{'a' * 200_000}' AS n FROM ontology.readings",
}


@pytest.mark.parametrize("sql", LONG.values(), ids=LONG)
def test_a_long_statement_is_judged_like_a_short_one(sql: str) -> None:
    assert isinstance(judge(sql), Allowed)


@given(st.text())
def test_any_text_at_all_is_judged(text: str) -> None:
    assert isinstance(judge(text), Allowed | Abstained)


_TOKEN = re.compile(r"\s+|'[^']*'|\"[^\"]*\"|\w+|.", re.DOTALL)
_SEEDS = [
    _TOKEN.findall(sql)
    for name in ("allowed", Clause.RELATION_ALLOW_LIST, Clause.KNOWN_COLUMNS, Clause.NO_STAR, Clause.NODE_ALLOW_LIST)
    for sql in statements(name)
]
_WORDS = [*sorted({token for seed in _SEEDS for token in seed}), "secret", "note", "internal_notes", "main"]


@st.composite
def garbled(draw: st.DrawFn) -> str:
    """Statements with some tokens put in, taken out, exchanged, or grafted from another statement."""
    tokens = list(draw(st.sampled_from(_SEEDS)))
    for _ in range(draw(st.integers(1, 4))):
        at, length = draw(st.integers(0, len(tokens))), draw(st.integers(0, 2))
        graft = draw(st.one_of(st.lists(st.sampled_from(_WORDS), max_size=2), st.sampled_from(_SEEDS)))
        start = draw(st.integers(0, len(graft)))
        tokens[at : at + length] = graft[start : start + 10]
    return "".join(tokens)


@given(garbled())
def test_no_garbled_statement_that_passes_shows_what_is_not_governed(shop: duckdb.DuckDBPyConnection, sql: str) -> None:
    decision = judge(sql)
    if isinstance(decision, Abstained):
        return
    try:
        rows = shop.execute(decision.query.sql).fetchmany(100)
    except duckdb.Error:
        return
    assert SECRET not in str(rows)


def test_compiled_sql_that_the_referee_refuses_is_a_fault_of_ours() -> None:
    with pytest.raises(InternalError, match=r"refused by clause no_star: name the columns instead of \*"):
        certified_or_fault("SELECT * FROM ontology.readings", CONTRACT, Purpose.MONITOR, "duckdb")
    query = certified_or_fault("SELECT site FROM ontology.readings", CONTRACT, Purpose.MONITOR, "duckdb")
    assert repr(query).startswith("CertifiedQuery(monitor, ")


@pytest.mark.parametrize("seal", [None, object(), "SEAL", True])
def test_only_the_referee_makes_a_certified_query(seal: object) -> None:
    with pytest.raises(InternalError, match="is made by catalog"):
        CertifiedQuery("SELECT 1", Purpose.MONITOR, {}, (), seal=seal)


def test_only_the_referee_names_the_seal() -> None:
    naming = set()
    for file in ROOT.glob("*/**/*.py"):
        place = file.relative_to(ROOT).as_posix()
        if not place.startswith((".", "tests/")) and "SEAL" in file.read_text("utf-8"):
            names = {node.id for node in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(node, ast.Name)}
            naming |= {place} if "SEAL" in names else set()
    assert naming == {"catalog/referee/certified.py", "catalog/referee/certify.py"}


def test_a_certified_query_cannot_be_changed() -> None:
    query = certified_or_fault("SELECT site FROM ontology.readings", CONTRACT, Purpose.MONITOR, "duckdb")
    query.contract["id"] = "another"
    assert query.contract == CONTRACT.reference()
    with pytest.raises(AttributeError):
        query.sql = "DROP VIEW ontology.readings"  # type: ignore[misc]
