"""What checking calls never true makes no member breach, and what it calls never false none compliant."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from catalog.expressions.checking import Scope
from catalog.expressions.satisfiability import breach_fault, never_faults
from catalog.expressions.tree import And, Atom, Condition, Not, Or
from tests.oracle.schemas import MEMBER, schemas, tables
from tests.oracle.strategies import World, judge_world
from tests.oracle.trees import close_atoms


@st.composite
def _conditions(draw: st.DrawFn, scope: Scope) -> Condition:
    """Two to four atoms about one or two operands, so that many exclude each other."""
    atoms: list[Atom] = draw(st.lists(close_atoms(scope), min_size=2, max_size=4))
    signed: list[Condition] = [Not(atom) if draw(st.integers(0, 3)) == 3 else atom for atom in atoms]
    if len(signed) > 2 and draw(st.booleans()):
        return And((signed[0], Or(tuple(signed[1:]))))
    return And(tuple(signed)) if draw(st.integers(0, 3)) else Or(tuple(signed))


@st.composite
def tight_worlds(draw: st.DrawFn) -> World:
    """Worlds whose condition often leaves no value."""
    schema = draw(schemas())
    member = schema.contract.object_type(MEMBER)
    assert member is not None
    condition = draw(_conditions(Scope(schema.contract, member)))
    return World(schema.contract, MEMBER, None, condition, draw(st.booleans()), draw(tables(schema)))


def told(world: World) -> str:
    """What checking says of the condition: `true`, `false`, both or neither, after `never`."""
    member = world.contract.object_type(world.object_name)
    assert member is not None
    found = never_faults(world.breach_when, Scope(world.contract, member))
    return " ".join(fault.message.removeprefix("can never be ").partition(":")[0] for fault in found)


def assert_held(world: World) -> str:
    said, result = told(world), judge_world(world)
    assert result.breach == 0 or "true" not in said
    assert result.compliant == 0 or "false" not in said
    return said


@given(tight_worlds())
def test_no_data_refutes_what_is_told(world: World) -> None:
    assert_held(world)


@pytest.mark.slow
def test_much_is_told_and_nothing_of_it_is_refuted() -> None:
    seen: Counter[str] = Counter()

    @settings(
        max_examples=1000,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(tight_worlds())
    def count(world: World) -> None:
        seen[assert_held(world)] += 1

    count()
    assert seen["true"] > 100
    assert seen["false"] > 15
    assert seen[""] > 100


@given(tight_worlds())
def test_a_breach_that_where_excludes_does_not_happen(world: World) -> None:
    member = world.contract.object_type(world.object_name)
    assert member is not None
    assert isinstance(world.breach_when, And | Or)
    where, *others = world.breach_when.items
    breach_when = others[0]
    told = breach_fault(breach_when, where, Scope(world.contract, member))
    narrowed = World(world.contract, MEMBER, where, breach_when, world.strict, world.tables)
    assert told is None or judge_world(narrowed).breach == 0
