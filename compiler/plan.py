"""Definition to plan: which views are read, which of their properties, and how their rows match."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from catalog.contract import LinkType, ObjectType, Property, Restates
from catalog.expressions.checking import Scope
from catalog.expressions.tree import Atom, Condition, LinkCount, PropertyRef
from catalog.expressions.walking import atom_references, atoms, condition_links, counted_links, shown_operands
from monitors.definition import MonitorDefinition
from trivet.verdicts import Reason

PhysicalColumns: TypeAlias = Mapping[str, Mapping[str, str]]
"""Physical type of each column of each view, as one snapshot has them."""


@dataclass(frozen=True, slots=True)
class RelationPlan:
    """One governed view as the queries read it."""

    relation: str
    """Name of the relation inside the compiled SQL."""
    object_type: ObjectType
    properties: tuple[Property, ...]
    """The properties read, each once."""
    flag: str | None = None
    """Boolean column of the view that says which of its rows are read; None where all are."""


@dataclass(frozen=True, slots=True)
class LinkPlan:
    """One link that the condition names."""

    link: LinkType
    far: RelationPlan
    partition: tuple[str, ...]
    """Far properties that tell schedules apart; empty where one schedule holds all rows."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A property of a group that says itself why it has no value: a figure, or the key as a whole."""

    causes: tuple[tuple[str, str], ...]
    """Each operand that it is made from with the column of its causes, NULL where it has a value."""
    is_figure: bool = True
    """Whether it has a reason of its own, and can be partial."""


@dataclass(frozen=True, slots=True)
class MonitorPlan:
    """Everything that the queries of one monitor are made from."""

    definition: MonitorDefinition
    scope: Scope
    member: RelationPlan
    links: tuple[LinkPlan, ...]
    counted: tuple[str, ...]
    """The links whose matching rows are counted."""
    operands: tuple[PropertyRef | LinkCount, ...]
    """What is shown of a member, in the order of the text: `breach_when` first, then `where`."""
    physical: PhysicalColumns | None
    at: datetime | None
    """The slot's instant, with an offset; None where the conditions look at no clock."""
    measures: Mapping[str, Measure] = field(default_factory=dict)
    """By name, those properties of groups; none where the members are rows."""
    scope_reason: Reason = Reason.SCOPE_UNKNOWN
    """The reason of a member whose `where` is unknown."""
    taken: frozenset[str] = frozenset()
    """Names that other relations of the same SQL have."""

    @property
    def is_grouped(self) -> bool:
        """Whether the members are groups; each has a figure, or there would be nothing to compare."""
        return bool(self.measures)

    @property
    def figures(self) -> tuple[str, ...]:
        """The names of the measures that are figures."""
        return tuple(name for name, measure in self.measures.items() if measure.is_figure)

    @property
    def reads_masked(self) -> bool:
        """Whether any property that is read is masked."""
        relations = (self.member, *(link.far for link in self.links))
        return any(item.masked for relation in relations for item in relation.properties)

    def link(self, name: str) -> LinkPlan:
        """The plan of the link of that name."""
        return next(item for item in self.links if item.link.name == name)


def plan_monitor(
    definition: MonitorDefinition, scope: Scope, physical: PhysicalColumns | None, at: datetime | None = None
) -> MonitorPlan:
    """The plan of a definition that `check_condition` found no fault with."""
    conditions = conditions_of(definition)
    found = [atom for condition in conditions for atom in atoms(condition)]
    operands = tuple(dict.fromkeys(shown for atom in found for shown in shown_operands(atom)))
    named = dict.fromkeys(name for condition in conditions for name in condition_links(condition))
    links = tuple(_plan_link(name, found, scope) for name in named)
    counted = tuple(dict.fromkeys(name for atom in found for name in counted_links(atom)))
    own = [shown.name for shown in operands if isinstance(shown, PropertyRef) and shown.link is None]
    for plan in links:
        own += plan.link.source_keys
        own += [plan.link.as_of.date] if plan.link.as_of else []
    member = relation_plan("member", scope.object_type, own)
    return MonitorPlan(definition, scope, member, links, counted, operands, physical, at)


def conditions_of(definition: MonitorDefinition) -> tuple[Condition, ...]:
    """`breach_when`, `where` if there is one, and for each baseline one that names what it is taken of."""
    asked = (definition.breach_when,) if definition.where is None else (definition.breach_when, definition.where)
    return (*asked, *(rule.beside_itself for rule in definition.baselines))


def _plan_link(name: str, found: list[Atom], scope: Scope) -> LinkPlan:
    link = scope.link(name)
    if link is None:
        raise LookupError(f"{scope.object_type.name} has no link {name}")
    far = scope.target(link)
    named = [ref.name for atom in found for ref in atom_references(atom) if ref.link == name]
    named += link.target_keys
    partition: tuple[str, ...] = ()
    if link.as_of:
        named += [link.as_of.valid_from, *([link.as_of.valid_to] if link.as_of.valid_to else [])]
        partition = link.target_keys if link.as_of.restates is Restates.CHANGES else link.as_of.within
    return LinkPlan(link, relation_plan(name, far, named), partition)


def relation_plan(relation: str, object_type: ObjectType, named: Sequence[str]) -> RelationPlan:
    """A view with its key and the properties that are named."""
    wanted = dict.fromkeys([*object_type.primary_key, *named])
    properties = tuple(item for name in wanted if (item := object_type.find_property(name)) is not None)
    return RelationPlan(relation, object_type, properties)
