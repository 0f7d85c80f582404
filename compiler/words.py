"""A monitor in words: what it decides, over whom, and when it cannot decide."""

from __future__ import annotations

from catalog.contract import Contract, LinkType, ObjectType, Restates
from catalog.expressions.groups import group_scope
from catalog.expressions.lifting import lifted
from catalog.expressions.operand_types import Scope
from catalog.expressions.printing import print_condition
from catalog.expressions.tree import Exists
from catalog.expressions.units import unit_conversions
from catalog.expressions.walking import atom_links, atoms, condition_links, counted_links, uses_clock
from compiler.groups.words import figure_lines, population_lines
from compiler.plan import conditions_of
from compiler.planning import plan_lines
from monitors.definition import MonitorDefinition


def explain_monitor(definition: MonitorDefinition, contract: Contract) -> list[str]:
    """The explanation, one sentence or list item a line."""
    object_type = contract.object_type(definition.object)
    if object_type is None:
        raise LookupError(f"the contract has no object type {definition.object}")
    grouping = definition.grouping
    lines = [f"{definition.title} ({definition.id})", ""]
    lines += (
        population_lines(definition, grouping, object_type)
        if grouping is not None
        else _population_lines(definition, object_type)
    )
    lines.append(f"Breach:     {print_condition(definition.breach_when)}")
    lines += [f"  {name} is what the contract certifies: {text}." for name, text in definition.metrics]
    lines.append("Compliant:  the same is decided, and false.")
    lines.append("No data:    it cannot be decided. Nothing that is missing reads as compliant.")
    lines += figure_lines(definition, grouping, contract) if grouping is not None else []
    found = [atom for condition in conditions_of(definition) for atom in atoms(condition)]
    compared = {name for atom in found if not isinstance(atom, Exists) for name in atom_links(atom)}
    for name in dict.fromkeys(name for condition in conditions_of(definition) for name in condition_links(condition)):
        link = contract.link(definition.object, name)
        if link is not None:
            on_slot = grouping is not None and grouping.as_of_slot
            lines += ["", *_link_lines(link, contract, on_slot=on_slot)]
            lines += _compared_lines(link, definition.strict) if name in compared else []
            asked = {atom.link for atom in found if isinstance(atom, Exists)}
            counted = {counted for atom in found for counted in counted_links(atom)}
            lines += _asked_lines(link, definition.strict, exists=name in asked, counted=name in counted)
    scope = Scope(contract, object_type, definition.baselines)
    converted = [text for condition in conditions_of(definition) for text in unit_conversions(condition, scope)]
    if grouping is not None:
        groups = group_scope(definition.breach_when, grouping.keys, scope)
        converted += unit_conversions(lifted(definition.breach_when), groups)
    lines += ["", *dict.fromkeys(converted)] if converted else []
    if any(uses_clock(condition) for condition in conditions_of(definition)):
        lines += ["", "Now and today are those of the slot that is evaluated."]
    return [*lines, "", *plan_lines(definition, contract)]


def _population_lines(definition: MonitorDefinition, object_type: ObjectType) -> list[str]:
    if definition.where is None:
        return [f"Population: every row of {object_type.view}."]
    return [
        f"Population: every row of {object_type.view} where {print_condition(definition.where)}.",
        "A row for which that cannot be decided stays in, as no_data (scope_unknown).",
    ]


def _link_lines(link: LinkType, contract: Contract, *, on_slot: bool) -> list[str]:
    target = contract.object_type(link.target)
    view = target.view if target else link.target
    keys = " and ".join(
        here if here == there else f"{here} = {there}"
        for here, there in zip(link.source_keys, link.target_keys, strict=True)
    )
    lines = [f"{link.name}: the rows of {view} with the same {keys}."]
    if link.as_of is not None:
        dates = link.as_of
        day = "the slot's date" if on_slot else f"the member's {dates.date}"
        lines.append(
            f"  In force on {day}, by {dates.valid_from}" + (f" and {dates.valid_to}." if dates.valid_to else ".")
        )
        if dates.restates is Restates.ALL:
            which = f" of one {', '.join(dates.within)}" if dates.within else ""
            lines.append(
                f"  Each {dates.valid_from} restates the whole schedule{which}: a key it no longer lists has no row"
            )
            lines.append("  (right_missing, superseded), and is never judged by an older one.")
        else:
            lines.append(f"  Each row stands until a later {dates.valid_from} of the same keys.")
    return lines


def _compared_lines(link: LinkType, strict: bool) -> list[str]:
    lines = []
    if link.cardinality.is_to_one:
        lines.append(
            "  At most one row should match; rows that would decide differently make it no_data (right_ambiguous)."
        )
    lines.append("  No row: right_missing. Rows, none with a usable value: right_null.")
    lines.append(
        "  strict: a matching row without a usable value makes it no_data."
        if strict
        else "  A member decided although some matching row has no usable value is counted as partial."
    )
    return lines


def _asked_lines(link: LinkType, strict: bool, *, exists: bool, counted: bool) -> list[str]:
    lines = []
    if exists:
        lines.append(f"  exists({link.name}) is decided by the matching rows, whatever they hold; false without one.")
    if counted:
        lines.append(f"  count({link.name}) is the number of matching rows, whatever they hold; 0 without one.")
    if lines and link.as_of is not None:
        unless = "unless another row matches" if exists and not counted and not strict else "even beside others"
        lines.append(f"  A matching row without usable dates leaves that open (right_null), {unless}.")
    return lines
