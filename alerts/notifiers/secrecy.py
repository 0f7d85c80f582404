"""Keeping secrets out of what other libraries log: addresses of receivers are secrets."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

HIDDEN = "***"
_SHORTEST = 6
"""Shorter parts of an address are words such as `hook`, and hiding them would hide what went wrong."""
_WARNINGS = "py"
"""Under this name warnings of libraries become lines of the log."""


def secrets_of(url: str) -> set[str]:
    """A URL, and each part of it that may be a secret by itself, as written and as decoded."""
    _, _, rest = url.partition("://")
    parts = {part for part in re.split(r"[/?&=#@:]", rest) if len(part) >= _SHORTEST}
    return {url} | parts | {unquote(part) for part in parts}


def scrubbed(text: str, secrets: set[str]) -> str:
    """The text with every secret hidden, the longest first."""
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return text


class _Guard:
    """Makes the records of the log, and hides every secret that it was told of in those of some libraries.

    It makes them, since a filter of a logger sees nothing of what the loggers below it write: of a head that is none,
    `urllib3.connection` tells the address.
    """

    def __init__(self, make: Callable[..., logging.LogRecord]) -> None:
        self._make = make
        self.is_at_work = False
        self._secrets: set[str] = set()
        self._libraries = {_WARNINGS}

    def tell(self, secrets: set[str], libraries: tuple[str, ...]) -> None:
        """More to hide, and from where. Sets are replaced, since other threads look through them meanwhile."""
        self._secrets, self._libraries = self._secrets | secrets, self._libraries | set(libraries)

    def __call__(self, *given: Any, **named: Any) -> logging.LogRecord:
        record = self._make(*given, **named)
        if record.name.partition(".")[0] in self._libraries:
            record.msg, record.args = scrubbed(record.getMessage(), self._secrets), ()
            # A traceback may quote anything.
            record.exc_info = record.exc_text = None
        return record


_GUARD = _Guard(logging.getLogRecordFactory())


def guard_logs(secrets: set[str], *libraries: str) -> None:
    """Holds these libraries at WARNING, below which they print addresses, and hides the secrets in what they log."""
    _GUARD.tell(secrets, libraries)
    if not _GUARD.is_at_work:
        _GUARD.is_at_work = True
        logging.setLogRecordFactory(_GUARD)
    for name in libraries:
        logging.getLogger(name).setLevel(logging.WARNING)
