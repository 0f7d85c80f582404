"""The port's fake: remembers what it was told, and ends as it is bidden."""

from __future__ import annotations

from collections.abc import Iterable

from alerts.notifiers.port import Ending, Notice, Sent


class FakeNotifier:
    """Ends with each of `endings` in turn, then always well."""

    def __init__(self, endings: Iterable[Ending] = (), *, resends: bool = True) -> None:
        self.resends = resends
        self.sent: list[Notice] = []
        self._endings = list(endings)

    def send(self, notice: Notice) -> Ending:
        """Remembers the notice."""
        self.sent.append(notice)
        return self._endings.pop(0) if self._endings else Sent()
