"""The port between Trivet and a warehouse: a snapshot that runs certified queries, and its faults."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Any, Protocol

from catalog.referee.certified import CertifiedQuery


@dataclass(frozen=True, slots=True)
class SnapshotIdentity:
    """Which data was looked at, so that an evaluation can be replayed on the same."""

    generation: str | None
    """Name that ingestion gave the warehouse; None where it did not come from there."""
    device: int
    inode: int
    size: int
    """Bytes."""
    modified_ns: int
    """Nanoseconds since 1970."""

    def to_json(self) -> dict[str, str | int | None]:
        """As the ledger holds it; what may pass 2**53 travels as text."""
        return {
            "generation": self.generation,
            "device": str(self.device),
            "inode": str(self.inode),
            "size": self.size,
            "modified_ns": str(self.modified_ns),
        }


class EngineFault(Exception):
    """The engine could not answer. Its text is the engine's message, on one line."""


class WarehouseMissing(EngineFault):
    """There is no warehouse to look at."""


class WarehouseUnsteady(EngineFault):
    """The warehouse could not be read, and perhaps can be a moment later: it is locked, or being written."""


class QueryTimeout(EngineFault):
    """The query ran longer than it may."""


class QueryTooLarge(EngineFault):
    """The query needed more memory, or gave more text, than it may."""


class HeldName(StrEnum):
    """What a snapshot can hold beside the data, by the name of its relation."""

    TALLY = "temp.tally"
    """One row: the counts of a shared scan, and the rows that are not settled."""
    UNSETTLED = "temp.unsettled"
    """Those rows, one each, as the view has them."""
    BASELINES = "temp.baselines"
    """One row for each group of a monitor: what earlier evaluations came to."""
    GROUPS = "temp.groups"
    """One row for each group of a monitor: its keys, its figures, and why it has none."""


class Snapshot(Protocol):
    """One consistent look at the data. After a fault it is spent: what is asked next may fail as well."""

    identity: SnapshotIdentity
    can_hold: bool
    """Whether `hold` can be asked."""

    def columns(self, view: str) -> Mapping[str, str] | None:
        """Physical type of each column of a view, in order; None where there is no such view."""

    def run(self, query: CertifiedQuery, timeout: timedelta) -> list[tuple[Any, ...]]:
        """All rows of a certified query.

        Raises:
            QueryTimeout: it took longer than `timeout`.
            EngineFault: the engine failed.
        """

    def stream(self, query: CertifiedQuery, timeout: timedelta) -> Iterator[tuple[Any, ...]]:
        """The rows of a certified query, fetched as they are asked for; raises as `run` does."""

    def hold(self, name: HeldName, query: CertifiedQuery, timeout: timedelta) -> None:
        """Keeps the rows of a certified query under a name of this snapshot alone, in place of what had it before.

        Certified queries read them as a relation of that name. Raises as `run` does.
        """

    def supply(
        self, name: HeldName, columns: Sequence[str], rows: Iterable[Sequence[str | None]], timeout: timedelta
    ) -> None:
        """Keeps given rows of texts as `hold` keeps those of a query. They travel as parameters, never as SQL."""

    def remembered(self, query: CertifiedQuery, timeout: timedelta) -> list[tuple[Any, ...]]:
        """`run`, or its rows from an earlier snapshot of the very same data. Raises as `run` does."""


class Engine(Protocol):
    """A warehouse engine."""

    name: str
    version: str

    def snapshot(self, longest: timedelta | None = None) -> AbstractContextManager[Snapshot]:
        """Opens one snapshot.

        Args:
            longest: the most time that any of its queries will be given, so that the engine can end by itself what
                outlasts that; no such limit if absent.

        Raises:
            WarehouseMissing: there is nothing to open.
            EngineFault: it cannot be opened.
        """


Cell = int | float | Decimal | bool | str | date | datetime | time | None
"""A value of a result as Python holds it exactly; a double is a float."""


@dataclass(frozen=True, slots=True)
class ResultColumn:
    """One column of a result."""

    name: str
    type: str
    """The engine's word for its type, such as `DECIMAL(12,2)`."""


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """Everything that one certified question gave."""

    columns: tuple[ResultColumn, ...]
    rows: tuple[tuple[Cell, ...], ...]
    truncated: bool
    """Whether there were more rows than the contract lets through; `rows` then holds the first `max_rows`."""
    total: int | None
    """How many rows there are with those that were cut off; None where counting them took too long."""
    snapshot: SnapshotIdentity
    """Which data was looked at."""


class QuestionEngine(Protocol):
    """Runs what a person or a model proposed and the referee let through, each time apart from everything else."""

    name: str
    version: str

    def run(self, query: CertifiedQuery) -> QuestionResult:
        """The rows of a query that was certified for purpose `question`.

        Raises:
            InternalError: it was certified for something else.
            WarehouseMissing: there is nothing to ask.
            QueryTimeout: it took longer than it may.
            QueryTooLarge: it needed more memory than it may, or its result is too large.
            EngineFault: the engine failed.
        """
