"""Baselines as files hold them: what arrives, what each is as a property of a group, and what is said of it."""

from __future__ import annotations

import pytest

from catalog.contract import Contract
from catalog.datatypes import DOUBLE, DataType, decimal
from catalog.expressions.baselines import BaselineRule, Statistic
from catalog.expressions.checking import Scope
from catalog.expressions.groups import group_type
from catalog.expressions.syntax import SyntaxFault, parse_operand
from catalog.expressions.tree import Aggregate
from catalog.loading import load_contract
from compiler.words import explain_monitor
from monitors.definition import MonitorDefinition
from monitors.loading import MonitorsResult, load_monitors
from tests.unit.test_condition_checking import CASES, CONTRACT, PAY, parsed
from trivet.documents import read_yaml

BOUNDED = """\
monitors:
  - id: few
    object: pay
    group_by: [classification]
    schedule: {cron: "0 6 * * *", timezone: Australia/Perth}
    breach_when: count() < 0.5 * baseline.usual or avg(hours) > baseline.most + 3 * baseline.spread
    baselines:
      usual: {of: count( ), statistic: median, last: 14, weekday: same, min_history: 7}
      most: {of: avg(hours), statistic: mean, last: 1, min_history: 1}
      spread: {of: avg(hours), statistic: deviation, last: 3, min_history: 2}
"""


def load(text: str, contract: Contract = CONTRACT) -> MonitorsResult:
    document = read_yaml(text, file="monitors.yaml").document
    assert document is not None
    return load_monitors([document], contract)


def only(text: str) -> MonitorDefinition:
    result = load(text)
    assert not result.findings, [str(finding) for finding in result.findings]
    return result.monitors[0]


def aggregate(text: str) -> Aggregate:
    found = parse_operand(text)
    assert isinstance(found, Aggregate)
    return found


def test_every_key_of_a_baseline_arrives() -> None:
    assert only(BOUNDED).baselines == (
        BaselineRule("usual", aggregate("count()"), Statistic.MEDIAN, 14, 7, same_weekday=True),
        BaselineRule("most", aggregate("avg(hours)"), Statistic.MEAN, 1, 1),
        BaselineRule("spread", aggregate("avg(hours)"), Statistic.DEVIATION, 3, 2),
    )


@pytest.mark.parametrize(
    ("written", "instead"),
    [
        ("median", "mean"),
        ("last: 14", "last: 15"),
        ("weekday: same", "weekday: any"),
        ("min_history: 7", "min_history: 8"),
        ("usual: {of: count( )", "usual: {of: count_distinct(hours)"),
    ],
)
def test_the_hash_sees_each_part_of_a_baseline(written: str, instead: str) -> None:
    assert written in BOUNDED
    assert only(BOUNDED.replace(written, instead)).definition_hash != only(BOUNDED).definition_hash


def test_the_hash_sees_neither_the_order_nor_the_spelling_of_baselines() -> None:
    *head, usual, most, spread = BOUNDED.splitlines(keepends=True)
    other = "".join([*head, spread, most, usual.replace("count( )", '"count()"').replace("weekday: same, ", "")])
    same_day = other.replace("last: 14,", "last: 14, weekday: same,")
    assert only(same_day).definition_hash == only(BOUNDED).definition_hash


TYPES: list[tuple[str, Statistic, DataType, str | None]] = [
    ("count()", Statistic.MEAN, DOUBLE, None),
    ("count()", Statistic.MEDIAN, decimal(20, 1), None),
    ("count()", Statistic.DEVIATION, DOUBLE, None),
    ("sum(hourly_rate)", Statistic.MEDIAN, decimal(25, 5), "AUD/hour"),
    ("sum(hourly_rate)", Statistic.MEAN, DOUBLE, "AUD/hour"),
    ("max(hourly_rate)", Statistic.DEVIATION, DOUBLE, "AUD/hour"),
    ("median(wide)", Statistic.MEDIAN, DOUBLE, None),
    ("share(hours > 1)", Statistic.MEDIAN, DOUBLE, None),
]


@pytest.mark.parametrize(("of", "statistic", "data_type", "unit"), TYPES)
def test_a_baseline_is_a_property_of_a_group_in_the_unit_of_its_figure(
    of: str, statistic: Statistic, data_type: DataType, unit: str | None
) -> None:
    scope = Scope(PAY.contract, PAY.object_type, (BaselineRule("b", aggregate(of), statistic, 3, 3),))
    (found,) = group_type(parsed("baseline.b = baseline.b"), (), scope).properties
    assert (found.name, found.type, found.unit) == ("baseline.b", data_type, unit)


def test_a_view_that_bears_the_name_of_the_held_values_is_in_their_way() -> None:
    text = (CASES / "contract.yaml").read_text("utf-8").replace("view: ontology.pay\n", "view: temp.Baselines\n")
    document = read_yaml(text, file="contract.yaml").document
    assert document is not None
    contract = load_contract([document]).contract
    assert contract is not None
    (finding,) = load(BOUNDED, contract).findings
    named = "a governed view bears the name temp.baselines, under which earlier values are held; rename it"
    assert finding.message == named
    alone = "monitors:\n  - {id: few, object: pay, group_by: [], breach_when: count() < 3}\n"
    assert load(alone, contract).findings == ()


@pytest.mark.parametrize("text", ["", "  ", "count() <", "count() < 3", "count() count()", "any(hours)"])
def test_what_is_no_operand_is_told(text: str) -> None:
    assert isinstance(parse_operand(text), SyntaxFault)


def test_a_baseline_is_told_in_words() -> None:
    said = explain_monitor(only(BOUNDED), CONTRACT)
    start = said.index("baseline.usual: the median of count() in the last 14 evaluations on the slot's weekday "
                       "(Australia/Perth).")  # fmt: skip
    assert said[start : start + 7] == [
        said[start],
        "  insufficient: a group has fewer than 7 values in them.",
        "baseline.most: the mean of avg(hours) in the last evaluation.",
        "  insufficient: a group has fewer than 1 value in them.",
        "baseline.spread: the deviation of avg(hours) in the last 3 evaluations.",
        "  insufficient: a group has fewer than 2 values in them.",
        "  They are this monitor's own, of its schedule, for slots before the one that is evaluated.",
    ]
    unscheduled = "\n".join(line for line in BOUNDED.splitlines() if "schedule" not in line)
    asked = "  They are this monitor's own, that people asked for, for slots before the one that is evaluated."
    assert asked in explain_monitor(only(unscheduled), CONTRACT)
