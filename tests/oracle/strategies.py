"""Whole worlds to judge: a contract, a monitor's conditions, and tables full of what real tables hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from hypothesis import strategies as st

from catalog.contract import Contract
from catalog.expressions.checking import Scope
from catalog.expressions.printing import print_condition
from catalog.expressions.tree import Condition
from evals.oracle.evaluation import SLOT, OracleResult, Table, judge
from evals.proving.pools import SLOTS
from tests.oracle.schemas import MEMBER, schemas, tables
from tests.oracle.trees import conditions

_DEPTHS = st.sampled_from([1, 1, 1, 2, 2, 3])
"""Mostly shallow: a deep condition costs many times what a shallow one does, and seldom shows more."""


@dataclass(frozen=True, slots=True)
class World:
    """All that an evaluation looks at."""

    contract: Contract
    object_name: str
    """The object type whose rows are the members."""
    where: Condition | None
    breach_when: Condition
    strict: bool
    tables: Mapping[str, Table]
    """By the name of the view."""
    at: datetime = SLOT
    """The slot's instant."""

    def __str__(self) -> str:
        where = "" if self.where is None else f" where {print_condition(self.where)}"
        return f"breach_when {print_condition(self.breach_when)}{where}{' strict' if self.strict else ''}"


@st.composite
def families(draw: st.DrawFn, most: int = 3) -> tuple[World, ...]:
    """Up to so many worlds that differ in their conditions alone. Tables have at most eight rows each."""
    schema = draw(schemas())
    member = schema.contract.object_type(MEMBER)
    assert member is not None
    scope = Scope(schema.contract, member)
    monitors = [
        (
            draw(st.one_of(st.none(), st.none(), conditions(scope, depth=draw(st.sampled_from([1, 1, 2]))))),
            draw(conditions(scope, depth=draw(_DEPTHS))),
            draw(st.sampled_from([False, False, True])),
        )
        for _ in range(draw(st.integers(1, most)))
    ]
    filled = draw(tables(schema))
    return tuple(
        World(schema.contract, MEMBER, where, breach_when, strict, filled, draw(st.sampled_from(SLOTS)))
        for where, breach_when, strict in monitors
    )


def worlds() -> st.SearchStrategy[World]:
    """Single worlds, whose conditions have no fault."""
    return families(most=1).map(lambda family: family[0])


def judge_world(world: World) -> OracleResult:
    """What the oracle answers for a world."""
    return judge(
        world.contract, world.object_name, world.breach_when, world.where, world.strict, world.tables, world.at
    )
