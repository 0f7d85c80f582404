"""A monitor as it is loaded: every key and default, and a hash over what decides a verdict and nothing else."""

from __future__ import annotations

import dataclasses
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest

from catalog.contract import Contract
from catalog.expressions.baselines import BaselineRule, Statistic
from catalog.expressions.groups import GroupKey
from catalog.expressions.syntax import SyntaxFault, parse_condition
from catalog.expressions.tree import Aggregate, AggregateFunction, Condition
from catalog.loading import load_contract
from catalog.periods import Period
from monitors.alerting import (
    AlertPolicy,
    Escalation,
    Flapping,
    Lasting,
    NoDataPolicy,
    NoDataRule,
    Repeat,
    SeverityLevel,
    Threshold,
)
from monitors.definition import MonitorDefinition, Schedule
from monitors.grouping import Coverage, DayRange, Expectation, Grouping, LastPeriods
from monitors.loading import MonitorsResult, load_monitors
from monitors.rule_tests import RuleTest
from trivet.canonical import content_hash
from trivet.documents import read_yaml
from trivet.findings import Finding
from trivet.scheduling import Ambiguous, CatchUp, Nonexistent
from trivet.verdicts import Severity

CONTRACT = """\
contract: {id: payroll, version: 1.0.0}
object_types:
  - name: pay
    view: ontology.pay
    primary_key: [id]
    properties: [{name: id, type: text}, {name: rate, type: "decimal(12,4)"}, {name: paid, type: date}]
"""
FULL = """\
monitors:
  - id: pay.below-floor
    title: 012
    description: |
      Paid below
      the floor.
    object: pay
    where: paid >= date(2025, 7, 1)
    breach_when: >
      rate < 20
      or rate > 300
    strict: true
    allow_empty: true
    samples: 5
    timeout: 30s
    enabled: false
    severity: {warning: 1, critical: 5%}
    schedule: {cron: "0 6 * * MON-FRI", timezone: Australia/Sydney}
    catch_up: none
    delay: 2h
    jitter: 90s
    dst: {nonexistent: skip, ambiguous: both}
    no_data:
      alert: false
      tolerate: 3
      for: 30m
      severity: info
      reasons:
        right_missing: {tolerate: 2.5%, severity: critical, notify: [ops]}
        timeout: {for: 3}
    for: 2
    keep_firing_for: 1h
    recover_when: rate > 21
    judged_share: 0.5%
    flapping: {changes: 3, of: 8}
    repeat: {every: 4h, most: 3}
    escalate: [{after: 30m, to: ops}, {after: 2h, to: payroll}]
    notify: [payroll, ops]
    owner: payroll-ops
    runbook: https://intranet.example/pay
    labels: {team: people, area: pay}
"""
SMALLEST = "monitors:\n  - {id: a, object: pay, breach_when: rate < 20}\n"


def read_contract() -> Contract:
    document = read_yaml(CONTRACT, file="contract.yaml").document
    assert document is not None
    contract = load_contract([document]).contract
    assert contract is not None
    return contract


PAY = read_contract()


def load(*texts: str) -> MonitorsResult:
    documents = [read_yaml(text, file=f"monitors/{index}.yaml").document for index, text in enumerate(texts)]
    return load_monitors([document for document in documents if document], PAY, ["payroll", "ops"])


def only(text: str) -> MonitorDefinition:
    result = load(text)
    assert result.findings == ()
    (definition,) = result.monitors
    return definition


def parsed(text: str) -> Condition:
    condition = parse_condition(text)
    assert not isinstance(condition, SyntaxFault)
    return condition


def test_every_key_of_a_full_monitor_arrives() -> None:
    assert only(FULL) == MonitorDefinition(
        id="pay.below-floor",
        object="pay",
        breach_when=parsed("rate < 20 or rate > 300"),
        where=parsed("paid >= date(2025, 7, 1)"),
        strict=True,
        allow_empty=True,
        samples=5,
        timeout=timedelta(seconds=30),
        enabled=False,
        title="012",
        description="Paid below\nthe floor.",
        severity=Severity.CRITICAL,
        schedule=Schedule(
            cron="0 6 * * MON-FRI",
            timezone="Australia/Sydney",
            delay=timedelta(hours=2),
            jitter=timedelta(seconds=90),
            nonexistent=Nonexistent.SKIP,
            ambiguous=Ambiguous.BOTH,
            catch_up=CatchUp.NONE,
        ),
        no_data=NoDataPolicy(
            alert=False,
            tolerate=Threshold(3),
            lasting=Lasting(time=timedelta(minutes=30)),
            severity=Severity.INFO,
            reasons=(
                NoDataRule("right_missing", None, Threshold(percent=Decimal("2.5")), None, Severity.CRITICAL, ("ops",)),
                NoDataRule("timeout", lasting=Lasting(3)),
            ),
        ),
        alerting=AlertPolicy(
            fires_after=Lasting(2),
            clears_after=Lasting(time=timedelta(hours=1)),
            recover_when=parsed("rate > 21"),
            levels=(
                SeverityLevel(Severity.WARNING, Threshold(1)),
                SeverityLevel(Severity.CRITICAL, Threshold(percent=Decimal(5))),
            ),
            flapping=Flapping(3, 8),
            judged_share=Decimal("0.5"),
            repeat=Repeat(timedelta(hours=4), 3),
            escalate=(Escalation(timedelta(minutes=30), "ops"), Escalation(timedelta(hours=2), "payroll")),
        ),
        notify=("payroll", "ops"),
        owner="payroll-ops",
        runbook="https://intranet.example/pay",
        labels=(("area", "pay"), ("team", "people")),
    )
    assert only(FULL).file == "monitors/0.yaml"


def test_a_monitor_may_come_due_after_each_refresh() -> None:
    text = SMALLEST.replace("rate < 20}", "rate < 20, schedule: {after: refresh}, catch_up: all}")
    assert only(text).schedule == Schedule(after_refresh=True, catch_up=CatchUp.ALL)


GROUPED = """\
monitors:
  - id: by-month
    object: pay
    group_by: [id, {period: month, of: paid}]
    expect: {object: pay, keys: [id], periods: {from: 2024-01-31, to: 2024-12-01}}
    min_count: 3
    min_coverage: {share: 0.80, per: day}
    breach_when: sum(rate) > 3
"""


def test_every_key_of_a_grouped_monitor_arrives() -> None:
    expect = Expectation("pay", ("id",), DayRange(date(2024, 1, 31), date(2024, 12, 1)))
    grouping = only(GROUPED).grouping
    assert grouping == Grouping(
        keys=(GroupKey("id"), GroupKey("paid", Period.MONTH)),
        expect=expect,
        min_count=3,
        min_coverage=Coverage(Decimal("0.80"), Period.DAY),
        as_of_slot=False,
    )
    short = GROUPED.replace("from: 2024-01-31, to: 2024-12-01", "last: 12, current: false").replace(
        "keys: [id]", "key: id"
    )
    assert only(short).grouping == dataclasses.replace(
        grouping, expect=Expectation("pay", ("id",), LastPeriods(12, current=False))
    )
    share = GROUPED.replace("{share: 0.80, per: day}", "0.5")
    assert only(share).grouping == dataclasses.replace(grouping, min_coverage=Coverage(Decimal("0.5")))


def test_every_default_of_a_grouped_monitor() -> None:
    whole = "monitors:\n  - {id: a, object: pay, group_by: [], breach_when: count() < 20}\n"
    assert only(whole).grouping == Grouping((), None, 1, None, as_of_slot=False)


@pytest.mark.parametrize(
    ("written", "instead"),
    [
        ("period: month", "period: year"),
        ("to: 2024-12-01", "to: 2024-12-02"),
        ("from: 2024-01-31, to: 2024-12-01", "last: 3"),
        ("from: 2024-01-31, to: 2024-12-01", "last: 3, current: false"),
        ("min_count: 3", "min_count: 2"),
        ("share: 0.80", "share: 0.81"),
        ("{share: 0.80, per: day}", "0.80"),
        ("    expect: {object: pay, keys: [id], periods: {from: 2024-01-31, to: 2024-12-01}}\n", ""),
    ],
)
def test_the_hash_sees_each_part_of_a_grouping(written: str, instead: str) -> None:
    assert only(GROUPED.replace(written, instead)).definition_hash != only(GROUPED).definition_hash


def test_a_share_has_one_spelling_in_the_hash() -> None:
    assert only(GROUPED.replace("0.80", "0.8")).definition_hash == only(GROUPED).definition_hash


def test_every_default_of_a_smallest_monitor() -> None:
    definition = only(SMALLEST)
    assert definition == MonitorDefinition("a", "pay", parsed("rate < 20"), title="a")
    assert (definition.where, definition.timeout, definition.schedule) == (None, None, None)
    assert (definition.strict, definition.allow_empty, definition.enabled) == (False, False, True)
    assert (definition.samples, definition.alerting, definition.severity) == (100, AlertPolicy(), Severity.WARNING)
    assert definition.no_data == NoDataPolicy(alert=True, tolerate=Threshold(0))


def test_an_interval_is_a_schedule() -> None:
    text = SMALLEST.replace("rate < 20}", "rate < 20, schedule: {every: 15m}}")
    assert only(text).schedule == Schedule(every=timedelta(minutes=15))


def test_monitors_come_in_the_order_of_the_files() -> None:
    result = load(SMALLEST.replace("id: a", "id: b"), SMALLEST)
    assert [definition.id for definition in result.monitors] == ["b", "a"]


def test_an_id_is_taken_once_in_all_files() -> None:
    result = load(SMALLEST, f"# again\n{SMALLEST}")
    assert [str(finding) for finding in result.findings] == [
        "monitors/1.yaml:3:10: monitors[0].id: 'a' is already the id of a monitor in monitors/0.yaml"
    ]


def test_one_monitor_at_fault_keeps_all_of_them_out() -> None:
    result = load(SMALLEST, SMALLEST.replace("id: a", "id: b").replace("rate", "rat"))
    assert result.monitors == ()
    assert len(result.findings) == 1


CHANGES: dict[str, Any] = {
    "id": "b",
    "object": "other",
    "breach_when": parsed("rate < 21"),
    "where": parsed("rate > 0"),
    "grouping": Grouping((GroupKey("level"),)),
    "baselines": (BaselineRule("usual", Aggregate(AggregateFunction.COUNT, None), Statistic.MEAN, 3, 3),),
    "metrics": (("gross", "sum(amount)"),),
    "strict": True,
    "allow_empty": True,
    "samples": 7,
    "timeout": timedelta(seconds=1),
    "enabled": False,
    "title": "Other",
    "description": "Other.",
    "severity": Severity.INFO,
    "schedule": Schedule(every=timedelta(hours=1)),
    "no_data": NoDataPolicy(alert=False),
    "alerting": AlertPolicy(fires_after=Lasting(3), recover_when=parsed("rate > 21")),
    "notify": ("ops",),
    "owner": "someone",
    "runbook": "https://other.example",
    "labels": (("a", "b"),),
    "tests": (RuleTest("t", {}, None, (), (), True, {}, Finding("m.yaml", None, "", "")),),
    "file": "elsewhere.yaml",
}
DECIDING = {"id", "object", "breach_when", "where", "grouping", "baselines", "strict", "allow_empty"}


def test_every_field_is_known_to_decide_or_not_to() -> None:
    assert {field.name for field in dataclasses.fields(MonitorDefinition) if field.init} == set(CHANGES)


@pytest.mark.parametrize("field", CHANGES)
def test_the_hash_sees_what_decides_and_nothing_else(field: str) -> None:
    definition = only(SMALLEST)
    changed = dataclasses.replace(definition, **{field: CHANGES[field]})
    assert (changed.definition_hash != definition.definition_hash) == (field in DECIDING)


@pytest.mark.parametrize("spelling", ["rate<20", " ( rate  <  20.) ".replace(".", ""), "rate < 2e1", "any(rate < 20)"])
def test_the_hash_does_not_see_how_a_condition_is_spelled(spelling: str) -> None:
    changed = dataclasses.replace(only(SMALLEST), breach_when=parsed(spelling))
    assert changed.definition_hash == only(SMALLEST).definition_hash


@pytest.mark.parametrize(
    "other", ["rate <= 20", "not rate >= 20", "20 > rate", "all(rate < 20)", "rate < 20 and rate < 20"]
)
def test_the_hash_sees_another_condition(other: str) -> None:
    changed = dataclasses.replace(only(SMALLEST), breach_when=parsed(other))
    assert changed.definition_hash != only(SMALLEST).definition_hash


def test_the_hash_is_that_of_what_is_shown_as_judged() -> None:
    definition = only(FULL)
    assert definition.definition_hash == content_hash(definition.judged())
    assert definition.judged() == {
        "id": "pay.below-floor",
        "object": "pay",
        "where": "paid >= date(2025, 7, 1)",
        "breach_when": "rate < 20 or rate > 300",
        "strict": True,
        "allow_empty": True,
    }
