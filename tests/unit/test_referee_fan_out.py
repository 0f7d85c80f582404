"""Clause `fan_out` against an oracle: the same aggregate over the base view alone, restricted to the rows that it met.

Schemas are trees of views that hang on each other by links to one row; statements join some of them in any order,
plainly, through a CTE, folded, or made distinct. What passes must give what the oracle gives.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import duckdb
from hypothesis import event, given
from hypothesis import strategies as st

from catalog.contract import Contract
from catalog.loading import load_contract
from catalog.referee.certified import Clause, Purpose
from catalog.referee.certify import certify
from catalog.referee.decisions import Abstained, Allowed, Decision
from trivet.documents import read_yaml

SENSITIVE = ("sum({})", "avg({})", "count({})", "median({})", "sum(CASE WHEN {} > 2 THEN {} END)")
HARMLESS = ("min({})", "max({})", "count(DISTINCT {})")
ROWS = 6
"""Rows of a view; each hangs on a row by its number, so that some rows are met often and some never."""


@dataclass(frozen=True, slots=True)
class Schema:
    """Views `v0`, `v1`, ...; `parents[n]` is the one that `v<n>` hangs on, by `up` on its `id`."""

    parents: tuple[int | None, ...]
    rows: tuple[tuple[tuple[int, int], ...], ...]
    """Of each view the rows: on which row of the parent each hangs, and its value."""

    def contract(self) -> Contract:
        """The contract of these views."""
        text = ["contract: {id: tree, version: 1.0.0}", "limits: {max_objects: 9}", "object_types:"]
        for number in range(len(self.parents)):
            text.append(f"  - {{name: v{number}, view: o.v{number}, primary_key: [id], properties: [")
            text.append(f"      {', '.join(f'{{name: {name}, type: integer}}' for name in ('id', 'up', 'x'))}]}}")
        links = [(number, parent) for number, parent in enumerate(self.parents) if parent is not None]
        text += ["link_types:"] if links else []
        for number, parent in links:
            ends = f"from: {{object: v{number}, keys: [up]}}, to: {{object: v{parent}, keys: [id]}}"
            text.append(f"  - {{name: to{parent}, {ends}, cardinality: many_to_one}}")
        document = read_yaml("\n".join(text) + "\n", file="contract.yaml").document
        assert document is not None
        contract = load_contract([document]).contract
        assert contract is not None
        return contract

    def build(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Makes the views as tables."""
        connection.execute("CREATE SCHEMA o")
        for number, rows in enumerate(self.rows):
            connection.execute(f"CREATE TABLE o.v{number} (id BIGINT, up BIGINT, x BIGINT)")
            connection.executemany(
                f"INSERT INTO o.v{number} VALUES (?, ?, ?)", [(place, up, x) for place, (up, x) in enumerate(rows)]
            )


@dataclass(frozen=True, slots=True)
class Question:
    """An aggregate over a join, and the same over one view alone."""

    sql: str
    oracle: str


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    """Up to four views, each but the first hanging on one before it."""
    count = draw(st.integers(2, 4))
    parents = (None, *(draw(st.integers(0, number - 1)) for number in range(1, count)))
    row = st.tuples(st.integers(0, ROWS - 1), st.integers(0, 4))
    return Schema(parents, tuple(tuple(draw(st.lists(row, min_size=1, max_size=ROWS))) for _ in parents))


@st.composite
def questions(draw: st.DrawFn, schema: Schema) -> Question:
    """A join of some views in a random order, each as it is, or folded, or made distinct on its keys."""
    links = [(number, parent) for number, parent in enumerate(schema.parents) if parent is not None]
    first = draw(st.integers(0, len(schema.parents) - 1))
    taken, joins = [first], []
    ctes: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        reachable = [
            (far, number, parent)
            for number, parent in links
            for far, near in ((number, parent), (parent, number))
            if near in taken and far not in taken
        ]
        if not reachable:
            break
        far, number, parent = draw(st.sampled_from(reachable))
        on = f"a{number}.up = a{parent}.id"
        side = draw(st.sampled_from(["JOIN", "JOIN", "LEFT JOIN"]))
        joins.append(f"{side} {draw(_shaped(far, far == number, ctes))} a{far} ON {on}")
        taken.append(far)
    # What is folded has other values than its view.
    whole = [number for number in taken if not any(f"FROM o.v{number} GROUP" in cte for cte in ctes)]
    base = draw(st.sampled_from(whole[:1] if draw(st.booleans()) else whole))
    aggregate = draw(st.sampled_from(SENSITIVE + HARMLESS))
    column = f"a{base}.x"
    joined = f"o.v{first} a{first} {' '.join(joins)}"
    measure = aggregate.replace("{}", column)
    with_ = f"WITH {', '.join(ctes)} " if ctes else ""
    if draw(st.booleans()):
        inner = f"SELECT {column} AS x FROM {joined}"
        sql = f"{with_}SELECT {aggregate.replace('{}', 'q.x')} AS n FROM ({inner}) q"
    else:
        sql = f"{with_}SELECT {measure} AS n FROM {joined}"
    met = f"SELECT a{base}.id FROM {joined}"
    alone = aggregate.replace("{}", "b.x")
    return Question(sql, f"{with_}SELECT {alone} AS n FROM o.v{base} b WHERE b.id IN ({met})")


@st.composite
def _shaped(draw: st.DrawFn, number: int, many: bool, ctes: list[str]) -> str:
    """The relation in whose place a view is read; the many side may be folded by its key to the parent."""
    shape = draw(st.sampled_from(["plain", "cte", "folded", "distinct"]))
    name = f"q{len(ctes)}"
    match shape:
        case "cte":
            ctes.append(f"{name} AS (SELECT id, up, x FROM o.v{number})")
        case "folded" if many:
            ctes.append(f"{name} AS (SELECT up, max(id) AS id, max(x) AS x FROM o.v{number} GROUP BY up)")
        case "distinct" if many:
            ctes.append(f"{name} AS (SELECT DISTINCT up, id, x FROM o.v{number})")
        case _:
            return f"o.v{number}"
    return name


def decision_on(question: Question, contract: Contract) -> Decision:
    return certify(question.sql, contract, Purpose.QUESTION)


def results(schema: Schema, question: Question) -> tuple[object, object]:
    with duckdb.connect() as connection:
        schema.build(connection)
        found = connection.execute(question.sql).fetchone()
        expected = connection.execute(question.oracle).fetchone()
    return found, expected


@given(st.data())
def test_no_aggregate_that_passes_takes_a_row_more_often_than_it_is_there(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    question = data.draw(questions(schema))
    decision = decision_on(question, schema.contract())
    event(type(decision).__name__)
    if isinstance(decision, Abstained):
        assert decision.objection.clause in (Clause.FAN_OUT, Clause.CERTIFIED_JOIN), decision.objection
    elif isinstance(decision, Allowed):
        found, expected = results(schema, question)
        assert found == expected, question.sql


TREES = [(None, 0), (None, 0, 0), (None, 0, 1), (None, 0, 0, 1)]


def test_an_aggregate_is_refused_only_where_some_data_would_be_counted_twice() -> None:
    """Every plain join of every small tree, over rows that hang on each other as unevenly as they can."""
    refused_in_vain = []
    for parents in TREES:
        rows = tuple(tuple((0, place + 1) for place in range(2)) for _ in parents)
        schema = Schema(parents, rows)
        contract = schema.contract()
        for order in itertools.permutations(range(len(parents))):
            for base in order:
                if (question := _plain(parents, order, base)) is None:
                    continue
                decision = decision_on(question, contract)
                if isinstance(decision, Abstained):
                    found, expected = results(schema, question)
                    if found == expected:
                        refused_in_vain.append(question.sql)
    assert refused_in_vain == []


def _plain(parents: tuple[int | None, ...], order: tuple[int, ...], base: int) -> Question | None:
    """The sum of one view over all of them joined in that order; None where one meets none before it."""
    joins, taken = [], [order[0]]
    for number in order[1:]:
        up = parents[number]
        keys = [f"a{number}.up = a{up}.id"] if up in taken else []
        keys += [f"a{child}.up = a{number}.id" for child in taken if parents[child] == number]
        if len(keys) != 1:
            return None
        joins.append(f"JOIN o.v{number} a{number} ON {keys[0]}")
        taken.append(number)
    joined = f"o.v{order[0]} a{order[0]} {' '.join(joins)}"
    met = f"SELECT a{base}.id FROM {joined}"
    return Question(
        f"SELECT sum(a{base}.x) AS n FROM {joined}", f"SELECT sum(b.x) AS n FROM o.v{base} b WHERE b.id IN ({met})"
    )
