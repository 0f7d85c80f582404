"""Results between the process that asks and the one that answers: typed values as JSON and back, none of them code.

A text, an integer, a boolean and NULL are themselves; each other value is an object of one key, its kind, with the
value's text.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal

from catalog.engines.port import Cell


class UnknownCell(ValueError):
    """A value that no question gives, such as a list or a whole row."""


def encode(value: object) -> object:
    """The value as JSON holds it.

    Raises:
        UnknownCell: it is none of `Cell`.
    """
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return {"double": repr(value)}
        case Decimal():
            return {"decimal": str(value)}
        case datetime():
            return {"timestamp": value.isoformat()}
        case date():
            return {"date": value.isoformat()}
        case time():
            return {"time": value.isoformat()}
        case timedelta():
            # The client counts a month as 30 days.
            raise UnknownCell("an interval has no fixed length and cannot be shown; cast it to text")
    raise UnknownCell(f"a value of type {type(value).__name__} cannot be shown")


def decode(value: object) -> Cell:
    """The value that `encode` was given.

    Raises:
        UnknownCell: it is nothing that `encode` makes.
    """
    match value:
        case None | bool() | int() | str():
            return value
        case dict():
            for kind, text in value.items():
                if len(value) == 1 and isinstance(text, str) and kind in _READERS:
                    return _READERS[kind](text)
    raise UnknownCell(f"{str(value)[:100]} is no encoded value")


_READERS: dict[str, Callable[[str], Cell]] = {
    "double": float,
    "decimal": Decimal,
    "timestamp": datetime.fromisoformat,
    "date": date.fromisoformat,
    "time": time.fromisoformat,
}
