"""One comparison for one member: its truth over the matching rows, and why it is unknown where it is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TypeAlias

from catalog.expressions.tree import (
    Between,
    Comparing,
    Comparison,
    ComparisonOperator,
    LinkCount,
    Membership,
    Operand,
    PropertyRef,
)
from catalog.expressions.walking import atom_links, atom_references, counted_links, parts
from evals.oracle.kleene import Truth, conjunction, disjunction, quantified
from evals.oracle.linking import LinkedRow, Matches, Outcomes
from evals.oracle.operands import Lookup, Place, compare, evaluate, failures
from evals.oracle.outcomes import Determinate, Indeterminate, Outcome, cause_of
from evals.oracle.units import unit_of
from trivet.verdicts import Cause, Reason

Causes: TypeAlias = Mapping[str, set[Cause]]
"""Causes by operand, as a person reads it."""
Combination: TypeAlias = Mapping[str, LinkedRow]
"""One matching row for each link that a comparison names."""


@dataclass(frozen=True, slots=True)
class Situation:
    """A member and everything that its conditions can look at."""

    own: Outcomes
    links: Mapping[str, Matches]
    place: Place
    strict: bool
    figures: Mapping[str, Unknown] = field(default_factory=dict)
    """Of a group, why it has no such figure, by the figure's text."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """Why one comparison, or one figure of a group, is unknown."""

    reason: Reason
    causes: Causes


@dataclass(frozen=True, slots=True)
class Decision:
    """What a condition comes to."""

    truth: Truth
    counting: tuple[Unknown, ...]
    """Its unknown comparisons whose parents, up to it, are all unknown; none where it is decided."""
    partial: bool
    """Whether some comparison in it, counting or not, met a matching row that is not determinate."""


def decide_comparison(atom: Comparing, situation: Situation) -> Decision:
    """What a comparison comes to, over the matching rows of every link that it quantifies over."""
    links = {name: situation.links[name] for name in atom_links(atom)}
    combinations = [dict(zip(links, rows, strict=True)) for rows in product(*(met.rows for met in links.values()))]
    truths = [_truth_on(atom, combination, situation) for combination in combinations]
    undecided = [combination for combination, truth in zip(combinations, truths, strict=True) if truth is None]
    met_unusable = any(situation.links[name].unusable_rows for name in counted_links(atom))
    if links:
        to_one = all(met.to_one for met in links.values())
        truth = quantified(atom.quantifier, truths, to_one=to_one, strict=situation.strict)
    else:
        truth = truths[0]
    partial = met_unusable or (bool(links) and bool(undecided))
    if truth is not None:
        return Decision(truth, (), partial)
    why = Unknown(_reason(atom, links, truths, situation), _causes(atom, links, undecided if links else (), situation))
    return Decision(None, (why,), partial)


def _truth_on(atom: Comparing, combination: Combination, situation: Situation) -> Truth:
    """The comparison on one matching row (or pair of rows); None where that is not determinate for it."""
    blocked = any(row.unusable for row in combination.values()) or _has_own_without_value(atom, situation)
    if combination and blocked:
        return None
    lookup = _lookup(combination, situation)
    value, *choices = parts(atom)

    def holds(operator: ComparisonOperator, other: Operand) -> Truth:
        units = situation.place.units
        changed = situation.place.change_units(unit_of(other, units), unit_of(value, units))
        here, there = (evaluate(side, lookup, situation.place) for side in (value, other))
        return compare(operator, here, there, changed)

    match atom:
        case Comparison(operator=operator):
            return holds(operator, choices[0])
        case Between(low=low, high=high):
            from_low = holds(ComparisonOperator.GREATER_OR_EQUAL, low)
            return conjunction([from_low, holds(ComparisonOperator.LESS_OR_EQUAL, high)])
        case Membership():
            return disjunction([holds(ComparisonOperator.EQUAL, choice) for choice in choices])


def _lookup(combination: Combination, situation: Situation, *, counting: bool = True) -> Lookup:
    def find(named: PropertyRef | LinkCount) -> Outcome:
        if isinstance(named, LinkCount):
            count = situation.links[named.link].count if counting else None
            return Indeterminate(Cause.NULL) if count is None else Determinate(count)
        if named.link is None:
            return situation.own[named.name]
        row = combination.get(named.link)
        # Without a row, so that arithmetic over own properties alone can be told from the rest.
        return Indeterminate(Cause.NULL) if row is None else row.outcomes[named.name]

    return find


def _figures(atom: Comparing, situation: Situation) -> list[Unknown]:
    """The figures that an atom names and that a group has not."""
    named = [ref.name for ref in atom_references(atom) if ref.link is None]
    return [situation.figures[name] for name in named if name in situation.figures]


def _own_causes(atom: Comparing, situation: Situation) -> Iterator[tuple[str, Cause]]:
    for ref in atom_references(atom):
        if (
            ref.link is None
            and ref.name not in situation.figures
            and (cause := cause_of(situation.own[ref.name])) is not None
        ):
            yield ref.name, cause


def _has_own_without_value(atom: Comparing, situation: Situation) -> bool:
    """Whether an own operand is indeterminate and not even a bound."""
    if any(situation.links[name].count is None for name in counted_links(atom)):
        return True
    own = [situation.own[ref.name] for ref in atom_references(atom) if ref.link is None]
    return any(isinstance(outcome, Indeterminate) for outcome in own)


def _failures(
    atom: Comparing, combination: Combination, situation: Situation, *, counting: bool = True
) -> Iterator[tuple[str, Cause]]:
    for part in parts(atom):
        yield from failures(part, _lookup(combination, situation, counting=counting), situation.place)


def _reason(atom: Comparing, links: Mapping[str, Matches], truths: Sequence[Truth], situation: Situation) -> Reason:
    counted = [situation.links[name] for name in counted_links(atom)]
    own = {cause for _, cause in _own_causes(atom, situation)}
    lacking = {unknown.reason for unknown in _figures(atom, situation)}
    if Reason.LEFT_MISSING in lacking:
        return Reason.LEFT_MISSING
    failed = Reason.LEFT_NULL in lacking or any(_failures(atom, {}, situation, counting=False))
    if not links and not counted:
        return Reason.LEFT_NULL if failed or own or not lacking else Reason.INSUFFICIENT
    if own - {Cause.CENSORED} or failed:
        return Reason.LEFT_NULL
    if any(met.date_unknown for met in (*links.values(), *counted)):
        return Reason.LEFT_NULL
    if not all(met.rows for met in links.values()) or any(met.key_unknown for met in counted):
        return Reason.RIGHT_MISSING
    if lacking:
        return Reason.INSUFFICIENT
    if own:
        return Reason.LEFT_NULL
    if not any(truth is not None for truth in truths) or (situation.strict and None in truths):
        return Reason.RIGHT_NULL
    return Reason.RIGHT_AMBIGUOUS


def _causes(
    atom: Comparing, links: Mapping[str, Matches], undecided: Sequence[Combination], situation: Situation
) -> Causes:
    found = [*_own_causes(atom, situation), *_failures(atom, {}, situation)]
    for unknown in _figures(atom, situation):
        found += ((operand, cause) for operand, causes in unknown.causes.items() for cause in causes)
    for name, met in links.items():
        found += met.date_unknown.items()
        found += [(name, Cause.KEY_NULL)] * met.key_unknown + [(name, Cause.SUPERSEDED)] * met.superseded
    for name in counted_links(atom):
        found += asked_causes(name, situation.links[name])
    for combination in undecided:
        found += _failures(atom, combination, situation)
        found += _linked_causes(atom, combination)
    return merged(found)


def asked_causes(name: str, met: Matches) -> Iterator[tuple[str, Cause]]:
    """Why it is unknown which rows of a link match: keys, dates, and rows without usable dates."""
    yield from met.date_unknown.items()
    yield from [(name, Cause.KEY_NULL)] * met.key_unknown
    for row in met.unusable_rows:
        yield from ((f"{name}.{of}", cause) for of, cause in row.unusable.items())


def merged(found: Iterable[tuple[str, Cause]]) -> Causes:
    """The causes of each operand."""
    causes: defaultdict[str, set[Cause]] = defaultdict(set)
    for operand, cause in found:
        causes[operand].add(cause)
    return causes


def _linked_causes(atom: Comparing, combination: Combination) -> Iterator[tuple[str, Cause]]:
    for ref in atom_references(atom):
        if ref.link is not None and (cause := cause_of(combination[ref.link].outcomes[ref.name])) is not None:
            yield str(ref), cause
    for name, row in combination.items():
        yield from ((f"{name}.{of}", cause) for of, cause in row.unusable.items())
