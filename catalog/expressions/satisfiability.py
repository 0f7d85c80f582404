"""Conditions that no data can make true, or none false: they say something else than was meant, and are refused.

Only what is certain in three-valued logic is told, whatever the views hold. A condition is taken
apart into what must hold together, and the values that this leaves to one operand are followed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias
from zoneinfo import ZoneInfo

from catalog.expressions.domains import can_be, domain_of, is_followed, is_value
from catalog.expressions.operand_types import Fault, Scope, type_of
from catalog.expressions.printing import print_condition, print_operand
from catalog.expressions.ranges import MIRRORED, NEGATED, SIGN, ZERO, Bound, Domain, is_empty, point
from catalog.expressions.tree import (
    TESTS,
    And,
    Between,
    Call,
    Comparing,
    Comparison,
    ComparisonOperator,
    Condition,
    Exists,
    LinkCount,
    Literal,
    Membership,
    Not,
    Operand,
    Or,
    Presence,
    PropertyRef,
    Quantifier,
    Span,
)
from catalog.expressions.walking import atom_links, atom_references, nodes

MOST_STEPS = 2000
"""Parts of a condition that are looked at; one with more is let through."""

_SHOWN = 3
"""Ways to make a condition true of which it is told why they fail."""
_ALWAYS = (ComparisonOperator.EQUAL, ComparisonOperator.LESS_OR_EQUAL, ComparisonOperator.GREATER_OR_EQUAL)
_Key: TypeAlias = Operand | tuple[Operand, Operand]
"""What claims are about: an operand, or the difference of two."""


def never_faults(condition: Condition, scope: Scope) -> tuple[Fault, ...]:
    """Why a condition, in which `check_condition` found no fault, can never be true, or never be false."""
    found = []
    for wanted, truth in ((True, "true"), (False, "false")):
        if (conflict := _Search(scope).conflict([_Goal(condition, wanted)], _Facts())) is not None:
            found.append(Fault(f"can never be {truth}: {conflict.message}", conflict.span))
    return tuple(found)


def breach_fault(breach_when: Condition, where: Condition, scope: Scope) -> Fault | None:
    """Why no member of a population can ever breach, where both conditions can be true alone."""
    goals = [_Goal(where, True), _Goal(breach_when, True)]
    conflict = _Search(scope).conflict(goals, _Facts())
    return None if conflict is None else Fault(f"can never be true within `where`: {conflict.message}", (0, 0))


@dataclass(frozen=True, slots=True)
class _Goal:
    condition: Condition
    wanted: bool
    in_row: bool = False
    """Whether it is asked of one matching row, and not over all of them."""
    text: str | None = None
    """How it is told; None for its own text."""

    def __str__(self) -> str:
        return self.text or _text(self.condition, self.wanted)

    def part(self, condition: Condition, wanted: bool) -> _Goal:
        """A goal that belongs to this one."""
        return _Goal(condition, wanted, self.in_row, self.text)


def _text(condition: Condition, wanted: bool) -> str:
    """What is asked for, without `not` where another word or sign says it."""
    match condition:
        case Presence(property=ref, present=present):
            return print_condition(Presence(ref, present is wanted))
        case Comparison(left=Call(function=function)) if function in TESTS:
            pass
        case Comparison(operator=operator, left=left, right=right) if not wanted and not atom_links(condition):
            return print_condition(Comparison(NEGATED[operator], left, right))
    return print_condition(condition if wanted else Not(condition))


@dataclass(frozen=True, slots=True)
class _Conflict:
    ways: tuple[str, ...]
    """Why each way to what is wanted fails."""
    span: Span

    @property
    def message(self) -> str:
        shown = "; ".join(self.ways[:_SHOWN])
        more = len(self.ways) - _SHOWN
        return shown if more <= 0 else f"{shown}; and {more} more ways fail"


@dataclass(frozen=True, slots=True)
class _Claim:
    """What one goal says of a key."""

    bound: Bound
    goal: _Goal


@dataclass(slots=True)
class _Facts:
    """What must hold of one member, and of the rows that it meets."""

    claims: dict[_Key, tuple[_Claim, ...]] = field(default_factory=dict)
    """Of an own operand; or, of a linked one, in every matching row that has a value."""
    somewhere: dict[_Key, tuple[tuple[_Claim, ...], ...]] = field(default_factory=dict)
    """Of a linked operand: groups of claims, each of them true together in some matching row."""
    present: dict[PropertyRef, tuple[bool, _Goal]] = field(default_factory=dict)

    def copy(self) -> _Facts:
        return _Facts(dict(self.claims), dict(self.somewhere), dict(self.present))

    def of_a_row(self) -> _Facts:
        """What holds of any row that decides something; what holds in some row says nothing of another."""
        return _Facts(dict(self.claims), {}, dict(self.present))


def _excluding(claims: Sequence[_Claim], last: _Goal) -> _Conflict:
    texts = list(dict.fromkeys(f"`{goal}`" for goal in (*(claim.goal for claim in claims), last)))
    if len(texts) == 1:
        return _Conflict((f"{texts[0]} excludes itself",), last.condition.span)
    return _Conflict((f"{', '.join(texts[:-1])} and {texts[-1]} exclude each other",), last.condition.span)


class _Search:
    """Looks for a way in which goals hold together."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._zone = ZoneInfo(scope.contract.calendar.time_zone)
        self._steps = 0

    def conflict(
        self, goals: Sequence[_Goal], facts: _Facts, choices: Sequence[Sequence[_Goal]] = ()
    ) -> _Conflict | None:
        """Why the goals cannot hold together, with one of each choice; None where that is not certain."""
        todo, open_choices = list(goals), list(choices)
        while todo:
            self._steps += 1
            if self._steps > MOST_STEPS:
                return None
            goal = todo.pop(0)
            inner, together = _taken_apart(goal)
            if inner and together:
                todo += inner
            elif inner:
                open_choices.append(inner)
            elif (found := self._learn(goal, facts)) is not None:
                return found
        return self._choose(open_choices, facts)

    def _choose(self, choices: Sequence[Sequence[_Goal]], facts: _Facts) -> _Conflict | None:
        if not choices:
            return None
        first, *rest = choices
        found = []
        for goal in first:
            conflict = self.conflict([goal], facts.copy(), rest)
            if conflict is None:
                return None
            found.append(conflict)
        return _Conflict(tuple(dict.fromkeys(way for item in found for way in item.ways)), found[0].span)

    def _learn(self, goal: _Goal, facts: _Facts) -> _Conflict | None:
        match goal.condition:
            case Presence(property=ref, present=present):
                return self._know_present(ref, present is goal.wanted, goal, facts)
            case Exists(link=link):
                return self._know_rows(link, goal.wanted, goal, facts)
            case Comparison() | Between() | Membership() as atom if atom_links(atom) and not goal.in_row:
                return self._learn_quantified(atom, goal, facts)
            case Comparison() as atom:
                return self._learn_comparison(atom, goal, facts)
        return None

    def _know_present(self, ref: PropertyRef, present: bool, goal: _Goal, facts: _Facts) -> _Conflict | None:
        if ref.link is not None and present:
            # Any matching row will do, so its existence is not denied, and a count that is known is not 0.
            conflict = self._know_rows(ref.link, True, goal, facts)
            if conflict is not None:
                return conflict
        before = facts.present.setdefault(ref, (present, goal))
        if before[0] is present:
            return None
        return _Conflict((f"`{before[1]}` and `{goal}` exclude each other",), goal.condition.span)

    def _know_rows(self, link: str, some: bool, goal: _Goal, facts: _Facts) -> _Conflict | None:
        """A count is known only where existence is, so the two can be said of one number."""
        operator = ComparisonOperator.GREATER if some else ComparisonOperator.LESS_OR_EQUAL
        count = LinkCount(link)
        return self._claim(count, domain_of(count, self._scope), [_Claim(Bound(operator, ZERO), goal)], facts)

    def _learn_comparison(self, atom: Comparison, goal: _Goal, facts: _Facts) -> _Conflict | None:
        if not (is_followed(atom.left) and is_followed(atom.right)):
            return None
        for ref in atom_references(atom):
            if (conflict := self._know_present(ref, True, goal, facts)) is not None:
                return conflict
        operator = atom.operator if goal.wanted else NEGATED[atom.operator]
        if atom.left == atom.right:
            if operator in _ALWAYS:
                return None
            return _Conflict((f"`{goal}` compares a value with itself",), goal.condition.span)
        said = self._said(atom, operator)
        if said is None:
            return None
        key, domain, bound = said
        if not isinstance(key, tuple) and operator is ComparisonOperator.EQUAL and not can_be(key, bound.at):
            return self._beyond(key, [_Claim(bound, goal)])
        return self._claim(key, domain, [_Claim(bound, goal)], facts)

    def _said(self, atom: Comparison, operator: ComparisonOperator) -> tuple[_Key, Domain, Bound] | None:
        """What a comparison says, and of what; None where that cannot be followed."""
        left, right = atom.left, atom.right
        if isinstance(left, Literal):
            left, right, operator = right, left, MIRRORED[operator]
        if isinstance(right, Literal):
            at = point(right.value, type_of(left, self._scope), self._zone)
            # Of two literals the first is an operand of one value.
            domain = self._literal_domain(left) if isinstance(left, Literal) else domain_of(left, self._scope)
            return None if at is None or domain is None else (left, domain, Bound(operator, at))
        if print_operand(right) < print_operand(left):
            left, right, operator = right, left, MIRRORED[operator]
        return (left, right), SIGN, Bound(operator, ZERO)

    def _claim(self, key: _Key, domain: Domain, new: Sequence[_Claim], facts: _Facts) -> _Conflict | None:
        """Adds claims that hold of the operand everywhere."""
        goal, bounds = new[-1].goal, [claim.bound for claim in new]
        if is_empty(domain, bounds):
            return self._beyond(key, new)
        known = facts.claims.get(key, ())
        for claim in known:
            if is_empty(domain, [claim.bound, *bounds]):
                return _excluding([claim], goal)
        facts.claims[key] = (*known, *new)
        everywhere = [claim.bound for claim in facts.claims[key]]
        if is_empty(domain, everywhere):
            return _excluding(known, goal)
        for group in facts.somewhere.get(key, ()):
            if is_empty(domain, [*everywhere, *(claim.bound for claim in group)]):
                return _excluding([*group, *known], goal)
        return None

    def _beyond(self, key: _Key, claims: Sequence[_Claim]) -> _Conflict:
        goal = claims[-1].goal
        if isinstance(key, Literal):
            return _Conflict((f"`{goal}` does not hold",), goal.condition.span)
        if isinstance(key, tuple) or len({claim.bound for claim in claims}) > 1:
            return _excluding(claims, goal)
        of = f"`{print_operand(key)}` ({type_of(key, self._scope)})"
        return _Conflict((f"no value of {of} makes `{goal}` true",), goal.condition.span)

    def _learn_quantified(self, atom: Comparing, goal: _Goal, facts: _Facts) -> _Conflict | None:
        """A comparison over linked rows that is decided needs a row on which it is decided so."""
        links = atom_links(atom)
        for link in links:
            if (conflict := self._know_rows(link, True, goal, facts)) is not None:
                return conflict
        row = _Goal(atom, goal.wanted, in_row=True, text=str(goal))
        if (conflict := self.conflict([row], facts.of_a_row())) is not None:
            return conflict
        for ref in atom_references(atom):
            needed = ref.link is None or isinstance(atom, Comparison)
            if needed and (conflict := self._know_present(ref, True, goal, facts)) is not None:
                return conflict
        about = self._about_one_operand(row)
        if about is None or len(links) != 1:
            return None
        key, domain, claims = about
        if self._holds_everywhere(atom, goal.wanted):
            return self._claim(key, domain, claims, facts)
        everywhere = facts.claims.get(key, ())
        if is_empty(domain, [claim.bound for claim in (*everywhere, *claims)]):
            return _excluding(everywhere, goal)
        facts.somewhere[key] = (*facts.somewhere.get(key, ()), tuple(claims))
        return None

    def _holds_everywhere(self, atom: Comparing, wanted: bool) -> bool:
        """Whether a decided comparison is so in every row with a value, and not only in some."""
        link = self._scope.link(atom_links(atom)[0])
        to_one = link is not None and link.cardinality.is_to_one
        return to_one or wanted is (atom.quantifier is Quantifier.ALL)

    def _about_one_operand(self, row: _Goal) -> tuple[_Key, Domain, list[_Claim]] | None:
        """The claims of a comparison that sets one linked value against literals or one operand; None for any other."""
        inner, together = _taken_apart(row)
        if inner and not together:
            return None
        found: list[tuple[_Key, Domain, Bound]] = []
        for part in inner or [row]:
            single = part.condition
            if not isinstance(single, Comparison):
                return None
            said = self._said(single, single.operator if part.wanted else NEGATED[single.operator])
            # Of a pair, a row decides every comparison or none; of `between` two bounds, the one without the other.
            if said is None or not self._is_plain(said[0]) or (inner and isinstance(said[0], tuple)):
                return None
            found.append(said)
        if len({key for key, _, _ in found}) != 1:
            return None
        return found[0][0], found[0][1], [_Claim(bound, row) for _, _, bound in found]

    def _is_plain(self, key: _Key) -> bool:
        """Whether a row decides every comparison of it with a literal, or of the two, or none for want of a value."""
        operands = key if isinstance(key, tuple) else (key,)
        inside = [node for operand in operands for node in nodes(operand)]
        named = any(isinstance(node, PropertyRef) and node.link is not None for node in inside)
        return named and all(is_followed(item) and is_value(item, self._scope) for item in operands)

    def _literal_domain(self, literal: Literal) -> Domain | None:
        at = point(literal.value, type_of(literal, self._scope), self._zone)
        return None if at is None or isinstance(at, str) else Domain(at, at)


def _taken_apart(goal: _Goal) -> tuple[list[_Goal], bool]:
    """The parts of a goal, and whether all must hold or one; no parts for what is asked as a whole."""
    condition, wanted = goal.condition, goal.wanted
    match condition:
        case Not(item=item):
            return [goal.part(item, not wanted)], True
        case And(items=items):
            return [goal.part(item, wanted) for item in items], wanted
        case Or(items=items):
            return [goal.part(item, wanted) for item in items], not wanted
        case Between() | Membership() if goal.in_row or not atom_links(condition):
            return [goal.part(item, wanted) for item in _comparisons(condition)], (
                wanted is isinstance(condition, Between)
            )
    return [], True


def _comparisons(atom: Between | Membership) -> Iterator[Comparison]:
    match atom:
        case Between(value=value, low=low, high=high):
            yield Comparison(ComparisonOperator.GREATER_OR_EQUAL, value, low, span=atom.span)
            yield Comparison(ComparisonOperator.LESS_OR_EQUAL, value, high, span=atom.span)
        case Membership(value=value, choices=choices):
            for choice in choices:
                yield Comparison(ComparisonOperator.EQUAL, value, choice, span=atom.span)
