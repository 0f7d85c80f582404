"""Generated groups held against what earlier evaluations came to, in compiled queries and in the oracle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from pathlib import Path

from hypothesis import given, note, settings
from hypothesis import strategies as st

from catalog.contract import ObjectType
from catalog.datatypes import DataType, Kind
from catalog.expressions.aggregates import aggregates_of, figure_type
from catalog.expressions.baselines import BaselineRule, Statistic
from catalog.expressions.checking import Scope
from catalog.expressions.groups import check_group_condition
from catalog.expressions.tree import (
    Aggregate,
    AggregateFunction,
    And,
    BaselineRef,
    Comparison,
    ComparisonOperator,
    Condition,
    Not,
    Or,
)
from evals.oracle.group_keys import GroupedRows, Key
from evals.oracle.groups import judge_groups, shown_key
from evals.oracle.outcomes import Value
from evals.proving.agreement import differences
from monitors.baselines import group_key
from monitors.definition import MonitorDefinition
from tests.conformance.grouped_harness import definition_of
from tests.conformance.harness import describe, snapshot_of
from tests.conformance.test_group_cases import CONTRACT, case_of
from tests.oracle.grouped_worlds import GroupedWorld, grouped_worlds
from trivet.verdicts import Reason
from worker.baselines import Past
from worker.judging import judge

DATA_SETS = min(settings.default.max_examples, 25)
_VALUES = st.sampled_from([None, None, *(Decimal(text) for text in ("0", "1", "2", "3", "-1", "0.5", "1000000"))])


@dataclass(frozen=True, slots=True)
class BoundedWorld:
    """A grouped world whose condition names a baseline, and what that comes to."""

    world: GroupedWorld
    rule: BaselineRule
    held: Mapping[Key, Decimal]
    """By group; one that is left out has no history."""

    @property
    def definition(self) -> MonitorDefinition:
        """The monitor."""
        return replace(definition_of(self.world), baselines=(self.rule,))

    @property
    def of_type(self) -> DataType:
        """The type of the baseline."""
        return figure_type(BaselineRef(self.rule.name), _scope(self.world, self.rule))


def _scope(world: GroupedWorld, *rules: BaselineRule) -> Scope:
    member = world.contract.object_type(world.object_name)
    assert isinstance(member, ObjectType)
    return Scope(world.contract, member, rules)


@st.composite
def bounded_worlds(draw: st.DrawFn) -> BoundedWorld:
    """Grouped worlds with a bound of their own, which stands beside the condition that they have anyway."""
    world = draw(grouped_worlds())
    numbers = [of for of in aggregates_of(world.breach_when) if figure_type(of, _scope(world)).is_number]
    of = draw(st.sampled_from([Aggregate(AggregateFunction.COUNT, None), *numbers, *numbers]))
    rule = BaselineRule("usual", of, draw(st.sampled_from(Statistic)), 3, 2)
    bound = Comparison(draw(st.sampled_from(ComparisonOperator)), of, BaselineRef("usual"))
    beside: list[Condition] = [bound, And((world.breach_when, bound)), Or((Not(bound), world.breach_when))]
    sound = [tree for tree in beside if not check_group_condition(tree, world.grouping.keys, _scope(world, rule))]
    # A figure of so many digits that no decimal holds it beside its own mean is a rare one.
    bounded = replace(world, breach_when=draw(st.sampled_from(sound or [world.breach_when])))
    groups = GroupedRows(world.contract, definition_of(world), world.grouping, world.tables, world.at).groups
    drawn = {key: draw(_VALUES) for key in groups}
    return BoundedWorld(bounded, rule, {key: value for key, value in drawn.items() if value is not None})


@dataclass(frozen=True, slots=True)
class _HeldPast:
    held: Mapping[str, Decimal]
    evaluations: tuple[str, ...] = ()

    def comes_to(self, key: str, *, exact: bool) -> Decimal | Reason:
        return self.held.get(key, Reason.INSUFFICIENT)


@settings(max_examples=DATA_SETS)
@given(bounded=bounded_worlds())
def test_compiled_bounds_and_oracle_agree_on_every_group(bounded: BoundedWorld) -> None:
    world, definition = bounded.world, bounded.definition
    keys = world.grouping.keys
    texts = {
        group_key([key.property for key in keys], shown_key(keys, values)): value
        for values, value in bounded.held.items()
    }

    def look_back(_: MonitorDefinition, rule: BaselineRule, measure: str, at: datetime) -> Past:
        return _HeldPast(texts)

    as_double = bounded.of_type.kind is Kind.DOUBLE
    held: dict[Key, Value] = {key: float(value) if as_double else value for key, value in bounded.held.items()}
    expected = judge_groups(world.contract, definition, world.tables, world.at, baselines={"usual": held})
    with snapshot_of(world.tables) as snapshot:
        found = judge(definition, world.contract, snapshot, world.at, look_back=look_back)
    note(describe(world))
    note(f"{bounded.rule} comes to {bounded.held}")
    assert differences(found, expected) == []


def test_a_group_has_one_key_however_many_digits_expected_members_are_written_with() -> None:
    monitor = {
        "group_by": ["turbidity"],
        "expect": {"object": "reading", "key": "volume"},
        "breach_when": "count() > baseline.usual",
        "baselines": {"usual": {"of": "count()", "statistic": "mean", "last": 3, "min_history": 2}},
    }
    reading = "turbidity,volume\n2,2\n"
    case = case_of(Path("case.yaml"), {"says": "", "monitor": monitor, "reading": reading, "members": {}})
    past = _HeldPast({group_key(["turbidity"], ["2"]): Decimal(0)})
    with snapshot_of(case.tables) as snapshot:
        found = judge(case.definition, CONTRACT, snapshot, case.at, look_back=lambda *_: past)
    assert [member.key for member in found.breached] == [{"turbidity": "2"}]
    assert [(value.key, value.value) for value in found.measures] == [(group_key(["turbidity"], ["2"]), "1")]
