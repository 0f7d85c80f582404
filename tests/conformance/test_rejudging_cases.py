"""What each construct of the language leaves to be judged again, as a case of `tests/cases/rejudging`."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from io import StringIO
from pathlib import Path

import pytest
import yaml

from catalog.contract import Contract
from catalog.loading import load_contract
from evals.oracle.evaluation import Table
from monitors.definition import MonitorDefinition
from monitors.evaluation import Member
from monitors.loading import load_monitors
from tests.conformance.harness import snapshot_of
from tests.conformance.test_rejudging import assert_follow_again, recorded
from trivet.documents import Document, read_yaml
from trivet.verdicts import ReplayResult
from worker.judging import judge

CASES = Path(__file__).parents[1] / "cases" / "rejudging"
AT = datetime.fromisoformat("2024-06-15T09:00:00+10:00")


def a_document(text: str | bytes, file: str) -> Document:
    document = read_yaml(text, file=file).document
    assert document is not None
    return document


def the_contract() -> Contract:
    result = load_contract([a_document((CASES / "contract.yaml").read_bytes(), "contract.yaml")])
    assert result.contract is not None, [str(finding) for finding in result.findings]
    return result.contract


CONTRACT = the_contract()


@dataclass(frozen=True, slots=True)
class Case:
    """One sentence."""

    says: str
    definition: MonitorDefinition
    tables: Mapping[str, Table]
    verdicts: Mapping[str, str] | None
    """Verdict and reason of each recorded member, by key; None where the keys are masked."""
    reproduced: int
    gone: Mapping[str, int]


def cases() -> Iterator[Case]:
    for item in yaml.safe_load((CASES / "cases.yaml").read_text("utf-8")):
        monitor = {"id": "case", "object": "reading", **item["monitor"]}
        text = yaml.safe_dump({"monitors": [monitor]}, width=1000)
        result = load_monitors([a_document(text, "monitors.yaml")], CONTRACT)
        assert not result.findings, [str(finding) for finding in result.findings]
        tables = {of.view: a_table(of.columns, item.get(of.name, "")) for of in CONTRACT.object_types}
        yield Case(
            item["says"],
            result.monitors[0],
            tables,
            item.get("verdicts"),
            item.get("reproduced", 0),
            item.get("gone", {}),
        )


def a_table(columns: tuple[str, ...], text: str) -> Table:
    rows = [{**dict.fromkeys(columns), **row} for row in csv.DictReader(StringIO(text))]
    assert all(set(row) == set(columns) for row in rows), rows
    return Table(dict.fromkeys(columns, "VARCHAR"), rows)


def said(member: Member) -> tuple[str, str]:
    verdict = f"{member.verdict} {member.reason}" if member.reason else member.verdict.value
    return " / ".join(part or "-" for part in member.key.values()), verdict


@pytest.mark.parametrize("case", list(cases()), ids=lambda case: case.says)
def test_what_was_recorded_leads_to_its_verdict_or_is_said_not_to(case: Case) -> None:
    with snapshot_of(case.tables) as snapshot:
        found = judge(case.definition, CONTRACT, snapshot, AT)
    if case.verdicts is not None:
        assert dict(map(said, (*found.breached, *found.undecided))) == case.verdicts
    made = assert_follow_again(case.definition, CONTRACT, recorded(found), AT)
    assert (made.reproduced, dict(made.why_gone)) == (case.reproduced, dict(case.gone))
    wanted = ReplayResult.INPUTS_GONE if case.gone else ReplayResult.REPRODUCED
    assert made.result is wanted
