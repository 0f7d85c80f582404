"""Texts that entries refer to by hash: each is written to the ledger once, before the first entry that needs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import sqlalchemy as sa

from ledger.append import Draft
from ledger.entries import EntryType
from ledger.reading import entry_about, head
from ledger.tables import ledger_entry
from trivet.canonical import Json

PAYLOAD_VERSION = 1
_CHUNK = 500


@dataclass(frozen=True, slots=True)
class PublishedText:
    """A text that is named by the hash of its canonical JSON."""

    entry_type: EntryType
    """`definition_published` or `contract_published`."""
    hash: str
    """SHA-256 over the canonical JSON of `content`, as hex; the subject of its entry."""
    content: Json
    about: Mapping[str, Json] = field(default_factory=dict)
    """What a reader wants to know of it besides; not covered by the hash."""

    def draft(self) -> Draft:
        """The entry that publishes it."""
        return Draft(self.entry_type, self.hash, {**self.about, "schema": PAYLOAD_VERSION, "content": self.content})


def missing_texts(connection: sa.Connection, texts: Sequence[PublishedText]) -> list[Draft]:
    """Entries for those texts that the ledger lacks, to be appended in the same transaction before what needs them.

    Where one is missing the head row is locked and the ledger looked at again: another writer may have published it
    since. Call it when everything slow is done.
    """
    if not _lacking(connection, texts):
        return []
    head(connection, for_update=True)
    return [text.draft() for text in _lacking(connection, texts)]


def published_text(connection: sa.Connection, entry_type: EntryType, text_hash: str) -> Json:
    """The content that the ledger holds under a hash; None where it holds none.

    Raises:
        CheckFailedError: the entry is damaged.
    """
    entry = entry_about(connection, entry_type, text_hash)
    return None if entry is None else entry.content().get("content")


def _lacking(connection: sa.Connection, texts: Sequence[PublishedText]) -> list[PublishedText]:
    known: set[tuple[str, str]] = set()
    for start in range(0, len(texts), _CHUNK):
        names = [text.hash for text in texts[start : start + _CHUNK]]
        kinds = sorted({text.entry_type.value for text in texts[start : start + _CHUNK]})
        found = sa.select(ledger_entry.c.entry_type, ledger_entry.c.subject_id).where(
            ledger_entry.c.entry_type.in_(kinds), ledger_entry.c.subject_id.in_(names)
        )
        known |= {(row.entry_type, row.subject_id) for row in connection.execute(found)}
    return [text for text in texts if (text.entry_type.value, text.hash) not in known]
