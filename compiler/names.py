"""Names of the columns and relations inside compiled SQL: one spelling for writer and reader.

A property keeps its own name for its determinate value; what else is known of it follows behind
a blank, which no property name can contain.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

MEMBER = "member"
"""Relation of the members; `m` wherever it is used."""
USABLE = "row usable"
"""Whether a linked row's effective dates let it decide anything."""
SUPERSEDED_FROM = "superseded from"
"""First later effective date of the row's schedule, NULL where there is none."""

UNEXPECTED = "unexpected"
"""Whether a group was found although nothing expected it."""

_UNPRINTED = re.compile(r"[^ !#-~]")


def spelled(name: str) -> str:
    """A name as queries spell it.

    Figures are named by their text, in which a condition may have texts of its own. An engine takes names that differ
    by case for one, and the referee refuses letters beyond ASCII and control characters; a hash tells such names apart.
    """
    if '"' not in name:
        return name
    return f"{_UNPRINTED.sub('_', name)} #{hashlib.sha256(name.encode('utf-8')).hexdigest()[:12]}"


def text(name: str) -> str:
    """The property's text without blanks at its ends."""
    return f"{name} text"


def number(name: str) -> str:
    """The property's text with its exponent worked in."""
    return f"{name} number"


def told(name: str) -> str:
    """The cause that the view's companion column tells."""
    return f"{name} told"


def read(name: str) -> str:
    """The value that the type rule reads, before a companion column may refuse it."""
    return f"{name} read"


def quick(name: str) -> str:
    """The determinate value, read without the stages."""
    return f"{name} quick"


def carried(column: str) -> str:
    """A column of the view as it is, carried along for the rows that are not settled."""
    return f"view {column}"


def side(name: str) -> str:
    """The side of a censored value."""
    return f"{name} side"


def limit(name: str) -> str:
    """The bound of a censored value."""
    return f"{name} limit"


def raw(name: str) -> str:
    """The property as it was printed."""
    return f"{name} raw"


def cause(name: str) -> str:
    """The cause of an indeterminate property, NULL where it is determinate."""
    return f"{name} cause"


def shown(name: str) -> str:
    """What a person is shown of the property."""
    return f"{name} shown"


def low(name: str) -> str:
    """The lower end of what the property can be, NULL where it has none."""
    return f"{name} low"


def high(name: str) -> str:
    """The upper end of what the property can be, NULL where it has none."""
    return f"{name} high"


def count(link: str) -> str:
    """How many usable rows of a link match, NULL where that is unknown."""
    return f"{link} count"


def provenance(part: str) -> str:
    """The column that holds one part of where a row was read."""
    return f"source {part}"


def reason(figure: str) -> str:
    """Why a group has no such figure, NULL where it has."""
    return f"{figure} reason"


def partial(figure: str) -> str:
    """Whether some input of the figure was indeterminate."""
    return f"{figure} partial"


def input_cause(figure: str, number: int) -> str:
    """Causes of one operand in the rows that are no inputs of the figure."""
    return f"{figure} cause {number}"


def free_relation(wanted: str, taken: Iterable[str]) -> str:
    """`wanted`, with underscores behind it until it is none of `taken` (compared without case)."""
    names = {name.lower() for name in taken}
    while wanted.lower() in names:
        wanted += "_"
    return wanted
