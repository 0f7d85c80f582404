"""Whole worlds to judge: a contract, a monitor's conditions, and tables full of what real tables hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import repeat

from hypothesis import strategies as st

from catalog.contract import Contract
from catalog.expressions.checking import Scope
from catalog.expressions.printing import print_condition
from catalog.expressions.tree import Condition
from evals.oracle.evaluation import SLOT, OracleResult, Table, judge
from evals.proving.pools import SLOTS
from tests.oracle.schemas import MEMBER, schemas, tables
from tests.oracle.trees import conditions

_DEPTHS = st.sampled_from([1, 1, 1, 1, 1, 1, 2, 2, 3])
"""Mostly shallow: a deep condition costs many times what a shallow one does, and seldom shows more."""
_POPULATION_DEPTHS = st.sampled_from([1, 1, 1, 2])
_MOSTLY_NONE = (st.none(), st.none(), st.none())


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
def families(draw: st.DrawFn, monitors: int, data_sets: int = 1) -> tuple[tuple[World, ...], ...]:
    """So many monitors over each of so many data sets. Tables have at most eight rows each.

    Linked rows are counted by the last of the monitors alone, if at all: no pass judges a monitor that does.
    """
    schema = draw(schemas())
    member = schema.contract.object_type(MEMBER)
    assert member is not None
    scope = Scope(schema.contract, member)
    drawn = [
        (
            draw(st.one_of(*_MOSTLY_NONE, conditions(scope, draw(_POPULATION_DEPTHS), counting=counting))),
            draw(conditions(scope, draw(_DEPTHS), counting=counting)),
            draw(st.sampled_from([False, False, True])),
            draw(st.sampled_from(SLOTS)),
        )
        for counting in (*repeat(False, monitors - 1), True)
    ]
    filled = [draw(tables(schema)) for _ in range(data_sets)]
    return tuple(
        tuple(World(schema.contract, MEMBER, where, breach, strict, of, at) for where, breach, strict, at in drawn)
        for of in filled
    )


def worlds() -> st.SearchStrategy[World]:
    """Single worlds, whose conditions have no fault."""
    return families(monitors=1).map(lambda family: family[0][0])


def judge_world(world: World) -> OracleResult:
    """What the oracle answers for a world."""
    return judge(
        world.contract, world.object_name, world.breach_when, world.where, world.strict, world.tables, world.at
    )
