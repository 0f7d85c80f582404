"""Conditions over groups: a group is an object of its own, whose properties are its keys and its figures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from catalog.contract import ObjectType, Property, ProvenanceColumns
from catalog.datatypes import DATE, Kind
from catalog.expressions.aggregates import Figure, figure_faults, figure_type, figure_unit, figures_of
from catalog.expressions.checking import Fault, Scope, TypeFault, check_condition
from catalog.expressions.lifting import lifted
from catalog.expressions.printing import print_operand
from catalog.expressions.tree import BaselineRef, Change, Condition, Presence, PropertyRef
from catalog.expressions.walking import atom_nodes, atoms
from catalog.metric_times import time_keys
from catalog.periods import Period

_NO_FIGURE = "names no aggregate: with group_by a condition is over groups, such as count() < 10"


@dataclass(frozen=True, slots=True)
class GroupKey:
    """A property by whose values rows are grouped."""

    property: str
    period: Period | None = None
    """The period in which a date or instant lies stands for it; None groups by the value itself."""


def group_type(condition: Condition, keys: tuple[GroupKey, ...], scope: Scope) -> ObjectType:
    """The object type whose objects are the groups: the keys, then the figures under their printed texts.

    `check_group_condition` found no fault, so every figure has a type. No property has such a name.
    """
    figures = tuple(_figure_property(figure, scope) for figure in figures_of(condition))
    return _type_of_groups(scope.object_type, keys, figures)


def group_scope(condition: Condition, keys: tuple[GroupKey, ...], scope: Scope) -> Scope:
    """What a lifted condition over the groups can name."""
    return Scope(scope.contract, group_type(condition, keys, scope), scope.baselines)


def _figure_property(figure: Figure, scope: Scope) -> Property:
    return Property(print_operand(figure), figure_type(figure, scope), unit=figure_unit(figure, scope))


def _type_of_groups(rows: ObjectType, keys: tuple[GroupKey, ...], figures: tuple[Property, ...]) -> ObjectType:
    named = tuple(_key_property(rows, key) for key in keys)
    return replace(
        rows,
        primary_key=tuple(key.property for key in keys),
        properties=(*named, *figures),
        provenance=ProvenanceColumns(),
    )


def _key_property(rows: ObjectType, key: GroupKey) -> Property:
    found = rows.find_property(key.property)
    if found is None:
        raise LookupError(f"{rows.name} has no property {key.property}")
    if key.period is not None:
        return Property(key.property, DATE, sensitivity=found.sensitivity)
    return replace(found, raw=None, cause=None, censored=None)


def check_group_condition(condition: Condition, keys: tuple[GroupKey, ...], scope: Scope) -> tuple[Fault, ...]:
    """Every fault of the condition of a grouped monitor whose rows are of `scope`."""
    if all(isinstance(figure, BaselineRef) for figure in figures_of(condition)):
        return (Fault(_NO_FIGURE, (0, 0)),)
    own = [fault for figure in figures_of(condition) for fault in rows_figure_faults(figure, keys, scope)]
    own += _row_faults(condition, keys, scope)
    if own:
        return tuple(dict.fromkeys(own))
    return check_condition(lifted(condition), group_scope(condition, keys, scope))


def rows_figure_faults(figure: Figure, keys: tuple[GroupKey, ...], scope: Scope) -> tuple[Fault, ...]:
    """Every fault of one figure over groups of rows of `scope`."""
    if isinstance(figure, Change) and all(key.period is None for key in keys):
        message = f"`{print_operand(figure)}` needs a period in group_by, whose one before is compared"
        return (Fault(message, figure.span),)
    times = time_keys(scope.object_type, scope.contract)
    apart = any(key.period is None and key.property in times for key in keys)
    over_time = not apart and not any(_is_one_day(key, scope.object_type) for key in keys)
    return tuple(dict.fromkeys(figure_faults(figure, scope, over_time=over_time)))


def _is_one_day(key: GroupKey, rows: ObjectType) -> bool:
    found = rows.find_property(key.property)
    moment = found is not None and found.type.kind in (Kind.DATE, Kind.TIMESTAMP)
    return moment and key.period in (None, Period.DAY)


def _row_faults(condition: Condition, keys: tuple[GroupKey, ...], scope: Scope) -> Iterator[Fault]:
    """What the condition asks of single rows, which a group is not."""
    names = {key.property for key in keys}
    figures = {print_operand(figure) for figure in figures_of(condition)}
    for atom in atoms(lifted(condition)):
        for node in atom_nodes(atom):
            if isinstance(node, PropertyRef) and node.link is None and node.name not in names | figures:
                yield Fault(_no_key(node, scope), node.span)
        if isinstance(atom, Presence) and atom.property.link is None and atom.property.name in names:
            yield Fault(f"'{atom.property}' is a key of the group, and never missing", atom.span)


def _no_key(ref: PropertyRef, scope: Scope) -> str:
    try:
        found = scope.resolve(ref)
    except TypeFault as error:
        return error.fault.message
    example = "max" if found.type.kind not in (Kind.BOOLEAN,) else "count_distinct"
    return f"'{ref}' is a property of one row; a group has its keys, and aggregates such as {example}({ref})"


def ungrouped_faults(condition: Condition) -> Iterator[Fault]:
    """The figures in the condition of a monitor whose members are rows."""
    for figure in figures_of(condition):
        message = (
            f"`{print_operand(figure)}` is a figure of a group: give the monitor group_by ([] is one group of all rows)"
        )
        yield Fault(message, figure.span)


def narrowing_faults(condition: Condition) -> Iterator[Fault]:
    """The figures in a `where`, which is asked of rows before there are groups."""
    for figure in figures_of(condition):
        message = f"`{print_operand(figure)}` is a figure of a group, and `where` narrows rows; write it in breach_when"
        yield Fault(message, figure.span)
