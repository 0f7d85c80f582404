"""The wiring: every adapter is built here, from the settings of one workspace, and nowhere else."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache, partial
from pathlib import Path

import sqlalchemy as sa

from alerts.notifiers.addresses import reach_of
from alerts.notifiers.outgoing import Outgoing
from alerts.notifiers.ping import HttpPing
from alerts.recording import apply_all
from alerts.routing import routing_of
from catalog.contract import Contract
from catalog.engines.duckdb_engine import DuckDBEngine
from catalog.engines.duckdb_fixture import FixtureEngine, FixtureTable
from catalog.engines.port import Engine
from catalog.engines.spill import sweep_spill
from catalog.expressions.baselines import BaselineRule
from ledger.checkpoints import CheckpointPolicy
from ledger.entries import EntryType
from ledger.keys import SigningKey
from ledger.reading import last_seq
from ledger.verification.notes import PublicKey
from monitors.definition import MonitorDefinition
from sources.check import check_columns
from sources.ingest import ingest
from sources.report import IngestReport
from trivet.clock import Clock, SystemClock
from trivet.errors import InputError, UnavailableError, UsageError
from trivet.findings import Finding
from trivet.references import Secret, SecretRef, refused_webhook_url, resolve_reference
from trivet.settings import Settings
from worker.applying import Publisher, person
from worker.baselines import LookBack, Past, no_look_back
from worker.delivering import Deliverer
from worker.digesting import Digester
from worker.evaluate import Evaluator
from worker.failures import FailureLog
from worker.history import StoreHistory
from worker.in_force import InForce
from worker.keys import public_keys_of, signing_key_of
from worker.lifesign import LifeSign
from worker.migrating import is_empty_store, revision_problem, store_revision, upgrade_store
from worker.overdue import late_after
from worker.planning import ON_TIME
from worker.preparing import Prepared, prepare
from worker.probing import Probe, store_probe, warehouse_probe
from worker.processes import Daemon, DaemonKind, mark_end
from worker.refreshes import Published
from worker.reminding import remind
from worker.replaying import Replayer
from worker.resources import memory_of, threads_of
from worker.runtime import Runtime
from worker.sealing import Sealer
from worker.shipped import shipped
from worker.stores import open_store, read_only, store_clock
from worker.watching import WatchedFiles
from worker.workspace import CONTRACT_FILE, SOURCES_FILE, VIEWS_FOLDER, read_workspace

_log = logging.getLogger(__name__)
_LONGEST_SIGN = timedelta(seconds=10)
"""What one sign of life may take."""


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

    def engine(self, at_once: int = 1) -> Engine:
        """The warehouse engine of this process.

        Args:
            at_once: how many batches share the machine.
        """
        return DuckDBEngine(
            self.warehouse,
            threads=threads_of(self.settings, at_once),
            memory_limit=memory_of(self.settings, at_once),
            spill=self.spill,
            spill_limit=self.settings.warehouse.spill_limit,
        )

    @property
    def spill(self) -> Path | None:
        """Where an engine writes what does not fit into memory; None for the system's folder of temporary files."""
        named = self.settings.warehouse.spill
        return None if named is None else self.path / named

    def fixture(self, tables: Mapping[str, FixtureTable]) -> Engine:
        """An engine of the warehouse's kind over tables in memory, by the names of the views that they stand for."""
        return FixtureEngine(tables)

    def evaluator(self, contract: Contract, engine: Engine | None = None) -> Evaluator:
        """The evaluator over this workspace's warehouse, by an engine that is there already or by a new one."""
        alert = partial(apply_all, routing=routing_of(self.settings))
        return Evaluator(contract, engine or self.engine(), self.clock, alert, self.look_back(contract))

    def look_back(self, contract: Contract) -> LookBack:
        """Finds earlier values for what is judged and not recorded; where there is no store yet, there are none.

        The store is opened when something is asked of it, which only monitors with baselines do.
        """

        @cache
        def history() -> LookBack:
            missing = self.store_is_missing()
            return no_look_back if missing else StoreHistory(self.store(create=False), contract)

        def find(definition: MonitorDefinition, rule: BaselineRule, measure_hash: str, at: datetime) -> Past:
            return history()(definition, rule, measure_hash, at)

        return find

    @property
    def deliverer(self) -> Deliverer:
        """What sends what waits in the outbox."""
        return Deliverer(self.settings, self.secret, self.clock)

    def secret(self, reference: SecretRef) -> Secret:
        """What a reference names, read from the environment or from a file of the workspace.

        Raises:
            InputError: there is nothing; the message holds no secret.
        """
        return resolve_reference(reference, self.environment, self._read_secret)

    def prepared(self) -> Prepared:
        """What is read before a process forks.

        Raises:
            InputError: nothing is in force yet, and the files, which would be, are at fault.
        """
        return prepare(WatchedFiles(self.path, self.environment), self.store)

    def runtime(
        self,
        write: Callable[[str], None] | None = None,
        kind: DaemonKind = DaemonKind.RUN,
        prepared: Prepared | None = None,
    ) -> Runtime:
        """The parts of a daemon, for one process: what it opens must not be taken over a fork.

        Args:
            write: where receivers of kind stdout write; standard output if absent.
            kind: as what it ticks.
            prepared: what was read for it.

        Raises:
            InputError: a secret cannot be read.
            UnavailableError: as `store` does.
        """
        prepared = prepared or Prepared(WatchedFiles(self.path, self.environment))
        store = self.store()
        clock = store_clock(store, self.clock)
        in_force = InForce(store, prepared.known)
        deliver = None
        if self.settings.receivers:
            reminding = partial(
                remind, store, in_force, routing_of(self.settings), clock, self.digester(store, in_force)
            )
            deliver = partial(self.deliverer.deliver_in_turn, store, write or _to_standard_output, reminding)
        sealer = self.sealer(store, clock)
        if sealer is None:
            _log.warning(
                "no checkpoints are made, so nobody vouches for the ledger's end: the settings name no ledger.key"
            )
        seal = sealer.seal_quietly if sealer is not None else None
        sweep_spill(self.spill)
        # One for all batches, since it remembers what it counted in data that is still the same.
        evaluator = partial(self.evaluator, engine=self.engine(self.settings.scheduler.workers))
        scheduler = self.settings.scheduler
        return Runtime(
            store,
            clock,
            scheduler.lease,
            in_force,
            evaluator,
            deliver,
            seal,
            Daemon(kind),
            self.life_sign(),
            Published(self.warehouse, self.engine()),
            max(ON_TIME, 2 * scheduler.tick),
            look_at_files=prepared.files.look,
        )

    def digester(self, store: sa.Engine, in_force: InForce) -> Digester:
        """What writes the digests that the settings ask for."""
        clock, grace = store_clock(store, self.clock), late_after(self.settings.scheduler)
        return Digester(store, in_force, self.settings.digests, routing_of(self.settings), clock, grace)

    def publisher(self, store: sa.Engine) -> Publisher:
        """What publishes contract and monitors to the store."""
        clock, scheduler = store_clock(store, self.clock), self.settings.scheduler
        refreshes = Published(self.warehouse, self.engine())
        on_time = max(ON_TIME, 2 * scheduler.tick)
        known = InForce(store)
        runtime = Runtime(store, clock, scheduler.lease, known, self.evaluator, published=refreshes, on_time=on_time)
        return Publisher(store, clock, runtime.plan, refreshes)

    def publish_first(self) -> None:
        """Publishes the workspace's files where nothing was published yet.

        Raises:
            InputError: they would be published, and are at fault.
            UnavailableError: as `store` does.
        """
        store = self.store()
        try:
            with read_only(store).connect() as connection:
                published = last_seq(connection, EntryType.PUBLICATION)
            if published is None:
                workspace = read_workspace(self.path, self.environment)
                self.publisher(store).publish(workspace, person(), first_only=True)
        finally:
            store.dispose()

    def life_sign(self) -> LifeSign | None:
        """What tells somebody outside of ticks that went well; None where the settings name nobody.

        Raises:
            InputError: its reference leads nowhere, or to what is not asked for.
        """
        watch = self.settings.watch
        if watch.heartbeat is None:
            return None
        url = self.secret(watch.heartbeat) if isinstance(watch.heartbeat, SecretRef) else Secret(watch.heartbeat)
        refusal = refused_webhook_url(url.reveal(), insecure=watch.insecure)
        if refusal is not None:
            told = refusal.replace("webhook's url", "heartbeat's url")
            raise InputError([Finding(str(watch.heartbeat), None, "watch.heartbeat", told)])
        reach = reach_of(self.settings.delivery, insecure=watch.insecure)
        return LifeSign(HttpPing(Outgoing(url, reach, _LONGEST_SIGN)).send, watch.every)

    def monitored_store(self) -> tuple[sa.Engine, Clock]:
        """A store to be looked at for health and metrics, and its clock.

        A server is not asked for anything yet: whoever looks is to say that it is away, or wants a migration.

        Raises:
            UnavailableError: it is a file, and as `store` does.
        """
        store = self.store() if self.store_url().startswith("sqlite:") else self.unchecked_store()
        return store, store_clock(store, self.clock)

    def probes(self, store: sa.Engine) -> tuple[Probe, ...]:
        """What every process of the workspace needs to be there."""
        return store_probe(store, shipped("migrations")), warehouse_probe(self.engine())

    def replayer(self, store: sa.Engine) -> Replayer:
        """What replays evaluations of this workspace's store."""
        return Replayer(store, self.warehouse, self.clock)

    def signing_key(self) -> SigningKey | None:
        """The key that signs checkpoints; None where the settings name none.

        Raises:
            InputError: it is named, and cannot be read or is no key.
        """
        reference = self.settings.ledger.key
        return None if reference is None else signing_key_of(reference, self.secret)

    def public_keys(self) -> tuple[PublicKey, ...]:
        """The keys by which checkpoints are checked; none where none is known.

        Raises:
            InputError: a key of the settings cannot be read or is none.
        """
        return public_keys_of(self.signing_key(), self.settings.ledger.keys)

    def witness_files(self) -> tuple[Path, ...]:
        """The files that checkpoints are copied to."""
        return tuple(self.path / name for name in self.settings.ledger.witnesses)

    def sealer(self, store: sa.Engine, clock: Clock | None = None) -> Sealer | None:
        """What makes checkpoints; None without a key.

        Raises:
            InputError: as `signing_key` does.
        """
        key, settings = self.signing_key(), self.settings.ledger
        if key is None:
            return None
        policy = CheckpointPolicy(settings.checkpoint_entries, settings.checkpoint_every)
        return Sealer(store, key, clock or store_clock(store, self.clock), policy, self.witness_files())

    def at_end(self, kind: DaemonKind) -> None:
        """For a process that ends, and has done its last: says so, and covers whatever was written by a checkpoint."""
        store = self.store(create=False)
        with FailureLog("that the daemon ends could not be written down").watching(), store.begin() as connection:
            mark_end(connection, Daemon(kind), store_clock(store, self.clock).now())
        sealer = self.sealer(store)
        if sealer is not None:
            sealer.seal_quietly(now=True)

    def broker_url(self) -> str:
        """The broker's URL with its reference resolved.

        Raises:
            UsageError: the settings name none, since they are for the embedded daemon.
        """
        broker = self.settings.scheduler.broker
        if self.settings.scheduler.mode != "celery" or broker is None:
            raise UsageError("the settings are for `trivet run`; set scheduler.mode to celery, and scheduler.broker")
        return self._resolved(broker)

    def store(self, *, create: bool = True) -> sa.Engine:
        """The audit store; a SQLite file is made and migrated where there is none yet.

        Raises:
            UnavailableError: it is not there, cannot be opened, or wants a migration first.
        """
        url = self.store_url()
        engine = open_store(url, create=create)
        # A file without tables is one that someone else is making at this moment: the upgrade waits for that.
        if create and engine.dialect.name == "sqlite" and is_empty_store(engine):
            upgrade_store(engine, shipped("migrations"))
            return engine
        problem = revision_problem(store_revision(engine), shipped("migrations"))
        if problem is not None:
            raise UnavailableError(f"the store is {problem}")
        return engine

    def store_is_missing(self) -> bool:
        """Whether the store is a SQLite file that does not exist."""
        url = self.store_url()
        file = url.removeprefix("sqlite:///")
        return file != url and not Path(file).exists()

    def unchecked_store(self) -> sa.Engine:
        """The audit store at whatever revision it is, for `trivet db`."""
        return open_store(self.store_url())

    def store_url(self) -> str:
        """The store's URL with its reference resolved and a SQLite path made absolute."""
        text = self._resolved(self.settings.store.url)
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

    def _resolved(self, url: str | SecretRef) -> str:
        if isinstance(url, SecretRef):
            return resolve_reference(url, self.environment, self._read_secret).reveal()
        return url

    def _read_secret(self, name: str) -> str:
        return (self.path / name).read_text("utf-8")


def _to_standard_output(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
