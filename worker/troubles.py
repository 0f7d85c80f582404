"""What goes wrong again and again is logged once, until it goes right or goes wrong in another way."""

from __future__ import annotations

import logging

_log = logging.getLogger(__name__)


class Troubles:
    """Remembers, for one process, what is wrong with which monitor."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], str] = {}

    def met(self, monitor: str, doing: str, error: Exception) -> None:
        """Logs that something could not be done for a monitor, unless that was logged before.

        Args:
            monitor: its id.
            doing: what could not be done, such as "be planned".
            error: what went wrong.
        """
        told = f"{type(error).__name__}: {error}"
        if self._known.get((monitor, doing)) != told:
            self._known[(monitor, doing)] = told
            _log.error("%s could not %s; it is tried again at each tick: %s", monitor, doing, told, exc_info=error)

    def over(self, monitor: str, doing: str) -> None:
        """It could be done: the next time that it cannot is told again."""
        if self._known.pop((monitor, doing), None) is not None:
            _log.info("%s can %s again", monitor, doing)
