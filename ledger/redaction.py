"""Erasing the text of a bound row, so that the ledger stays valid and tells of it.

The row's leaf holds a salted hash of what may be erased (`ledger.bound_rows`). A redaction takes text and salt away and
leaves the hash: nothing hashed changes, and without the salt nobody can tell the text by trying. It is an entry itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from ledger.append import append
from ledger.bound_rows import BoundTable, text_hash
from ledger.entries import EntryType, LedgerEntry
from trivet.canonical import Json, normal_text
from trivet.clock import utc_text
from trivet.errors import UsageError

PAYLOAD_VERSION = 1


def redact(
    connection: sa.Connection,
    of: BoundTable,
    subject: str,
    key: Mapping[str, int | str],
    by: str,
    reason: str,
    now: datetime,
) -> LedgerEntry:
    """Erases what may be erased of one row, inside the caller's transaction.

    Args:
        connection: with a writing transaction.
        of: the table, which has erasable columns.
        subject: the subject that the row belongs to.
        key: what tells the row from the others of its subject.
        by: who erases it, as the ledger is to say for ever.
        reason: why, likewise.
        now: the time.

    Raises:
        UsageError: there is no such row, it was erased before, or it is older than erasing is.
    """
    table = of.table
    same = [table.c[of.subject] == subject, *(table.c[name] == value for name, value in key.items())]
    row = connection.execute(sa.select(table).where(*same)).mappings().one_or_none()
    place = "/".join([table.name, subject, *map(str, key.values())])
    if row is None:
        raise UsageError(f"there is no {place}")
    if row["erased"] is not None:
        raise UsageError(f"{place} was erased before")
    if row["salt"] is None:
        raise UsageError(f"{place} was written before rows could be erased; its text is bound as it is")
    text = text_hash({str(name): value for name, value in row.items()}, of.erasable)
    payload: dict[str, Json] = {
        "schema": PAYLOAD_VERSION,
        "table": table.name,
        "of": subject,
        "key": dict(key),
        "text": text,
        "by": normal_text(by),
        "reason": normal_text(reason),
        "redacted_at": utc_text(now),
    }
    # First the entry: the store lets no row be erased that the ledger does not tell of.
    entry = append(connection, EntryType.REDACTION, place, payload)
    erased: dict[str, Any] = {**of.erasable, "salt": None, "erased": text}
    connection.execute(sa.update(table).where(*same).values(erased))
    return entry
