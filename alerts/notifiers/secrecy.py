"""Keeping secrets out of what other libraries log: addresses of receivers are secrets."""

from __future__ import annotations

import logging
import re
from urllib.parse import unquote

HIDDEN = "***"
_SHORTEST = 6
"""Shorter parts of an address are words such as `hook`, and hiding them would hide what went wrong."""


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


class _Scrubber(logging.Filter):
    """Hides every secret it was told of, in whatever passes."""

    def __init__(self) -> None:
        super().__init__()
        self.secrets: set[str] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        """Rewrites the record; a traceback may quote anything, so it goes."""
        record.msg, record.args, record.exc_info = scrubbed(record.getMessage(), self.secrets), (), None
        return True


_SCRUBBER = _Scrubber()


def guard_logs(secrets: set[str], *loggers: str) -> None:
    """Holds these loggers at WARNING, below which they print addresses, and hides the secrets in what is left."""
    _SCRUBBER.secrets |= secrets
    for name in loggers:
        logger = logging.getLogger(name)
        logger.setLevel(logging.WARNING)
        if _SCRUBBER not in logger.filters:
            logger.addFilter(_SCRUBBER)
