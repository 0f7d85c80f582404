"""A definition is read again from what decides its verdicts, whatever it uses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from catalog.contract import Contract
from catalog.loading import load_contract
from monitors.definition import MonitorDefinition
from monitors.judged_text import monitor_keys
from monitors.loading import load_monitors
from trivet.canonical import canonical_json
from trivet.documents import Document, read_yaml
from trivet.plain_documents import document_of

CASES = Path(__file__).parents[1] / "cases" / "groups"


BASELINES = {
    "usual": {"of": "count()", "statistic": "median", "last": 14, "weekday": "same", "min_history": 7},
    "spread": {"of": "share(turbidity > 1)", "statistic": "deviation", "last": 366, "min_history": 2},
}


def a_document(text: str | bytes, file: str) -> Document:
    document = read_yaml(text, file=file).document
    assert document is not None
    return document


def the_contract() -> Contract:
    contract = load_contract([a_document((CASES / "contract.yaml").read_bytes(), "contract.yaml")]).contract
    assert contract is not None
    return contract


CONTRACT = the_contract()


def monitors() -> list[dict[str, Any]]:
    """The monitors of every case about groups, each once, and one whose members are rows."""
    files = sorted(file for file in CASES.glob("*.yaml") if file.name != "contract.yaml")
    found = [case["monitor"] for file in files for case in yaml.safe_load(file.read_text("utf-8"))]
    found += [
        {"breach_when": "turbidity > limited_by.most", "where": "site = 'A'", "strict": True, "allow_empty": True},
        {"breach_when": "count() < baseline.usual - 2 * baseline.spread", "group_by": ["site"], "baselines": BASELINES},
    ]
    return [json.loads(text) for text in dict.fromkeys(json.dumps(item, default=str) for item in found)]


def loaded(document: Document) -> MonitorDefinition:
    result = load_monitors([document], CONTRACT)
    assert not result.findings, [str(finding) for finding in result.findings]
    return result.monitors[0]


@pytest.mark.parametrize("monitor", monitors(), ids=lambda monitor: monitor["breach_when"])
def test_a_definition_is_that_of_which_it_was_said(monitor: dict[str, Any]) -> None:
    text = yaml.safe_dump({"monitors": [{"id": "case", "object": "reading", **monitor}]}, width=1000)
    wanted = loaded(a_document(text, "monitors.yaml"))
    stored = json.loads(canonical_json(wanted.judged()))
    again = loaded(document_of({"monitors": [monitor_keys(stored)]}, "definition"))
    assert again.judged() == wanted.judged()
    assert (again.breach_when, again.where, again.grouping) == (wanted.breach_when, wanted.where, wanted.grouping)
    assert sorted(again.baselines, key=str) == sorted(wanted.baselines, key=str)
