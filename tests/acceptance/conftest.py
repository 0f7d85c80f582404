"""A demo workspace that is built once, and copied for each test that may change it."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.acceptance.command import trivet


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that the machine's own environment sets reaches the command."""
    for name in os.environ:
        if name.startswith("TRIVET_") or name in ("COLUMNS", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
            monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A demo workspace, evaluated once: not to be changed."""
    workspace = tmp_path_factory.mktemp("demo") / "demo"
    ended = trivet("demo", workspace)
    assert ended.code == 0, ended.err
    with closing(sqlite3.connect(workspace / "trivet.db")) as store:
        store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return workspace


@pytest.fixture
def workspace(demo: Path, tmp_path: Path) -> Path:
    """A demo workspace of the test's own, evaluated once."""
    return Path(shutil.copytree(demo, tmp_path / "workspace"))


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """The workspace that `trivet init` makes, ingested and never evaluated: four readings, one monitor."""
    workspace = tmp_path / "small"
    assert trivet("init", workspace).code == 0
    assert trivet("ingest", at=workspace).code == 0
    return workspace
