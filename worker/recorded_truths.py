"""What recorded inputs leave open: of each comparison, and of a condition, the truths that it may have had.

Of the linked rows only one is recorded beside a member, so what a comparison comes to on it is not always what it came
to on all of them. A range holds every truth that it can have had. Two are given for each comparison: what was recorded
*tells* one, as its inputs are naturally read, and as *doubted* it is wider where that reading is not certain.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum

from catalog.contract import LinkType, Property
from catalog.datatypes import Kind
from catalog.expressions.tree import (
    And,
    Atom,
    Between,
    Comparing,
    Comparison,
    Condition,
    Exists,
    Membership,
    Not,
    Or,
    Presence,
    Quantifier,
)
from trivet.verdicts import Cause, Reason, Verdict
from worker.recorded_members import RecordedMember

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)


class Truth(IntEnum):
    """The three truth values, in the order by which `and` is the least and `or` the greatest."""

    FALSE = 0
    UNKNOWN = 1
    TRUE = 2


@dataclass(frozen=True, slots=True)
class Range:
    """Every truth from the lowest to the highest."""

    low: Truth
    high: Truth

    def __iter__(self) -> Iterator[Truth]:
        return iter([truth for truth in Truth if self.low <= truth <= self.high])

    @property
    def only(self) -> Truth | None:
        """The one truth; None where there are several."""
        return self.low if self.low is self.high else None

    def with_unknown(self) -> Range:
        """The range and whatever comes of it where its truths may have been undecided instead."""
        return Range(min(self.low, Truth.UNKNOWN), max(self.high, Truth.UNKNOWN))


def exactly(truth: Truth) -> Range:
    """One truth."""
    return Range(truth, truth)


OPEN = Range(Truth.FALSE, Truth.TRUE)


def range_of(condition: Condition, of: Callable[[Atom], Range]) -> Range:
    """The range of a condition, from those of what it is made of; strong Kleene logic keeps the order of truths."""
    match condition:
        case And(items=items):
            ranges = [range_of(item, of) for item in items]
            return Range(min(item.low for item in ranges), min(item.high for item in ranges))
        case Or(items=items):
            ranges = [range_of(item, of) for item in items]
            return Range(max(item.low for item in ranges), max(item.high for item in ranges))
        case Not(item=item):
            inner = range_of(item, of)
            return Range(Truth(2 - inner.high), Truth(2 - inner.low))
        case Comparison() | Between() | Membership() | Presence() | Exists():
            return of(condition)


def counted(condition: Condition, of: Callable[[Atom], Range]) -> Iterator[Atom]:
    """What is unknown, with everything above it: the comparisons that give an undecided member its reason."""
    if range_of(condition, of).only is not Truth.UNKNOWN:
        return
    match condition:
        case And(items=items) | Or(items=items):
            for item in items:
                yield from counted(item, of)
        case Not(item=item):
            yield from counted(item, of)
        case Comparison() | Between() | Membership() | Presence() | Exists():
            yield condition


@dataclass(frozen=True, slots=True)
class AtomReading:
    """How one comparison or test is read from what was recorded."""

    atom: Atom
    links: tuple[LinkType, ...]
    """Over whose rows it goes."""
    properties: tuple[tuple[str, Property], ...]
    """The properties that it names, by operand."""
    decides: bool
    """Whether the recorded row of its link was chosen by it: one that makes it true, if any does; else false."""
    alone: bool
    """Whether nothing else in the definition can be undecided, so that a member's reason is its reason."""
    strict: bool
    labelled: bool
    """Whether it names a period of a group, of which a label is recorded and no date."""
    unreasoned: bool
    """Whether it names a figure or count, of which it is recorded that there is none, and not why."""

    @property
    def is_judged(self) -> bool:
        """Whether it is judged on the recorded row."""
        return not isinstance(self.atom, Exists) and not self.labelled

    @property
    def tells_reason(self) -> bool:
        """Whether the recorded row tells why it is unknown."""
        if not self.is_judged or self.unreasoned:
            return False
        dated = any(link.as_of is not None for link in self.links)
        return not self.links or (self.decides and not dated and not self.strict and (self.alone or not self._to_one))

    @property
    def why_open(self) -> str:
        """Why what was recorded does not tell what it came to, where it does not."""
        if self.labelled:
            return "of a period only its label was recorded"
        if isinstance(self.atom, Exists):
            return f"whether a row of {self.atom.link} matched was not recorded"
        if self.links:
            return f"not every row of {', '.join(link.name for link in self.links)} that can have decided was recorded"
        return "a recorded text need not be what its value was read from"

    def told(self, truth: Truth, item: RecordedMember) -> Range:
        """What was recorded tells of it.

        Args:
            truth: what it comes to on the recorded row.
            item: the member.
        """
        if self.labelled:
            return OPEN
        match self.atom:
            case Exists():
                return self._existence(self.links[0], item)
            case Presence(present=present) if self.links:
                shown = Truth.TRUE if present else Truth.FALSE
                return exactly(truth) if self._to_one or truth is shown else OPEN
            case Comparison() | Between() | Membership() if self.links:
                return exactly(truth) if self._settled(self.atom, truth) else OPEN
            case _:
                return exactly(truth)

    def doubted(self, truth: Truth, item: RecordedMember) -> Range:
        """Whatever it may have been, if what was recorded need not be read as it naturally is."""
        if any(_is_doubtful(found, item.operands.get(name)) for name, found in self.properties):
            return OPEN
        told = self.told(truth, item)
        if self.links and not isinstance(self.atom, Exists) and self._to_one and not self.decides:
            return OPEN
        if isinstance(self.atom, Presence) and any(found.cause or found.raw for _, found in self.properties):
            return OPEN
        return told.with_unknown() if self._unseen_doubt(item) else told

    @property
    def _to_one(self) -> bool:
        return any(link.cardinality.is_to_one for link in self.links)

    def _settled(self, atom: Comparing, truth: Truth) -> bool:
        """Whether no other matching row can have changed what it comes to on the recorded one."""
        if self._to_one:
            return True
        if truth is (Truth.TRUE if atom.quantifier is Quantifier.ANY else Truth.FALSE):
            return True
        return self.decides and (atom.quantifier is Quantifier.ANY or truth is Truth.UNKNOWN)

    def _existence(self, link: LinkType, item: RecordedMember) -> Range:
        if item.has_row(link.name):
            return exactly(Truth.TRUE)
        dated = link.as_of is not None and link.as_of.date in item.causes
        return exactly(Truth.UNKNOWN) if dated or Cause.KEY_NULL in item.causes.get(link.name, ()) else OPEN

    def _unseen_doubt(self, item: RecordedMember) -> bool:
        """Whether linked rows, or dates, that were not recorded are why it was undecided."""
        if item.verdict is not Verdict.NO_DATA or not self.links:
            return False
        hidden = not self.alone or item.reason is Reason.SCOPE_UNKNOWN
        if self._to_one and (hidden or item.reason is Reason.RIGHT_AMBIGUOUS):
            return True
        if self.strict and (hidden or item.reason is Reason.RIGHT_NULL):
            return True
        return any(name in item.causes for link in self.links for name in _dates(link))


def _dates(link: LinkType) -> list[str]:
    """The effective dates of a link, as causes name them; none of them is an operand."""
    if link.as_of is None:
        return []
    far = [f"{link.name}.{name}" for name in (link.as_of.valid_from, link.as_of.valid_to) if name]
    return [link.as_of.date, *far]


def _is_doubtful(of: Property, text: str | None) -> bool:
    """Whether a recorded text need not be what the value was read from, or is not all of it."""
    if text is None:
        return False
    match of.type.kind:
        case Kind.DURATION:
            return True
        case Kind.TEXT:
            # The ledger holds composed characters, and none that some database refuses.
            return not text.isascii()
        case Kind.DATE | Kind.TIMESTAMP if _DAY.match(text) is None:
            return True
        case _:
            return of.censored is not None
