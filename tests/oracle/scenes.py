"""A small contract to judge by hand: employees, the award rates that govern them, and their allowances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from catalog.contract import (
    Calendar,
    Cardinality,
    CensoredColumns,
    Contract,
    EffectiveDates,
    LinkType,
    ObjectType,
    Property,
)
from catalog.datatypes import DATE, DOUBLE, DURATION, INTEGER, TEXT, TIMESTAMP, decimal
from catalog.expressions.checking import Scope, check_condition
from catalog.expressions.syntax import SyntaxFault, parse_condition
from catalog.expressions.tree import Condition
from evals.oracle.evaluation import SLOT, OracleMember, OracleResult, Table
from tests.oracle.strategies import World, judge_world

MONEY = decimal(12, 4)
RATE = Property(
    "rate",
    MONEY,
    missing=("n/a",),
    cause="rate_cause",
    censored=CensoredColumns(side="rate_side", limit="rate_limit"),
    non_negative=True,
)
FLOOR = Property("floor", MONEY, censored=CensoredColumns(side="floor_side", limit="floor_limit"))

EMPLOYEE = ObjectType(
    name="employee",
    view="ontology.employee",
    primary_key=("id",),
    properties=(
        Property("id", TEXT),
        Property("level", TEXT),
        Property("point", INTEGER),
        Property("pay_date", DATE),
        RATE,
        Property("bonus", MONEY),
        Property("hours", INTEGER),
        Property("score", DOUBLE),
        Property("note", TEXT),
        Property("seen", TIMESTAMP),
        Property("shift", DURATION),
    ),
)
AWARD = ObjectType(
    name="award",
    view="ontology.award",
    primary_key=("level", "point"),
    properties=(
        Property("level", TEXT),
        Property("point", INTEGER),
        Property("starts", DATE),
        Property("ends", DATE),
        FLOOR,
        Property("units", INTEGER),
    ),
)
ALLOWANCE = ObjectType(
    name="allowance",
    view="ontology.allowance",
    primary_key=("level",),
    properties=(Property("level", TEXT), Property("amount", MONEY)),
)

Row = Mapping[str, object]
_EMPLOYEE_ROW: Row = {
    "id": "E1",
    "level": "A",
    "point": "1",
    "pay_date": "2025-07-15",
    "rate": "25",
    "bonus": "0",
    "hours": "38",
    "score": "1",
    "note": "",
    "seen": "2025-07-15T06:00:00Z",
    "shift": "PT8H",
}
_AWARD_ROW: Row = {
    "level": "A",
    "point": "1",
    "starts": "2025-07-01",
    "ends": None,
    "floor": "24",
    "units": "1",
}


def employee(**cells: object) -> Row:
    """An employee of level A, point 1, paid 25 on 2025-07-15."""
    return {**dict.fromkeys(EMPLOYEE.columns), **_EMPLOYEE_ROW, **cells}


def award(**cells: object) -> Row:
    """The award rate 24 of level A, point 1, from 2025-07-01."""
    return {**dict.fromkeys(AWARD.columns), **_AWARD_ROW, **cells}


def contract(
    *,
    to_one: bool = False,
    as_of: EffectiveDates | None = None,
    time_zone: str = "UTC",
) -> Contract:
    """The contract, with the link `award` as the test needs it."""
    cardinality = Cardinality.MANY_TO_ONE if to_one else Cardinality.MANY_TO_MANY
    keys = ("level", "point")
    governed = LinkType("award", "employee", keys, "award", keys, cardinality, as_of=as_of)
    allowed = LinkType("allowance", "employee", ("level",), "allowance", ("level",), cardinality)
    return Contract(
        id="pay",
        version="1.0.0",
        status="draft",
        hash="0" * 64,
        object_types=(EMPLOYEE, AWARD, ALLOWANCE),
        link_types=(governed, allowed),
        calendar=replace(Calendar(), time_zone=time_zone),
    )


def condition(text: str, of: Contract) -> Condition:
    """The tree of a condition that means something over `employee`."""
    tree = parse_condition(text)
    assert not isinstance(tree, SyntaxFault), tree.message
    found = of.object_type("employee")
    assert found is not None
    assert check_condition(tree, Scope(of, found)) == ()
    return tree


def pay_world(
    breach_when: str,
    employees: Sequence[Row],
    awards: Sequence[Row] = (),
    allowances: Sequence[Row] = (),
    *,
    of: Contract | None = None,
    where: str | None = None,
    strict: bool = False,
    at: datetime = SLOT,
) -> World:
    """A condition over `employee` with its data; every column is VARCHAR."""
    chosen = of or contract()
    return World(
        contract=chosen,
        object_name="employee",
        where=None if where is None else condition(where, chosen),
        breach_when=condition(breach_when, chosen),
        strict=strict,
        tables={
            "ontology.employee": Table(dict.fromkeys(EMPLOYEE.columns, "VARCHAR"), employees),
            "ontology.award": Table(dict.fromkeys(AWARD.columns, "VARCHAR"), awards),
            "ontology.allowance": Table(dict.fromkeys(ALLOWANCE.columns, "VARCHAR"), allowances),
        },
        at=at,
    )


def judge_pay(
    breach_when: str,
    employees: Sequence[Row],
    awards: Sequence[Row] = (),
    allowances: Sequence[Row] = (),
    *,
    of: Contract | None = None,
    where: str | None = None,
    strict: bool = False,
) -> OracleResult:
    """What the oracle answers for a condition over `employee`."""
    return judge_world(pay_world(breach_when, employees, awards, allowances, of=of, where=where, strict=strict))


def only(result: OracleResult) -> OracleMember:
    """The member of a result that has exactly one."""
    (member,) = result.members
    return member


def said(member: OracleMember) -> tuple[str, str | None, dict[str, list[str]]]:
    """Verdict, reason and causes in plain words."""
    causes = {operand: [str(cause) for cause in causes] for operand, causes in member.causes.items()}
    return str(member.verdict), None if member.reason is None else str(member.reason), causes
