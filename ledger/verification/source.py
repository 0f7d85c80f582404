"""What a verification reads: the rows of a store, or the files of an export."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

from ledger.verification.findings import Damage


class RawEntry(NamedTuple):
    """A row of `ledger_entry` as it is found. A person with the file can write anything into any cell."""

    seq: Any
    entry_type: Any
    subject_id: Any
    payload: Any
    leaf_hash: Any
    prev_hash: Any
    entry_hash: Any


class RawHead(NamedTuple):
    """A row of `ledger_head` as it is found."""

    id: Any
    seq: Any
    entry_hash: Any
    merkle_frontier: Any


class RawRow(NamedTuple):
    """A bound row as it is found."""

    subject: Any
    table: str
    row: Mapping[str, Any]
    fault: str | None
    """Why it cannot be hashed as it is; None where it can."""


class Source(Protocol):
    """Where a ledger is read from. Each call reads anew."""

    def reading(self) -> AbstractContextManager[None]:
        """Holds open whatever reading needs; everything else is called inside."""

    def faults(self) -> Iterable[Damage]:
        """What is missing of tables, columns or files; where there is any, nothing else is read."""

    def entries(self) -> Iterator[Sequence[RawEntry]]:
        """The entries in the order of their `seq`, some at a time."""

    def rows(self, entry_type: str, subjects: Sequence[str]) -> Iterator[RawRow]:
        """The bound rows of these subjects; those of one subject in the order in which they are hashed."""

    def head(self) -> Sequence[RawHead]:
        """Every head row, of which there must be one."""

    def orphans(self) -> Iterator[tuple[str, str, Any, int]]:
        """Table, subject column, subject and number of the bound rows that no entry knows."""

    def of_type(self, entry_type: str) -> Iterator[RawEntry]:
        """The entries that say to be of one type."""

    def places(self, column: str, value: bytes) -> list[int]:
        """The `seq` of the entries that hold this hash in this column; a few suffice."""
