"""Periods that are texts: what a list of them leaves out, and balances that are held by them."""

from __future__ import annotations

import pytest

from catalog.referee.certified import Clause
from catalog.referee.period_gaps import has_gap
from tests.unit.refereeing import allowed, contract_of, objection

BALANCES = contract_of(
    "contract: {id: c, version: 1.0.0}\n"
    "object_types:\n"
    "  - name: balances\n"
    "    view: ontology.balances\n"
    "    primary_key: [account, period]\n"
    "    properties:\n"
    "      - {name: account, type: text}\n"
    "      - {name: period, type: text}\n"
    "      - {name: balance, type: integer, additivity: semi_additive}\n"
    "      - {name: staff, type: integer}\n"
    "metrics:\n"
    "  - {name: total, object: balances, expression: sum(balance)}\n"
    "  - {name: headcount, object: balances, expression: sum(staff), additivity: semi_additive}\n"
    "  - {name: rise, derived: {period_over_period: {of: total, period: period}}}\n"
)
VIEW = "ontology.balances"


@pytest.mark.parametrize(
    ("values", "gap"),
    [
        (["2025-Q3"], False),
        (["anything"], False),
        (["2024-Q4", "2025-Q1"], False),
        (["2024-Q3", "2025-Q1"], True),
        (["2024-12", "2025-01", "2025-02"], False),
        (["2024-12", "2025-02"], True),
        (["2023", "2024"], False),
        (["2022", "2024"], True),
        (["FY2023", "FY2024"], False),
        (["2024-02-28", "2024-02-29", "2024-03-01"], False),
        (["2024-02-28", "2024-03-01"], True),
        (["2024-02-30", "2024-03-01"], True),
        (["2024", "2024-Q1"], True),
        (["Q1 2025", "Q2 2025"], True),
        (["first", "second"], True),
    ],
)
def test_a_list_of_periods_leaves_one_out_or_cannot_be_told(values: list[str], gap: bool) -> None:
    assert has_gap(values) is gap


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT period, sum(balance) AS total FROM {VIEW} GROUP BY period",
        f"SELECT sum(balance) AS total FROM {VIEW} WHERE period = '2025-Q3'",
        f"SELECT period, sum(staff) AS headcount FROM {VIEW} GROUP BY period",
        f"WITH q AS (SELECT period AS p, balance AS b FROM {VIEW}) SELECT q.p, sum(q.b) AS n FROM q GROUP BY q.p",
        f"SELECT period, sum(balance) - lag(sum(balance)) OVER (ORDER BY period) AS rise FROM {VIEW}"
        " WHERE period IN ('2025-Q2', '2025-Q3') GROUP BY period",
    ],
)
def test_a_balance_is_summed_at_one_period_that_the_contract_names(sql: str) -> None:
    allowed(sql, BALANCES)


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT sum(balance) AS n FROM {VIEW}",
        f"SELECT account, sum(balance) AS n FROM {VIEW} GROUP BY account",
        f"SELECT account, sum(staff) AS headcount FROM {VIEW} GROUP BY account",
        f"SELECT sum(q.n) AS m FROM (SELECT period, sum(balance) AS n FROM {VIEW} GROUP BY period) q",
        f"SELECT sum(q.n) AS m FROM (SELECT period, sum(staff) AS n FROM {VIEW} GROUP BY period) q",
        f"SELECT sum(balance) AS n FROM {VIEW} WHERE period IN ('2025-Q2', '2025-Q3')",
    ],
)
def test_a_balance_is_not_summed_over_periods(sql: str) -> None:
    assert objection(sql, BALANCES).clause is Clause.ADDITIVITY
