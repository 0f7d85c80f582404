"""Why texts that should be the same key never meet: case, blanks, zeros, punctuation."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NearMiss:
    """Texts of one side that would be texts of the other, were they read in another way."""

    but_for: str
    """What alone keeps them apart, in words."""
    count: int
    """Distinct texts of the near side that it keeps from meeting."""
    near: str
    far: str
    """One such pair."""


def _without_zeros(text: str) -> str:
    return re.sub(r"(?<![0-9])0+(?=[0-9])", "", text)


def _letters_and_digits(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text).casefold()
    # Between digits a mark means something, whichever it is: 1.0 is not 10.
    marked = re.sub(r"(?<=[0-9])[\W_]+(?=[0-9])", ".", plain)
    return _without_zeros(re.sub(r"[^\w.]|_|(?<![0-9])\.|\.(?![0-9])", "", marked))


_WAYS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("blanks at their ends", str.strip),
    ("upper and lower case", str.casefold),
    ("case, and blanks at their ends", lambda text: text.strip().casefold()),
    ("zeros in front", _without_zeros),
    ("case, blanks, punctuation and zeros in front", _letters_and_digits),
)
"""Ways of reading that people take for granted and no engine does; the narrowest first."""


def near_miss(near: Collection[str], far: Collection[str]) -> NearMiss | None:
    """The narrowest way of reading by which some text of `near` that is not one of `far` would be one.

    Args:
        near: distinct texts of the side that looks for its partners.
        far: every distinct text of the other side.
    """
    unmet = sorted(set(near) - set(far))
    for words, read in _WAYS:
        partners: dict[str, str] = {}
        for text in sorted(far):
            partners.setdefault(read(text), text)
        pairs = [(text, partners[read(text)]) for text in unmet if read(text) in partners and read(text)]
        if pairs:
            return NearMiss(words, len(pairs), *pairs[0])
    return None
