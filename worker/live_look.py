"""One look at the data behind a contract, and what is told of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from catalog.contract import Contract, ObjectType, Sensitivity
from catalog.engines.port import Snapshot
from catalog.referee.certified import CertifiedQuery
from compiler.live_queries import LiveQueries, live_queries


@dataclass(frozen=True, slots=True)
class Told:
    """One thing that the data shows."""

    message: str
    is_fault: bool
    """Nothing can be decided as things stand; otherwise something is, and the data is not as the contract says."""


@dataclass(frozen=True, slots=True)
class Look:
    """A contract on one snapshot."""

    contract: Contract
    snapshot: Snapshot
    queries: LiveQueries

    def rows(self, query: CertifiedQuery) -> list[tuple[Any, ...]]:
        """All rows of a query, within the contract's time limit."""
        return self.snapshot.run(query, self.contract.limits.timeout)

    def numbers(self, query: CertifiedQuery) -> tuple[int, ...]:
        """The one row of a query of counts."""
        return tuple(int(value) for value in self.rows(query)[0])

    def object_type(self, name: str) -> ObjectType:
        """The object type of that name, which loading saw to be there."""
        found = self.contract.object_type(name)
        if found is None:
            raise LookupError(f"the contract has no object type {name}")
        return found


def look_at(contract: Contract, snapshot: Snapshot) -> Look:
    """A look at a snapshot that has every view of the contract."""
    physical = {item.view: snapshot.columns(item.view) or {} for item in contract.object_types}
    return Look(contract, snapshot, live_queries(contract, physical))


def may_be_shown(of: ObjectType, key: Iterable[str]) -> bool:
    """Whether values of these properties may stand in a message."""
    found = [of.find_property(name) for name in key]
    return all(item is not None and item.sensitivity is Sensitivity.NONE for item in found)


def counted(number: int, noun: str) -> str:
    """`1 row`, `57 rows`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def repeated_key(look: Look, of: ObjectType, key: Sequence[str]) -> str | None:
    """In words, how many keys of a view stand in more than one row, and the worst of them; None where none does."""
    rows = look.rows(look.queries.repeated(of, key, most=1))
    if not rows:
        return None
    *parts, times, keys = rows[0]
    worst = f", such as {', '.join(str(part) for part in parts)} ({counted(times, 'row')})"
    stand = f"{counted(keys, 'key')} ({', '.join(key)}) of {of.view} {'stands' if keys == 1 else 'stand'}"
    return f"{stand} in more than one row{worst if may_be_shown(of, key) else ''}"
