"""What an objection says: where the offending part stands, and the certified way to say it."""

from __future__ import annotations

import pytest

from catalog.referee.certified import Clause
from tests.unit.refereeing import allowed, objection
from tests.unit.test_referee import CERTIFIED, read_contract


@pytest.mark.parametrize(
    ("sql", "part"),
    [
        ("SELECT site,\n  getenv('HOME') AS h FROM ontology.readings", "getenv('HOME')"),
        ("SELECT upper(getenv( lower('A') )) AS h FROM ontology.readings", "getenv( lower('A') )"),
        ("SELECT note FROM main . internal_notes", "main . internal_notes"),
        ("SELECT r.* FROM ontology.readings r", "*"),
        ("SELECT site, turb FROM ontology.readings", "turb"),
        ("SELECT r.turb AS t FROM ontology.readings r", "r.turb"),
        ("SELECT region FROM ontology.customers WHERE lower(Email) = 'x'", "Email"),
        ("SELECT o.order_id FROM ontology.orders o JOIN ontology.customers c ON o.order_id=c.customer_id", None),
        ("SELECT site FROM ontology.readings r WHERE site = 'é' AND ( getenv('A') ) = 'x'", "getenv('A')"),
        ("SELECT site\x07 FROM ontology.readings", "\x07"),
        ("SELECT site FROM ontology.readings WHERE", None),
        ("SELECT 2.17 AS n, site FROM ontology.readings", "2.17"),
        ("EXPORT DATABASE 'dump'", "'dump'"),
    ],
)
def test_an_objection_says_where_in_the_given_text_it_stands(sql: str, part: str | None) -> None:
    span = objection(sql).span
    assert part is None or (span is not None and sql[slice(*span)] == part)


@pytest.mark.parametrize(
    ("sql", "suggestion"),
    [
        ("SELECT site FROM readings", "ontology.readings"),
        ("SELECT mean(turbidity_ntu) AS m FROM ontology.readings", "AVG"),
        (
            "SELECT o.order_id FROM ontology.orders o, ontology.customers c",
            "JOIN ontology.customers AS c ON o.customer_id = c.customer_id",
        ),
        (
            "SELECT c.region FROM ontology.customers c JOIN ontology.orders o ON o.order_id = c.customer_id",
            "JOIN ontology.orders AS o ON o.customer_id = c.customer_id",
        ),
        ("SELECT l.line_no FROM ontology.order_lines l, ontology.returns t", None),
        ("SELECT p.pay FROM ontology.pay_lines p, ontology.pay_floors f", None),
        (
            "SELECT count(o.order_id) FROM ontology.orders o JOIN ontology.order_lines l ON l.order_id = o.order_id",
            "COUNT(DISTINCT o.order_id)",
        ),
    ],
)
def test_an_objection_tells_the_certified_way_where_there_is_one(sql: str, suggestion: str | None) -> None:
    assert objection(sql).suggestion == suggestion


def test_an_objection_to_a_measure_tells_the_metrics_and_to_a_reading_its_filters() -> None:
    assert objection("SELECT count(*) AS n FROM ontology.customers", CERTIFIED).suggestion == (
        "count(DISTINCT customer_id) AS customer_count"
    )
    found = objection("SELECT order_id FROM ontology.orders o WHERE legal_entity = 'US'", CERTIFIED)
    assert (found.suggestion, found.text) == ("o.fiscal_period = '...'", "ontology.orders AS o")


def test_a_join_over_a_dated_link_is_refused_with_the_reason() -> None:
    joined = "ontology.pay_lines p JOIN ontology.pay_floors f ON p.grade = f.grade AND p.step = f.step"
    assert "stand in time" in objection(f"SELECT p.pay FROM {joined}").message


def test_the_suggestion_for_a_join_is_certified_itself() -> None:
    found = objection("SELECT c.region FROM ontology.customers c, ontology.orders o").suggestion
    assert found is not None
    allowed(f"SELECT c.region FROM ontology.customers c {found}")


_HELD = "fiscal_period = '2025-Q3' AND legal_entity = 'US'"


@pytest.mark.parametrize(
    ("value", "name", "suggestion"),
    [
        ("avg(net_amount)", "net_revenue", None),
        ("max(net_amount)", "net_revenue", "sum(net_amount) AS net_revenue"),
        (
            "sum(net_amount) / count(DISTINCT order_id)",
            "revenue_per_order",
            "round(sum(net_amount) / nullif(count(DISTINCT order_id), 0), 2) AS revenue_per_order",
        ),
        ("sum(net_amount)", "revenue_less_lines", "sum(net_amount) - sum(line_amount) AS revenue_less_lines"),
        (
            "sum(net_amount)",
            "revenue_growth",
            "(sum(net_amount) - lag(sum(net_amount)) OVER (ORDER BY fiscal_period))"
            " / nullif(abs(lag(sum(net_amount)) OVER (ORDER BY fiscal_period)), 0) AS revenue_growth",
        ),
        (
            "sum(net_amount)",
            "mean_monthly_revenue",
            "avg(net_revenue) over groups by date_trunc('month', order_date) of sum(net_amount) AS net_revenue"
            " AS mean_monthly_revenue",
        ),
    ],
)
def test_what_bears_a_metrics_name_wrongly_is_told_its_sql(value: str, name: str, suggestion: str | None) -> None:
    found = objection(f"SELECT {value} AS {name} FROM ontology.orders WHERE {_HELD}", CERTIFIED)
    assert found.clause is Clause.CERTIFIED_METRIC
    assert suggestion is None or found.suggestion == suggestion


def test_a_suggestion_for_a_name_is_certified_itself() -> None:
    named = f"SELECT sum(net_amount) AS revenue_per_order FROM ontology.orders WHERE {_HELD}"
    suggestion = objection(named, CERTIFIED).suggestion
    allowed(f"SELECT {suggestion} FROM ontology.orders WHERE {_HELD}", CERTIFIED)


def test_an_average_without_a_metric_is_told_the_means_and_ratios_over_its_view() -> None:
    found = objection(f"SELECT avg(net_amount) AS n FROM ontology.orders WHERE {_HELD}", CERTIFIED)
    assert found.suggestion is not None
    assert "round(sum(net_amount) / nullif(count(DISTINCT order_id), 0), 2) AS revenue_per_order" in found.suggestion


def test_what_is_counted_below_its_grain_is_told_to_count_it_once() -> None:
    found = objection("SELECT count(order_id) AS n FROM ontology.order_lines", CERTIFIED)
    assert (found.clause, found.suggestion) == (Clause.REQUIRED_GRAIN, "count(DISTINCT order_id)")


CLINIC = read_contract("clinic.yaml")


@pytest.mark.parametrize(
    ("sql", "message", "suggestion"),
    [
        (
            "SELECT sample_id FROM gov.samples WHERE dose > limit_dose",
            "it puts mg/L and ug/L together, which SQL does not convert",
            "samples.dose * 1000, which is in ug/L",
        ),
        (
            "SELECT sum(charge) + sum(deposit) AS n FROM gov.visits WHERE fiscal_year = 'FY2025'",
            "it puts USD and EUR together: currencies are never converted",
            None,
        ),
        (
            "SELECT sum(charge) * 1.1 AS n FROM gov.visits WHERE fiscal_year = 'FY2025'",
            "a metric is not changed by a figure that the statement brings along",
            "SUM(visits.charge)",
        ),
        (
            "SELECT sum(charge) / greatest(count(*), 1) AS n FROM gov.visits WHERE fiscal_year = 'FY2025'",
            "no figure of the statement's own stands in a metric's place",
            "NULLIF(COUNT(*), 0)",
        ),
        (
            "SELECT sum(used) AS n FROM gov.occupancy",
            "'used' is semi_additive: group by day, or hold it to one literal",
            None,
        ),
        (
            "SELECT h.city FROM gov.visits v JOIN gov.houses h ON h.house_code = v.ward_code",
            "the contract has no link between houses and visits; both are linked to wards",
            None,
        ),
        (
            "SELECT count(*) AS n FROM gov.patients p LEFT JOIN gov.visits v ON v.patient_id = p.patient_id",
            "COUNT(*) also counts the rows that an outer join puts in where it finds none",
            "COUNT(v.visit_id)",
        ),
        (
            "SELECT count(*) AS visits_by_month FROM gov.visits WHERE fiscal_year = 'FY2025'",
            "it bears the name of metric 'visits_by_month', which is period_over_period of visit_count by month of"
            " admitted_on, the row before being that of the period before",
            "CASE WHEN lag(date_trunc('month', admitted_on)) OVER (ORDER BY date_trunc('month', admitted_on))"
            " = date_trunc('month', admitted_on) - INTERVAL 1 month"
            " THEN count(*) - lag(count(*)) OVER (ORDER BY date_trunc('month', admitted_on)) END AS visits_by_month",
        ),
    ],
)
def test_an_objection_says_what_is_wrong_and_how_it_is_said_instead(
    sql: str, message: str, suggestion: str | None
) -> None:
    found = objection(sql, CLINIC)
    assert (found.message, found.suggestion) == (message, suggestion)
