"""Making the ledger's checkpoints as they fall due, and copying them to the witnesses."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa

from ledger.checkpoints import CheckpointPolicy, StoredCheckpoint, is_due, write_checkpoint
from ledger.keys import SigningKey
from ledger.witnessing import copy_checkpoints
from trivet.clock import Clock
from trivet.errors import CheckFailedError
from worker.stores import read_only

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SealReport:
    """What one call did."""

    made: StoredCheckpoint | None
    """The checkpoint that was made; None where none was due."""
    problems: tuple[str, ...]
    """Witnesses that have not got their copies, and why; it is tried again with the next call."""


@dataclass(frozen=True, slots=True)
class Sealer:
    """Seals one ledger. Any number of processes may have one."""

    store: sa.Engine
    key: SigningKey
    clock: Clock
    policy: CheckpointPolicy
    witnesses: tuple[Path, ...]

    def seal(self, *, now: bool = False) -> SealReport:
        """Makes a checkpoint if one is due and gives the witnesses what they lack.

        Args:
            now: make one wherever there is an entry that the last one does not cover, due or not.
        """
        made = self._make(now)
        problems = []
        for file in self.witnesses:
            try:
                with read_only(self.store).connect() as connection:
                    copy_checkpoints(connection, self.key.name, file)
            except CheckFailedError as error:
                problems.append(str(error))
            except OSError as error:
                problems.append(f"the witness file {file} has not got its checkpoints: {error.strerror or error}")
        return SealReport(made, tuple(problems))

    def seal_quietly(self, now: bool) -> None:
        """The same for a daemon: what went wrong is logged, loudly and every time."""
        for problem in self.seal(now=now).problems:
            _log.error("%s", problem)

    def _make(self, now: bool) -> StoredCheckpoint | None:
        instant = self.clock.now()
        if not now:
            with read_only(self.store).connect() as connection:
                if not is_due(connection, instant, self.policy):
                    return None
        with self.store.begin() as connection:
            return write_checkpoint(connection, self.key, instant, None if now else self.policy)
