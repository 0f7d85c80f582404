"""What a condition over groups means against a contract, and every fault of one that means nothing."""

from __future__ import annotations

from typing import Any

import pytest

from catalog.datatypes import DATE, DOUBLE, DURATION, INTEGER, TEXT, DataType, decimal
from catalog.expressions.aggregates import SIGNATURES, aggregates_of, figures_of
from catalog.expressions.groups import GroupKey, check_group_condition, group_type, narrowing_faults
from catalog.expressions.lifting import lifted
from catalog.expressions.printing import print_condition
from catalog.expressions.tree import AggregateFunction, PropertyRef
from catalog.expressions.walking import atom_references, atoms
from catalog.periods import Period
from tests.unit.test_condition_checking import PAY, cases, parsed


def keys_of(case: dict[str, Any]) -> tuple[GroupKey, ...]:
    listed = case.get("group_by", ["classification"])
    return tuple(
        GroupKey(item) if isinstance(item, str) else GroupKey(item["of"], Period(item["period"])) for item in listed
    )


@pytest.mark.parametrize("case", cases("groups_meaningful"), ids=lambda case: case["condition"])
def test_a_condition_over_groups_that_means_something_has_no_fault(case: dict[str, Any]) -> None:
    assert check_group_condition(parsed(case["condition"]), keys_of(case), PAY) == ()


@pytest.mark.parametrize("case", cases("groups_meaningless"), ids=lambda case: case["condition"])
def test_each_fault_is_told_with_the_words_that_it_is_about(case: dict[str, Any]) -> None:
    text = case["condition"]
    found = check_group_condition(parsed(text), keys_of(case), PAY)
    assert [{"of": text[slice(*fault.span)], "says": fault.message} for fault in found] == case["faults"]
    assert found


TYPES: dict[str, DataType] = {
    "count()": INTEGER,
    "count_distinct(classification)": INTEGER,
    "avg(hours)": DOUBLE,
    "avg(hourly_rate)": DOUBLE,
    "share(hours > 1)": DOUBLE,
    "null_share(classification)": DOUBLE,
    "sum(hours)": INTEGER,
    "sum(hourly_rate)": decimal(24, 4),
    "sum(wide)": decimal(38, 0),
    "sum(score)": DOUBLE,
    "sum(break_time)": DURATION,
    "min(hourly_rate)": decimal(12, 4),
    "max(paid)": DATE,
    "min(classification)": TEXT,
    "median(hourly_rate)": decimal(13, 5),
    "median(hours)": decimal(20, 1),
    "median(wide)": DOUBLE,
    "median(score)": DOUBLE,
    "change(count())": INTEGER,
    "change(sum(hourly_rate))": decimal(25, 4),
    "change(sum(wide))": decimal(38, 0),
    "change(avg(hours))": DOUBLE,
    "change(max(paid))": DURATION,
    "change(max(seen))": DURATION,
    "relative_change(count())": DOUBLE,
}


@pytest.mark.parametrize("figure", TYPES)
def test_a_figure_is_a_property_of_its_group_with_a_type_of_its_own(figure: str) -> None:
    condition = parsed(f"{figure} = {figure}")
    groups = group_type(condition, (GroupKey("classification"), GroupKey("paid", Period.MONTH)), PAY)
    found = {item.name: item.type for item in groups.properties}
    assert found == {"classification": TEXT, "paid": DATE, figure: TYPES[figure]}
    assert groups.primary_key == ("classification", "paid")


def test_figures_keep_the_unit_of_what_they_are_values_or_sums_of() -> None:
    named = ("sum", "avg", "min", "max", "median", "count_distinct", "null_share")
    condition = parsed(" and ".join(f"{name}(hourly_rate) > 0" for name in named))
    groups = group_type(condition, (), PAY)
    assert [item.unit for item in groups.properties] == ["AUD/hour"] * 5 + [None] * 2


def test_lifting_puts_a_property_in_the_place_of_each_figure_and_changes_nothing_else() -> None:
    text = "all(avg(hours) < governed_by.min_rate) and not (count() in (1, 2) or abs(max(step)) between 1 and 2)"
    condition = lifted(parsed(text))
    assert print_condition(condition) == print_condition(parsed(text))
    refs = [ref for atom in atoms(condition) for ref in atom_references(atom)]
    assert refs == [
        PropertyRef("avg(hours)"), PropertyRef("min_rate", "governed_by"), PropertyRef("count()"),
        PropertyRef("max(step)"),
    ]  # fmt: skip


def test_figures_stand_once_each_and_a_change_hides_its_aggregate_from_them_only() -> None:
    condition = parsed("change(count()) > sum(hours) or sum(hours) > 3")
    assert [str(type(figure).__name__) for figure in figures_of(condition)] == ["Change", "Aggregate"]
    assert [item.function for item in aggregates_of(condition)] == [AggregateFunction.COUNT, AggregateFunction.SUM]


def test_a_figure_has_no_place_where_rows_are_narrowed() -> None:
    (fault,) = narrowing_faults(parsed("hours > 1 and count() > 2"))
    assert fault.message == "`count()` is a figure of a group, and `where` narrows rows; write it in breach_when"


def test_every_aggregate_has_its_line_in_the_reference() -> None:
    assert list(SIGNATURES) == list(AggregateFunction)
