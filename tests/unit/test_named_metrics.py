"""Metrics by name in monitors: a name decides what its expression decides, and the hash follows the contract."""

from __future__ import annotations

import pytest

from catalog.contract import Contract
from compiler.words import explain_monitor
from monitors.definition import MonitorDefinition
from monitors.loading import load_monitors
from tests.unit.test_referee_questions import contract_of
from trivet.documents import read_yaml

CONTRACT = """\
contract: {id: shop, version: 1.0.0}
object_types:
  - name: orders
    view: ontology.orders
    primary_key: [id]
    properties:
      - {name: id, type: text}
      - {name: region, type: text}
      - {name: status, type: text}
      - {name: day, type: date}
      - {name: amount, type: "decimal(12,2)", unit: USD}
      - {name: returned, type: "decimal(12,2)", unit: USD}
metrics:
  - {name: gross, object: orders, expression: sum(amount)}
  - {name: returns, object: orders, expression: sum(returned)}
  - {name: order_count, object: orders, expression: count()}
  - {name: kept, object: orders, expression: avg(amount), mandatory_filters: [{property: status, value: literal}]}
  - {name: net, derived: {difference: [gross, returns]}, unit: USD}
  - {name: net_per_order, derived: {ratio: [net, order_count]}}
  - {name: growth, derived: {period_over_period: {of: gross, period: day, by: month, relative: true}}}
"""
CERTIFIED = contract_of(CONTRACT)


def definition(monitor: str, contract: Contract = CERTIFIED) -> MonitorDefinition:
    document = read_yaml(f"monitors:\n  - {{id: m, object: orders, {monitor}}}\n", file="m.yaml").document
    assert document is not None
    result = load_monitors([document], contract)
    assert not result.findings, [str(finding) for finding in result.findings]
    return result.monitors[0]


@pytest.mark.parametrize(
    ("named", "written"),
    [
        ("group_by: [region], breach_when: gross < 1000", "group_by: [region], breach_when: sum(amount) < 1000"),
        ("group_by: [], breach_when: not gross < 1000", "group_by: [], breach_when: not sum(amount) < 1000"),
        (
            "group_by: [], breach_when: net between 1 and 2 or net in (7)",
            "group_by: [],"
            " breach_when: sum(amount) - sum(returned) between 1 and 2 or sum(amount) - sum(returned) in (7)",
        ),
        (
            "group_by: [region], breach_when: net_per_order > 5%",
            "group_by: [region], breach_when: (sum(amount) - sum(returned)) / count() > 0.05",
        ),
        (
            "group_by: [{period: month, of: day}], breach_when: growth < -5% and change(gross) < 0",
            "group_by: [{period: month, of: day}],"
            " breach_when: relative_change(sum(amount)) < -0.05 and change(sum(amount)) < 0",
        ),
        (
            "group_by: [], where: region = 'N' and status in ('a'), breach_when: abs(kept) > 5, recover_when: kept < 4",
            "group_by: [], where: region = 'N' and status in ('a'),"
            " breach_when: abs(avg(amount)) > 5, recover_when: avg(amount) < 4",
        ),
        (
            "group_by: [], baselines: {usual: {of: gross, statistic: mean, last: 5, min_history: 3}},"
            " breach_when: gross < baseline.usual",
            "group_by: [], baselines: {usual: {of: sum(amount), statistic: mean, last: 5, min_history: 3}},"
            " breach_when: sum(amount) < baseline.usual",
        ),
    ],
)
def test_a_name_decides_what_its_expression_decides(named: str, written: str) -> None:
    assert definition(named) == definition(written)
    assert definition(named).definition_hash == definition(written).definition_hash
    assert definition(named).metrics
    assert not definition(written).metrics


def test_the_hash_of_a_definition_moves_with_the_definition_of_its_metric() -> None:
    other = contract_of(CONTRACT.replace("sum(amount)}", "sum(amount * 2), unit: USD}"))
    monitor = "group_by: [region], breach_when: net_per_order < 5"
    assert definition(monitor).definition_hash != definition(monitor, other).definition_hash


def test_a_property_goes_before_a_metric_of_its_name() -> None:
    contract = contract_of(CONTRACT.replace("name: gross,", "name: region,").replace("gross", "region"))
    assert not definition("group_by: [region], breach_when: region = 'N' and count() > 1", contract).metrics


def test_an_explanation_says_a_metric_by_name_and_what_it_stands_for() -> None:
    lines = explain_monitor(definition("group_by: [region], breach_when: net_per_order < 5 or gross < 9"), CERTIFIED)
    place = lines.index("Breach:     (sum(amount) - sum(returned)) / count() < 5 or sum(amount) < 9")
    assert lines[place + 1 : place + 3] == [
        "  net_per_order is what the contract certifies: (sum(amount) - sum(returned)) / count().",
        "  gross is what the contract certifies: sum(amount).",
    ]
