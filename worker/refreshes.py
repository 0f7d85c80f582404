"""Which warehouses were published: what a schedule after refreshes goes by.

The served file says by itself which one it is, so nobody has to tell the planner. It is opened only where it is
another file than at the last look.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from catalog.engines.port import Engine, EngineFault, SnapshotIdentity, WarehouseMissing
from sources.publication import generation_instant, kept_generations
from worker.due import Refresh

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Published:
    """Looks at one warehouse file."""

    def __init__(self, warehouse: Path, engine: Engine) -> None:
        self._warehouse = warehouse
        self._engine = engine
        self._looked_at: tuple[int, ...] | None = None
        self._known: Sequence[Refresh] | None = None

    def __call__(self) -> Sequence[Refresh] | None:
        """The generations that are kept, oldest first, and last the one that is served.

        Empty where nothing was published yet; None where the file is there and cannot be read just now.
        """
        try:
            status = self._warehouse.stat()
        except FileNotFoundError:
            return ()
        except OSError:
            return None
        stamp = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
        if stamp != self._looked_at:
            self._known = self._look()
            self._looked_at = stamp if self._known is not None else None
        return self._known

    def _look(self) -> Sequence[Refresh] | None:
        try:
            with self._engine.snapshot() as snapshot:
                served = _served(snapshot.identity)
            kept = [_generation(name) for name in kept_generations(self._warehouse)]
        except WarehouseMissing:
            return ()
        except (EngineFault, OSError):
            return None
        return (*(item for item in kept if item is not None and item.name < served.name), served)


def ingested_at(identity: SnapshotIdentity) -> datetime:
    """When the data was ingested; where ingestion did not make the file, when it was last written to."""
    built = generation_instant(identity.generation) if identity.generation is not None else None
    return _modified(identity) if built is None else built


def _modified(identity: SnapshotIdentity) -> datetime:
    return _EPOCH + timedelta(microseconds=identity.modified_ns // 1000)


def _served(identity: SnapshotIdentity) -> Refresh:
    modified = _modified(identity)
    built = generation_instant(identity.generation) if identity.generation is not None else None
    if identity.generation is None or built is None:
        # Not built by ingestion: each change of the file is a warehouse of its own.
        return Refresh(f"{modified:%Y%m%dT%H%M%S%f}Z-{identity.inode:x}", modified, modified)
    return Refresh(identity.generation, built, max(built, modified))


def _generation(name: str) -> Refresh | None:
    built = generation_instant(name)
    return None if built is None else Refresh(name, built, built)
