"""Log lines: what each concerns, and how it is written: as text for a person, as JSON for a program.

Either way one record cannot look like two: what comes from outside is shown with its control characters escaped.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from enum import StrEnum
from types import MappingProxyType
from typing import IO

from trivet.clock import utc_text

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
_NOTHING: MappingProxyType[str, str] = MappingProxyType({})
_concern: ContextVar[MappingProxyType[str, str]] = ContextVar("concern", default=_NOTHING)


class LogForm(StrEnum):
    """How log lines are written."""

    TEXT = "text"
    JSON = "json"
    """JSON Lines: one ASCII object on a line."""


@contextmanager
def concerning(*, monitor: str, slot: datetime | str, evaluation_id: str | None = None) -> Iterator[None]:
    """Says on every line that is logged inside, by this thread, which evaluation it concerns."""
    told = {"monitor": monitor, "slot": slot if isinstance(slot, str) else utc_text(slot)}
    if evaluation_id is not None:
        told["evaluation_id"] = evaluation_id
    token = _concern.set(MappingProxyType(told))
    try:
        yield
    finally:
        _concern.reset(token)


def set_up_logs(stream: IO[str], level: str | int, form: LogForm | None = None) -> None:
    """Writes every log line of this process to `stream`.

    Args:
        stream: such as standard error.
        level: the least that is written, one of `LEVELS`.
        form: text for a terminal and JSON otherwise, if absent.
    """
    chosen = form or (LogForm.TEXT if stream.isatty() else LogForm.JSON)
    handler = logging.StreamHandler(stream)
    handler.setFormatter(TextFormatter() if chosen is LogForm.TEXT else JsonFormatter())
    logging.basicConfig(handlers=[handler], level=level)
    # Warnings of libraries are lines of the log too.
    logging.captureWarnings(True)


class JsonFormatter(logging.Formatter):
    """One JSON object for each record."""

    def format(self, record: logging.LogRecord) -> str:
        """ASCII, so that no reader takes part of it for the end of a line."""
        told: dict[str, str | int] = {
            "time": _time(record),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **_concern.get(),
            "process": record.process or 0,
            "thread": record.threadName or "",
        }
        if record.exc_info:
            told["exception"] = self.formatException(record.exc_info)
        return json.dumps(told)


class TextFormatter(logging.Formatter):
    """One line for each record, and the lines of its traceback, indented."""

    def format(self, record: logging.LogRecord) -> str:
        """Time, level, logger, what it concerns, and the message."""
        concern = _concern.get()
        about = f" [{' '.join(concern.values())}]" if concern else ""
        line = f"{_time(record)} {record.levelname} {record.name}{about}: {record.getMessage()}"
        lines = [line.replace("\n", "\\n")]
        if record.exc_info:
            lines += [f"  {item}" for item in self.formatException(record.exc_info).splitlines()]
        return "\n".join(_visible(item) for item in lines)


def _time(record: logging.LogRecord) -> str:
    return utc_text(datetime.fromtimestamp(record.created, UTC))


def _visible(text: str) -> str:
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)
