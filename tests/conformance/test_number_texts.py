"""Every number text that was met, on both sides of a comparison, from definition to member.

The condition compares a property with itself, so a member is a breach exactly where its operand is
determinate, and no_data with the operand's cause where it is not.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path

import pytest

from catalog.contract import Cardinality, Contract, LinkType, ObjectType, Property
from catalog.datatypes import DOUBLE, TEXT, DataType, parse_type
from catalog.expressions.syntax import parse_condition
from catalog.expressions.tree import Comparison
from evals.oracle.evaluation import SLOT, Table
from monitors.definition import MonitorDefinition
from monitors.evaluation import Member
from tests.conformance.harness import snapshot_of
from trivet.verdicts import Reason, Verdict
from worker.judging import judge

CASES = Path(__file__).parents[1] / "cases" / "numbers"
SIDES = {"left": "x = x", "right": "bound.x = bound.x"}
REASONS = {"left": Reason.LEFT_NULL, "right": Reason.RIGHT_NULL}


@dataclass(frozen=True, slots=True)
class Case:
    """One text, how it is declared, and what becomes of it."""

    text: str
    data_type: DataType
    marks: tuple[str, ...]
    value: str
    cause: str


def _lines(name: str) -> list[dict[str, str]]:
    with (CASES / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _cases() -> Iterator[Case]:
    for line in _lines("number_texts.csv"):
        data_type = parse_type(line["type"])
        assert data_type is not None
        text = json.loads(f'"{line["text"]}"') if line["escaped"] == "yes" else line["text"]
        yield Case(text, data_type, (), line["value"], line["cause"])
    missing = sorted({line["cell"] for line in _lines("number_cells.csv") if line["kind"] == "missing"})
    marks = tuple(mark for mark in missing if mark.strip())
    for line in _lines("number_cells_expected.csv"):
        yield Case(line["cell"], DOUBLE, (), line["value"], line["cause_default"])
        yield Case(line["cell"], DOUBLE, marks, line["value"], line["cause_with_marks"])


CASE_LIST = list(_cases())


@cache
def _members(data_type: DataType, marks: tuple[str, ...], side: str) -> Mapping[str, Member]:
    """The members of one evaluation over all texts of a type, by the text's number."""
    texts = [case.text for case in CASE_LIST if (case.data_type, case.marks) == (data_type, marks)]
    definition = _definition(SIDES[side])
    rows = [{"id": str(index), "x": text} for index, text in enumerate(texts)]
    table = Table({"id": "VARCHAR", "x": "VARCHAR"}, rows)
    with snapshot_of({"ontology.reading": table, "ontology.bound": table}) as snapshot:
        found = judge(definition, _contract(data_type, marks), snapshot, SLOT)
    return {str(member.key["id"]): member for member in (*found.breached, *found.undecided)}


def _contract(data_type: DataType, marks: tuple[str, ...]) -> Contract:
    properties = (Property("id", TEXT), Property("x", data_type, missing=marks))
    objects = tuple(ObjectType(name, f"ontology.{name}", ("id",), properties) for name in ("reading", "bound"))
    link = LinkType("bound", "reading", ("id",), "bound", ("id",), Cardinality.MANY_TO_ONE)
    return Contract("numbers", "1.0.0", "draft", "0" * 64, objects, (link,))


def _definition(condition: str) -> MonitorDefinition:
    tree = parse_condition(condition)
    assert isinstance(tree, Comparison)
    return MonitorDefinition(id="numbers", object="reading", breach_when=tree)


def _place(case: Case, cases: Sequence[Case]) -> str:
    same = [item for item in cases if (item.data_type, item.marks) == (case.data_type, case.marks)]
    return str(same.index(case))


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("case", CASE_LIST, ids=lambda case: f"{case.data_type}-{case.text!r}-{len(case.marks)}")
def test_every_number_text_ends_in_its_verdict_reason_and_cause(case: Case, side: str) -> None:
    member = _members(case.data_type, case.marks, side)[_place(case, CASE_LIST)]
    operand = "x" if side == "left" else "bound.x"
    if case.cause:
        assert (member.verdict, member.reason) == (Verdict.NO_DATA, REASONS[side])
        assert member.causes == {operand: (case.cause,)}
        assert (member.operands[operand] or "").strip(" \t\n\v\f\r") == case.text.strip(" \t\n\v\f\r")
    else:
        assert (member.verdict, member.reason, member.causes) == (Verdict.BREACH, None, {})
        shown = member.operands[operand] or ""
        if case.data_type == DOUBLE:
            assert float(shown) == float(case.value)
        else:
            assert Decimal(shown) == Decimal(case.value)
