"""The oracle for grouped monitors: groups, what was expected of them, and their figures, one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime

from catalog.contract import Contract, EffectiveDates, LinkType
from catalog.datatypes import Kind
from catalog.expressions.groups import GroupKey
from catalog.expressions.printing import print_operand
from catalog.expressions.tree import (
    Aggregate,
    And,
    BaselineRef,
    Between,
    Change,
    Comparison,
    Condition,
    Exists,
    Membership,
    Not,
    Operand,
    Or,
    Presence,
    PropertyRef,
)
from catalog.expressions.walking import nodes
from catalog.periods import Period
from evals.oracle.calendar_periods import label
from evals.oracle.comparisons import Situation, Unknown, merged
from evals.oracle.conditions import decide
from evals.oracle.evaluation import Table, merged_causes
from evals.oracle.group_figures import Figures
from evals.oracle.group_keys import Baselines, Group, GroupedRows, Key
from evals.oracle.grouped_conditions import lift
from evals.oracle.linking import Outcomes, match_rows
from evals.oracle.outcomes import Determinate, Outcome, Value
from evals.oracle.showing import shown
from evals.oracle.units import ChangeUnits, change
from evals.oracle.values import instant
from monitors.definition import MonitorDefinition
from trivet.verdicts import Cause, Reason, Verdict

_PRECEDENCE = list(Reason)


@dataclass(frozen=True, slots=True)
class GroupMember:
    """One member of a grouped population."""

    key: tuple[str | None, ...]
    """As people read it; nothing but None for the member of all that has no key."""
    verdict: Verdict
    reason: Reason | None
    causes: Mapping[str, Sequence[Cause]]
    partial: bool


@dataclass(frozen=True, slots=True)
class GroupResult:
    """Every member, and the counts."""

    members: tuple[GroupMember, ...]
    population: int
    breach: int
    no_data: int
    compliant: int
    partial: int
    unexpected: int
    duplicate_keys: int = 0


def judge_groups(
    contract: Contract,
    definition: MonitorDefinition,
    tables: Mapping[str, Table],
    at: datetime,
    change_units: ChangeUnits = change,
    baselines: Baselines | None = None,
) -> GroupResult:
    """The verdict of every group, and of what has no key; as `evaluation.judge` takes its arguments."""
    assert definition.grouping is not None
    return _Judging(
        GroupedRows(contract, definition, definition.grouping, tables, at, change_units, baselines)
    ).result()


@dataclass(frozen=True, slots=True)
class _Judging:
    rows: GroupedRows

    def result(self) -> GroupResult:
        over_figures = lift(self.rows.definition.breach_when)
        members = [self._member(key, group, over_figures) for key, group in self.rows.groups.items()]
        if self.rows.has_keyless:
            causes = merged_causes([Unknown(Reason.LEFT_NULL, merged(self.rows.keyless))])
            nothing = (None,) * len(self.rows.grouping.keys)
            members.append(GroupMember(nothing, Verdict.NO_DATA, Reason.LEFT_NULL, causes, partial=False))
        verdicts = Counter(member.verdict for member in members)
        expects = self.rows.grouping.expect is not None
        return GroupResult(
            members=tuple(members),
            population=len(members),
            breach=verdicts[Verdict.BREACH],
            no_data=verdicts[Verdict.NO_DATA],
            compliant=verdicts[Verdict.COMPLIANT],
            partial=sum(member.partial for member in members),
            unexpected=sum(expects and not group.expected for group in self.rows.groups.values()),
        )

    def _member(self, key: Key, group: Group, over_figures: Condition) -> GroupMember:
        figures_of = Figures(self.rows)
        figures = {
            print_operand(node): figures_of.figure(node, key, group)
            for node in _named(self.rows.definition.breach_when)
        }
        own: dict[str, Outcome] = {
            named.property: Determinate(value) for named, value in zip(self.rows.grouping.keys, key, strict=True)
        }
        own |= {name: figure.outcome for name, figure in figures.items()}
        links = {
            link.name: match_rows(*self._on_slot(link, own), linked)
            for link, linked in self.rows.far_sides
            if self._fits(link)
        }
        units = {
            PropertyRef(print_operand(node)): figures_of.unit(node) for node in _named(self.rows.definition.breach_when)
        }
        situation = Situation(
            own,
            links,
            replace(self.rows.place, units={**self.rows.place.units, **units}),
            self.rows.definition.strict,
            {name: figure.unknown for name, figure in figures.items() if figure.unknown is not None},
        )
        decision = decide(over_figures, situation)
        named = shown_key(self.rows.grouping.keys, key)
        if decision.truth is None:
            reason = min((unknown.reason for unknown in decision.counting), key=_PRECEDENCE.index)
            return GroupMember(named, Verdict.NO_DATA, reason, merged_causes(decision.counting), partial=False)
        verdict = Verdict.BREACH if decision.truth else Verdict.COMPLIANT
        partial = decision.partial or any(figure.partial for figure in figures.values())
        return GroupMember(named, verdict, None, {}, partial)

    def _fits(self, link: LinkType) -> bool:
        """Whether a group has what the link is matched by; if not, no condition over it names the link."""
        plain = {key.property for key in self.rows.grouping.keys if key.period is None}
        if not set(link.source_keys) <= plain:
            return False
        if link.as_of is None or self.rows.grouping.as_of_slot or link.as_of.date in plain:
            return True
        near = self.rows.of.find_property(link.as_of.date)
        by_day = GroupKey(link.as_of.date, Period.DAY) in self.rows.grouping.keys
        return by_day and near is not None and near.type.kind is Kind.DATE

    def _on_slot(self, link: LinkType, own: Outcomes) -> tuple[LinkType, Outcomes]:
        if link.as_of is None or not self.rows.grouping.as_of_slot:
            return link, own
        near = self.rows.of.find_property(link.as_of.date)
        assert near is not None
        is_date = near.type.kind is Kind.DATE
        at, zone = self.rows.at, self.rows.zone
        moment: Value = at.astimezone(zone).date() if is_date else instant(at.astimezone(UTC), zone)
        dates: EffectiveDates = replace(link.as_of, date="the slot")
        return replace(link, as_of=dates), {**own, "the slot": Determinate(moment)}


def shown_key(keys: Sequence[GroupKey], values: Key) -> tuple[str | None, ...]:
    """A key as people read it."""
    return tuple(_shown(key, value) for key, value in zip(keys, values, strict=True))


def _shown(key: GroupKey, value: Value) -> str | None:
    if key.period is not None and isinstance(value, date):
        return label(key.period, value)
    return shown(value)


def _named(condition: Condition) -> list[Aggregate | Change | BaselineRef]:
    """The figures of a condition: aggregates, but for those inside a change."""
    match condition:
        case And(items=items) | Or(items=items):
            return [figure for item in items for figure in _named(item)]
        case Not(item=item):
            return _named(item)
        case Comparison(left=left, right=right):
            return _inside([left, right])
        case Between(value=value, low=low, high=high):
            return _inside([value, low, high])
        case Membership(value=value, choices=choices):
            return _inside([value, *choices])
        case Presence() | Exists():
            return []


def _inside(operands: Sequence[Operand]) -> list[Aggregate | Change | BaselineRef]:
    every = [node for operand in operands for node in nodes(operand)]
    changes = [node for node in every if isinstance(node, Change)]
    hidden = [inner for node in changes for inner in nodes(node.operand)]
    plain = [node for node in every if isinstance(node, Aggregate)]
    for inner in hidden:
        if isinstance(inner, Aggregate):
            plain.remove(inner)
    return [*changes, *plain, *(node for node in every if isinstance(node, BaselineRef))]
