"""Whether an address answers at all: a connection is made and closed again, and nothing is sent."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from urllib.parse import urlsplit

_SECONDS = 3.0
_PORTS = {"http": 80, "https": 443}


def unreachable(url: str, at: Sequence[str]) -> str | None:
    """Why a URL's host cannot be connected to; None where it can. The URL is not repeated: it may hold a secret.

    Args:
        url: for its port.
        at: the addresses of its host; the first is tried.
    """
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        port = None
    if port is None:
        return "it is no http or https URL"
    try:
        socket.create_connection((at[0], port), _SECONDS).close()
    except TimeoutError:
        return "its host does not answer"
    except OSError as error:
        return f"it cannot be connected to: {os.strerror(error.errno) if error.errno else type(error).__name__}"
    return None
