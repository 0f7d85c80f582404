"""Every sentence about groups as a case of `tests/cases/groups`, judged by the compiled queries and by the oracle.

Add a case to a file there: tables as CSV, and each member as `key: verdict reason operand:cause+cause`.
The parts of a key stand beside each other with ` / ` between them, `-` where there is none.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import yaml

from catalog.contract import Contract
from catalog.loading import load_contract
from evals.oracle.evaluation import Table
from evals.oracle.groups import GroupMember, judge_groups
from monitors.definition import MonitorDefinition
from monitors.evaluation import Counts, Member
from monitors.loading import load_monitors
from tests.conformance.harness import snapshot_of
from trivet.documents import read_yaml
from trivet.verdicts import Verdict
from worker.judging import judge

CASES = Path(__file__).parents[1] / "cases" / "groups"
AT = datetime.fromisoformat("2024-06-15T09:00:00+10:00")


def _contract() -> Contract:
    document = read_yaml((CASES / "contract.yaml").read_bytes(), file="contract.yaml").document
    assert document is not None
    result = load_contract([document])
    assert result.contract is not None, result.findings
    return result.contract


CONTRACT = _contract()


@dataclass(frozen=True, slots=True)
class Case:
    """One sentence."""

    says: str
    definition: MonitorDefinition
    tables: Mapping[str, Table]
    at: datetime
    expected: Mapping[str, str]
    unexpected: int


def _cases() -> Iterator[Case]:
    for path in sorted(CASES.glob("*.yaml")):
        if path.name == "contract.yaml":
            continue
        for item in yaml.safe_load(path.read_text("utf-8")):
            yield case_of(path, item)


def case_of(path: Path, item: dict[str, Any]) -> Case:
    """A case as a file has it."""
    monitor = {"id": "case", "object": "reading", "allow_empty": True, **item["monitor"]}
    text = yaml.safe_dump({"monitors": [monitor]}, width=1000, allow_unicode=True)
    document = read_yaml(text, file=path.name).document
    assert document is not None, text
    result = load_monitors([document], CONTRACT)
    assert not result.findings, [str(finding) for finding in result.findings]
    tables = {of.view: _table(of.columns, item.get(of.name, "")) for of in CONTRACT.object_types}
    return Case(
        f"{path.stem}: {item['says']}",
        result.monitors[0],
        tables,
        item.get("at", AT),
        item["members"],
        int(item.get("unexpected", 0)),
    )


def _table(columns: tuple[str, ...], text: str) -> Table:
    rows = [{**dict.fromkeys(columns), **row} for row in csv.DictReader(StringIO(text))]
    assert all(set(row) == set(columns) for row in rows), rows
    return Table(dict.fromkeys(columns, "VARCHAR"), rows)


CASE_LIST = list(_cases())


def _said(member: Member | GroupMember) -> tuple[str, str]:
    parts = member.key if isinstance(member, GroupMember) else tuple(member.key.values())
    words = [member.verdict.value, *([member.reason.value] if member.reason else [])]
    words += [f"{operand}:{'+'.join(causes)}" for operand, causes in sorted(member.causes.items())]
    if member.partial:
        words.append("partial")
    return " / ".join(part or "-" for part in parts), " ".join(words)


@pytest.mark.parametrize("case", CASE_LIST, ids=lambda case: case.says)
def test_the_oracle_says_of_each_group_what_the_sentence_says(case: Case) -> None:
    result = judge_groups(CONTRACT, case.definition, case.tables, case.at)
    assert dict(_said(member) for member in result.members) == case.expected
    assert result.unexpected == case.unexpected


@pytest.mark.parametrize("case", CASE_LIST, ids=lambda case: case.says)
def test_the_compiled_queries_say_of_each_group_what_the_sentence_says(case: Case) -> None:
    with snapshot_of(case.tables) as snapshot:
        found = judge(case.definition, CONTRACT, snapshot, case.at)
    counts = found.outcome
    assert isinstance(counts, Counts), counts
    compliant = {key: text for key, text in case.expected.items() if text.startswith(Verdict.COMPLIANT)}
    said = dict(_said(member) for member in (*found.breached, *found.undecided))
    assert said == {key: text for key, text in case.expected.items() if key not in compliant}
    assert (counts.population, counts.compliant) == (len(case.expected), len(compliant))
    assert counts.partial == sum(text.endswith("partial") for text in case.expected.values())
    assert (counts.unexpected, counts.duplicate_keys) == (case.unexpected, 0)
