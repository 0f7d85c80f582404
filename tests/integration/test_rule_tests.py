"""Rule tests, from their file to what is said of those that fail, over the engine that judges in production."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from catalog.contract import Contract
from catalog.engines.duckdb_fixture import FixtureEngine
from catalog.loading import load_contract
from monitors.definition import MonitorDefinition
from monitors.loading import load_monitors
from trivet.documents import read_yaml
from worker.rule_testing import run_rule_tests

RULES = Path(__file__).parents[1] / "cases" / "rules"
CASES: list[dict[str, Any]] = yaml.safe_load((RULES / "findings.yaml").read_text("utf-8"))


def read_contract() -> Contract:
    document = read_yaml((RULES / "contract.yaml").read_bytes(), file="contract.yaml").document
    assert document is not None
    contract = load_contract([document]).contract
    assert contract is not None
    return contract


CONTRACT = read_contract()


def read_monitors(text: str) -> tuple[MonitorDefinition, ...]:
    result = read_yaml(text, file="monitors.yaml")
    assert result.document is not None, result.findings
    loaded = load_monitors([result.document], CONTRACT)
    assert loaded.findings == ()
    return loaded.monitors


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_what_differs_is_told_exactly_and_nothing_else(case: dict[str, Any]) -> None:
    results = list(run_rule_tests(read_monitors(case["monitors"]), CONTRACT, FixtureEngine))
    told = [f"{finding.key}: {finding.message}" for result in results for finding in result.findings]
    assert told == case["says"]
    assert results


def test_a_test_that_fails_names_the_key_and_both_verdicts_as_json() -> None:
    (case,) = (case for case in CASES if case["name"].startswith("keys of several parts"))
    _, failed = run_rule_tests(read_monitors(case["monitors"]), CONTRACT, FixtureEngine)
    document = failed.to_json()
    assert (document["monitor"], document["name"], document["ok"]) == ("long", "the wrong day", False)
    assert document["differences"][-1] == {  # type: ignore[index]
        "about": "site A, day 2025-07-02",
        "key": {"site": "A", "day": "2025-07-02"},
        "expected": "breach",
        "found": "no such member",
    }


def test_what_is_told_stands_where_the_test_does() -> None:
    text = """
monitors:
  - id: long
    object: pay
    breach_when: hours > 38
    tests:
      - name: nobody breaches
        given: {pay: [{id: E1, hours: 40}]}
        expect: {breach: []}
"""
    (result,) = run_rule_tests(read_monitors(text), CONTRACT, FixtureEngine)
    message = "monitors[0].tests[0]: 'nobody breaches': E1: expected compliant, found breach"
    assert [str(finding) for finding in result.findings] == [f"monitors.yaml:7:9: {message}"]


def test_tests_change_neither_the_hash_nor_the_equality_of_a_definition() -> None:
    text = "monitors:\n  - id: long\n    object: pay\n    breach_when: hours > 38\n"
    tests = "    tests: [{name: t, given: {}, expect: {breach: []}}]\n"
    (without,), (tested,) = read_monitors(text), read_monitors(text + tests)
    assert tested.tests
    assert not without.tests
    assert tested == without
    assert tested.definition_hash == without.definition_hash


def test_an_instant_without_an_offset_is_in_the_time_zone_of_the_contract() -> None:
    text = """
monitors:
  - id: long
    object: pay
    breach_when: hours > 38
    tests:
      - {name: local, given: {}, at: 2026-01-01T00:00, expect: {breach: []}}
      - {name: universal, given: {}, at: "2026-01-01T00:00Z", expect: {breach: []}}
      - {name: none, given: {}, expect: {breach: []}}
"""
    (definition,) = read_monitors(text)
    assert [test.at.isoformat() if test.at else None for test in definition.tests] == [
        "2026-01-01T00:00:00+11:00",
        "2026-01-01T00:00:00+00:00",
        None,
    ]
