"""Stores of both kinds for every test that is to hold on both."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from tests.integration.servers import postgres, postgres_store
from tests.integration.store import copied_store, migrated_store

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


@pytest.fixture(scope="module")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sa.Engine]:
    """An empty SQLite store that many tests begin with a copy of."""
    engine = migrated_store(tmp_path_factory.mktemp("empty"))
    yield engine
    engine.dispose()


@pytest.fixture
def sqlite_store(empty_store: sa.Engine, tmp_path: Path) -> Iterator[sa.Engine]:
    """A copy of the empty SQLite store."""
    engine = copied_store(empty_store, tmp_path)
    yield engine
    engine.dispose()
