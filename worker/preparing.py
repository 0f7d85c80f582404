"""What a process reads before it forks, so that its children need not read it one by one inside their first tasks.

With thousands of monitors that takes seconds in each child, and again in each that takes the place of one.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

import sqlalchemy as sa

from trivet.errors import CheckFailedError, UnavailableError
from worker.applying import workspace_content
from worker.in_force import Definitions, InForce
from worker.watching import WatchedFiles

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Prepared:
    """What was read. It holds nothing open, so it may be taken over a fork."""

    files: WatchedFiles
    known: Definitions | None = None
    """What is in force; where nothing is yet, what would be. Those who find something else in force read that, and take
    from here what is the same."""


def prepare(files: WatchedFiles, opened: Callable[[], sa.Engine]) -> Prepared:
    """Reads what is in force, or else the files of a workspace.

    Args:
        files: of the workspace.
        opened: opens the store. Where it cannot be read now, that is left to whoever needs it.

    Raises:
        InputError: nothing is in force, and the files, which would be, are at fault.
    """
    try:
        found = _in_force(opened)
    except (UnavailableError, CheckFailedError) as error:
        _log.warning("what is in force cannot be read now, and is read by each process: %s", error)
        return Prepared(files)
    if found is not None:
        files.look(found)
        return Prepared(files, found)
    workspace = files.read()
    if not workspace.defines_anything:
        return Prepared(files)
    _, contract, monitors = workspace.require()
    return Prepared(files, Definitions(0, workspace_content(workspace), contract, monitors))


def _in_force(opened: Callable[[], sa.Engine]) -> Definitions | None:
    store = opened()
    try:
        return InForce(store).current()
    finally:
        # Connections do not survive a fork.
        store.dispose()
