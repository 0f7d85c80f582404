"""What is in force: the last publication of the store, read again where there is a newer one.

It costs one small query each time, and reading and checking only after a publication.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

import sqlalchemy as sa

from catalog.contract import Contract
from ledger.entries import EntryType
from ledger.reading import entry, last_seq
from monitors.definition import MonitorDefinition
from monitors.loading import load_monitors
from trivet.errors import UnavailableError
from worker.publication import Content, Publication, UnreadablePublication, read_publication
from worker.reconstruction import TextGone, contract_of
from worker.stores import read_only


class Superseded(Exception):
    """Somebody published something else meanwhile: look again."""


@dataclass(frozen=True, slots=True)
class Definitions:
    """Contract and monitors of one publication, ready to be used."""

    seq: int
    """Of the publication's ledger entry."""
    content: Content
    contract: Contract
    monitors: tuple[MonitorDefinition, ...]

    def require_latest(self, connection: sa.Connection) -> None:
        """Makes sure, inside a transaction that holds the watermarks, that nothing else is in force by now.

        Raises:
            Superseded: something is.
        """
        if last_seq(connection, EntryType.PUBLICATION) != self.seq:
            raise Superseded


class InForce:
    """The definitions of one store's last publication. Threads may share it."""

    def __init__(self, store: sa.Engine, known: Definitions | None = None) -> None:
        """Args: the store; definitions that were loaded already, of which those that are in force are used again."""
        self._store = read_only(store)
        self._lock = threading.Lock()
        self._known = known
        self._fault: tuple[int, str] | None = None

    def current(self) -> Definitions | None:
        """What is in force; None where nothing was published yet.

        Raises:
            UnavailableError: this version cannot read it.
        """
        with self._lock, self._store.connect() as connection:
            seq = last_seq(connection, EntryType.PUBLICATION)
            if seq is None:
                return None
            if self._known is None or self._known.seq != seq:
                self._known = self._read(connection, seq)
            return self._known

    def _read(self, connection: sa.Connection, seq: int) -> Definitions:
        if self._fault is not None and self._fault[0] == seq:
            raise UnavailableError(self._fault[1])
        try:
            return read_definitions(connection, seq, self._known)
        except UnavailableError as error:
            # Once is enough: it stays as it is until there is a newer one.
            self._fault = (seq, str(error))
            raise


def last_publication(connection: sa.Connection) -> Publication | None:
    """The last publication; None where nothing was published yet.

    Raises:
        UnreadablePublication: it is damaged, or of a later version.
        CheckFailedError: its entry is damaged.
    """
    seq = last_seq(connection, EntryType.PUBLICATION)
    return None if seq is None else _publication(connection, seq)


def read_definitions(connection: sa.Connection, seq: int, known: Definitions | None = None) -> Definitions:
    """The definitions that a ledger entry published.

    Args:
        connection: to the store.
        seq: the number of the entry.
        known: other ones; what is the same is taken from there, since to check thousands of monitors takes seconds.

    Raises:
        UnavailableError: this version cannot read them.
        CheckFailedError: the entry is damaged.
    """
    try:
        content = _publication(connection, seq).content
        contract = contract_of(connection, content.contract["hash"])
        found = _unchanged(content, known)
        # Receivers are the settings' matter, and those of this process may be other ones.
        loaded = load_monitors(content.documents(content.monitors.keys() - found.keys()), contract, None)
        if loaded.findings:
            raise UnreadablePublication(str(loaded.findings[0]))
    except (UnreadablePublication, TextGone) as error:
        advice = "publish with this version (`trivet apply`), or use the version that published it"
        raise UnavailableError(
            f"this version cannot read what ledger entry {seq} published: {error}; {advice}"
        ) from error
    found |= {item.id: item for item in loaded.monitors}
    return Definitions(seq, content, contract, tuple(found[name] for name in content.monitors))


def _unchanged(content: Content, known: Definitions | None) -> dict[str, MonitorDefinition]:
    if known is None or known.content.contract["hash"] != content.contract["hash"]:
        return {}
    before = known.content.monitors
    return {
        item.id: item
        for item in known.monitors
        if item.id in content.monitors
        and before[item.id] == content.monitors[item.id]
        and before[item.id].file == content.monitors[item.id].file
    }


def _publication(connection: sa.Connection, seq: int) -> Publication:
    found = entry(connection, seq)
    if found is None:
        raise UnreadablePublication("the entry is gone")
    try:
        payload = found.content()
    except (ValueError, RecursionError) as error:
        raise UnreadablePublication("its payload is no JSON; run `trivet ledger verify`") from error
    return read_publication(seq, payload)
