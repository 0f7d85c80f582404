"""Telling whoever watches the program: text on its output."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import indent

from alerts.message import Message
from alerts.notifiers.port import Ending, MaybeSent, Notice, Sent
from alerts.rendering import body, subject
from alerts.wording import visible


class StdoutNotifier:
    """Writes each notice as text.

    Args:
        write: takes one text without a line end at its end.
        resends: whether what may have been written is written again.
    """

    def __init__(self, write: Callable[[str], None], *, resends: bool = False) -> None:
        self._write, self.resends = write, resends

    def send(self, notice: Notice) -> Ending:
        """Writes it."""
        message = Message.from_json(notice.payload)
        text = indent(body(message, visible), "  ")
        try:
            self._write(f"{subject(message)}\n{text}")
        except OSError as error:
            return MaybeSent(f"the output cannot be written: {error.strerror or type(error).__name__}")
        return Sent()
