"""The wiring: every adapter is built here, from the settings of one workspace, and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import sqlalchemy as sa

from catalog.contract import Contract
from catalog.engines.duckdb_engine import DuckDBEngine
from catalog.engines.port import Engine
from sources.check import check_columns
from sources.ingest import ingest
from sources.report import IngestReport
from trivet.clock import Clock, SystemClock
from trivet.errors import UnavailableError
from trivet.findings import Finding
from trivet.references import SecretRef, resolve_reference
from trivet.settings import Settings
from worker.evaluate import Evaluator
from worker.shipped import shipped
from worker.stores import latest_revision, open_store, store_revision, upgrade_store
from worker.workspace import CONTRACT_FILE, SOURCES_FILE, VIEWS_FOLDER


@dataclass(frozen=True, slots=True)
class Wiring:
    """Builds the parts of one workspace as they are asked for."""

    path: Path
    settings: Settings
    environment: Mapping[str, str]
    clock: Clock = field(default_factory=SystemClock)

    @property
    def warehouse(self) -> Path:
        """The warehouse's file."""
        return self.path / self.settings.warehouse.path

    def engine(self) -> Engine:
        """The warehouse engine."""
        return DuckDBEngine(self.warehouse)

    def evaluator(self, contract: Contract) -> Evaluator:
        """The evaluator over this workspace's warehouse."""
        return Evaluator(contract, self.engine(), self.clock)

    def store(self, *, create: bool = True) -> sa.Engine:
        """The audit store; a SQLite file is made and migrated where there is none yet.

        Raises:
            UnavailableError: it is not there, cannot be opened, or wants a migration first.
        """
        url = self.store_url()
        fresh = create and self._is_missing_file(url)
        engine = open_store(url, create=create)
        if fresh:
            upgrade_store(engine, shipped("migrations"))
            return engine
        found, latest = store_revision(engine), latest_revision(shipped("migrations"))
        if found != latest:
            message = f"the store is at revision {found or 'none'} and this version needs {latest}"
            raise UnavailableError(f"{message}; run `trivet db upgrade`")
        return engine

    def store_is_missing(self) -> bool:
        """Whether the store is a SQLite file that does not exist."""
        return self._is_missing_file(self.store_url())

    def unchecked_store(self) -> sa.Engine:
        """The audit store at whatever revision it is, for `trivet db`."""
        return open_store(self.store_url())

    def store_url(self) -> str:
        """The store's URL with its reference resolved and a SQLite path made absolute."""
        url = self.settings.store.url
        if isinstance(url, SecretRef):
            text = resolve_reference(url, self.environment, self._read_secret).reveal()
        else:
            text = url
        relative = text.removeprefix("sqlite:///")
        if relative != text and not relative.startswith("/"):
            return f"sqlite:///{(self.path / relative).resolve()}"
        return text

    def ingest(self, contract: Contract) -> IngestReport:
        """Builds the warehouse anew; the governed views must have what the contract counts on."""
        expected = {item.view: item.columns for item in contract.object_types}

        def check(found: Mapping[str, Mapping[str, str]]) -> tuple[Finding, ...]:
            return check_columns(expected, found, CONTRACT_FILE)

        return ingest(
            self.path,
            sources=SOURCES_FILE,
            views=VIEWS_FOLDER,
            warehouse=self.warehouse,
            keep=self.settings.warehouse.keep,
            clock=self.clock,
            check=check,
        )

    def _is_missing_file(self, url: str) -> bool:
        file = url.removeprefix("sqlite:///")
        return file != url and not Path(file).exists()

    def _read_secret(self, name: str) -> str:
        return (self.path / name).read_text("utf-8")
