"""Which plan runs, chosen by rule: the readable queries, one pass shared by all monitors of a view, or held groups.

All give the same members (`tests/conformance`), so the rule is about cost alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from catalog.contract import Contract, LinkType
from catalog.engines.port import HeldName
from catalog.expressions.checking import Scope
from catalog.expressions.printing import print_condition
from catalog.expressions.tree import Exists, Presence
from catalog.expressions.walking import atom_links, atoms, counted_links
from compiler.folded_facts import Folding, folding_of
from compiler.plan import conditions_of, plan_monitor
from monitors.definition import MonitorDefinition

SMALL_VIEW = 100_000
"""Rows below which it costs less to read a view again than to compile more statements."""
CHUNK = 50
"""Monitors of one pass. More make its statement slow to prepare, and save no further reading worth the name."""


class PlanKind(StrEnum):
    """How monitors are judged."""

    PAIR = "pair"
    """Breach, no_data and population query, each for itself, over correlated EXISTS."""
    SCAN = "scan"
    """One pass that counts what is settled and keeps the rest; the breach and no_data queries judge those rows."""
    GROUPS = "groups"
    """The groups are made once and held; breach, no_data and population query judge what is held."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A plan, and the rule that chose it."""

    kind: PlanKind
    because: str


def choose(monitors: int, rows: int | None) -> Choice:
    """The plan for monitors that are due together over one view.

    Args:
        monitors: how many of them there are.
        rows: of the view; None where nobody has counted them.
    """
    if monitors > 1:
        return Choice(PlanKind.SCAN, f"{monitors} monitors over one view share its reading")
    if rows is not None and rows < SMALL_VIEW:
        return Choice(PlanKind.PAIR, f"it is alone, and its view has fewer than {SMALL_VIEW:,} rows")
    return Choice(PlanKind.SCAN, f"its view has {SMALL_VIEW:,} rows or more")


def why_no_pass(contract: Contract, *, can_hold: bool = True) -> str | None:
    """Why no pass can keep rows for the queries that follow; None if it can."""
    if not can_hold:
        return "the engine keeps no rows beside its data"
    taken = {item.view.lower() for item in contract.object_types} & {name.value for name in HeldName}
    return f"a governed view bears the name {taken.pop()}, under which a pass keeps rows" if taken else None


def why_not_held(definition: MonitorDefinition, contract: Contract, *, can_hold: bool = True) -> str | None:
    """Why no groups of a monitor are made beforehand; None if they are."""
    return "it has no groups" if definition.grouping is None else why_no_pass(contract, can_hold=can_hold)


@lru_cache(maxsize=4096)
def why_readable(definition: MonitorDefinition, contract: Contract) -> str | None:
    """Why a pass cannot judge a monitor, so that it runs by itself; None if a pass can."""
    if definition.grouping is not None:
        return "its members are groups"
    found = [atom for condition in conditions_of(definition) for atom in atoms(condition)]
    if any(counted_links(atom) for atom in found):
        return "it counts linked rows"
    object_type = contract.object_type(definition.object)
    if object_type is not None and plan_monitor(definition, Scope(contract, object_type), None).reads_masked:
        return "it reads masked properties, and rows that are kept beside the data would hold them"
    return None


def plan_lines(definition: MonitorDefinition, contract: Contract) -> list[str]:
    """How a monitor runs, in words."""
    if why_not_held(definition, contract) is None:
        return [
            f"Plan: {PlanKind.GROUPS}, its groups are made in one reading and held; breach, no_data and population",
            "  query judge what is held.",
        ]
    if (reason := why_no_pass(contract) or why_readable(definition, contract)) is not None:
        return [f"Plan: {PlanKind.PAIR}, the readable queries alone, since {reason}."]
    lines = [
        f"Plan: {PlanKind.SCAN}, one pass over the view together with the other monitors that are due over it;",
        f"  {PlanKind.PAIR}, the readable queries alone, if it is the only one and the view has fewer than "
        f"{SMALL_VIEW:,} rows.",
        "  The pass counts what is settled; the breach and no_data queries judge the rows that it leaves.",
    ]
    for condition in conditions_of(definition):
        for atom in atoms(condition):
            for name in atom_links(atom):
                link = contract.link(definition.object, name)
                if link is not None and not isinstance(atom, Presence | Exists):
                    lines.append(f"  {print_condition(atom)}: {_words(folding_of(atom), link)}")
    return list(dict.fromkeys(lines))


def _words(folding: Folding, link: LinkType) -> str:
    each = f"each {' and '.join(link.target_keys)}" + (" and time in force" if link.as_of is not None else "")
    match folding:
        case Folding.APART:
            return f"decided on the rows of {link.name} alone, once for {each}."
        case Folding.EXTREMES:
            return f"decided by the lowest and the highest value of {link.name} for {each}."
        case Folding.ALIKE:
            return f"decided on one row of {link.name} for {each}; where its rows differ, by the readable queries."
