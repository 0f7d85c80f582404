"""Stores of both kinds for every test that is to hold on both."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from tests.integration.servers import postgres, postgres_store
from tests.integration.store import migrated_store

__all__ = ["any_store", "postgres", "postgres_store"]


@pytest.fixture(params=["sqlite", "postgresql"])
def any_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[sa.Engine]:
    """An empty store at the latest revision: each test runs once on SQLite and once on PostgreSQL."""
    if request.param == "postgresql":
        yield request.getfixturevalue("postgres_store")
        return
    engine = migrated_store(tmp_path)
    yield engine
    engine.dispose()
