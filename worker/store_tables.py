"""Every table of the store, whichever package defines it."""

from __future__ import annotations

import sqlalchemy as sa

import worker.outcome_tables
import worker.tables  # noqa: F401 (each registers its tables)
from trivet.metadata import metadata


def store_tables() -> list[sa.Table]:
    """The tables, each after those that it refers to."""
    return list(metadata.sorted_tables)
