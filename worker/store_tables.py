"""Every table of the store, whichever package defines it."""

from __future__ import annotations

import sqlalchemy as sa

# Each registers its tables.
import alerts.tables  # noqa: F401
import ledger.tables  # noqa: F401
import worker.outcome_tables
import worker.tables  # noqa: F401
from trivet.metadata import metadata


def store_tables() -> list[sa.Table]:
    """The tables, each after those that it refers to."""
    return list(metadata.sorted_tables)
