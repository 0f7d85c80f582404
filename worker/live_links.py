"""Whether the rows of a link meet, and if they do not, why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from catalog.contract import Cardinality, LinkType, ObjectType
from catalog.datatypes import Kind
from worker.key_meeting import near_miss
from worker.live_look import Look, Told, counted, may_be_shown, repeated_key

_MOST_TEXTS = 10_000
"""Distinct texts of a key that are compared with one another; of what lies beyond them nothing is said."""


def link_tells(look: Look, link: LinkType) -> Iterator[Told]:
    """What the data shows of a link: that it matches nothing, that keys nearly meet, that to-one is not so."""
    near, far = look.object_type(link.source), look.object_type(link.target)
    rows, keyed, met, matched = look.numbers(look.queries.link(link))
    if rows and not matched:
        why = "; ".join(_why_nothing_matches(look, link, keyed, met))
        message = (
            f"matches nothing at all: of {counted(rows, 'row')} of {near.view} none meets a row of {far.view}, so "
            f"that whatever is compared over it is no_data (right_missing): {why}"
        )
        yield Told(message, is_fault=True)
    elif met < keyed:
        yield from (Told(message, is_fault=False) for message in _near_misses(look, link))
    if link.cardinality.is_to_one:
        key = [*link.target_keys, *([link.as_of.valid_from] if link.as_of else [])]
        consequence = "; where such rows would decide differently, the member is no_data (right_ambiguous)"
        yield from _repeats(look, link, far, key, consequence)
    if link.cardinality is Cardinality.ONE_TO_ONE:
        key = [*link.source_keys, *([link.as_of.date] if link.as_of else [])]
        yield from _repeats(look, link, near, key, "; each of them is judged by the same linked row")


def _repeats(look: Look, link: LinkType, of: ObjectType, key: list[str], consequence: str) -> Iterator[Told]:
    if (found := repeated_key(look, of, key)) is not None:
        message = f"is {link.cardinality}, and {found}{consequence}"
        yield Told(message, is_fault=False)


def _why_nothing_matches(look: Look, link: LinkType, keyed: int, met: int) -> Iterator[str]:
    far = look.object_type(link.target)
    rows, unkeyed = look.numbers(look.queries.keys(far, link.target_keys))
    if not rows:
        yield f"{far.view} has no row"
    elif met:
        dates = f"{link.source}.{link.as_of.date} and {far.name}.{link.as_of.valid_from}" if link.as_of else "dates"
        yield f"the keys of {counted(met, 'row')} meet, and at no date is such a row in force; look at {dates}"
    elif not keyed or rows == unkeyed:
        yield from _unread(look, look.object_type(link.source), link.source_keys)
        yield from _unread(look, far, link.target_keys)
    else:
        yield from _strangers(look, link)


def _unread(look: Look, of: ObjectType, key: tuple[str, ...]) -> Iterator[str]:
    """The parts of a key that can be read in no row."""
    for name in key:
        texts = _texts(look, of, name)
        if not texts.read and texts.is_whole:
            declared = of.find_property(name)
            example = f", such as '{texts.unread[0]}'" if texts.unread and may_be_shown(of, [name]) else ""
            yield f"{of.name}.{name} can be read as {declared.type if declared else 'a key'} in no row{example}"


def _strangers(look: Look, link: LinkType) -> Iterator[str]:
    """Parts of the key that have no value in common; where each has, it is the whole key that never meets."""
    apart = []
    for here, there in zip(link.source_keys, link.target_keys, strict=True):
        pair = _Pair(look, link, here, there)
        if not set(pair.near.read) & set(pair.far.read) and pair.is_whole:
            apart.append(pair.near_miss() or f"{pair.names} have no value in common{pair.example()}")
    yield from apart
    if not apart:
        keys = " and ".join(link.source_keys)
        yield f"its keys have values in common, but no two rows have the same {keys}"


def _near_misses(look: Look, link: LinkType) -> Iterator[str]:
    """Texts that do not meet and would, were they spelt alike."""
    for here, there in zip(link.source_keys, link.target_keys, strict=True):
        pair = _Pair(look, link, here, there)
        if pair.is_whole and (found := pair.near_miss()) is not None:
            yield found


@dataclass(frozen=True, slots=True)
class _Texts:
    """The distinct texts of one part of a key."""

    read: tuple[str, ...]
    unread: tuple[str, ...]
    """Those that are no value of the type; never NULL."""
    is_whole: bool
    """Whether they are all there are."""


def _texts(look: Look, of: ObjectType, name: str) -> _Texts:
    rows = look.rows(look.queries.values(of, name, most=_MOST_TEXTS))
    read = tuple(str(text) for text, cause in rows if cause is None)
    unread = tuple(str(text) for text, cause in rows if cause is not None and text is not None)
    return _Texts(read, unread, len(rows) < _MOST_TEXTS)


class _Pair:
    """Both sides of one part of a link's key."""

    def __init__(self, look: Look, link: LinkType, here: str, there: str) -> None:
        near, far = look.object_type(link.source), look.object_type(link.target)
        self.near, self.far = _texts(look, near, here), _texts(look, far, there)
        self.is_whole = self.near.is_whole and self.far.is_whole
        self.names = f"{near.name}.{here} and {far.name}.{there}"
        self._is_text = (declared := near.find_property(here)) is not None and declared.type.kind is Kind.TEXT
        self._is_shown = may_be_shown(near, [here]) and may_be_shown(far, [there])

    def near_miss(self) -> str | None:
        """In words, what alone keeps texts apart; None where nothing is known to."""
        found = near_miss(self.near.read, self.far.read) if self._is_text else None
        if found is None:
            return None
        example = f", such as '{found.near}' and '{found.far}'" if self._is_shown else ""
        texts = counted(found.count, "text")
        return f"{texts} of {self.names} would meet but for {found.but_for}{example}; spell them alike in a view"

    def example(self) -> str:
        """A value of each side."""
        if not (self._is_shown and self.near.read and self.far.read):
            return ""
        return f", such as '{self.near.read[0]}' and '{self.far.read[0]}'"
