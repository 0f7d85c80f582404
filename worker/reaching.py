"""Whether an address answers at all: a connection is made and closed again, and nothing is sent."""

from __future__ import annotations

import os
import socket
from urllib.parse import urlsplit

_SECONDS = 3.0
_PORTS = {"http": 80, "https": 443}


def port_of(url: str) -> int | None:
    """The port that a URL leads to; None where it is no http or https URL."""
    try:
        parts = urlsplit(url)
        return parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return None


def unreachable(host: str, port: int) -> str | None:
    """Why nobody can be connected to there; None where somebody can."""
    try:
        socket.create_connection((host, port), _SECONDS).close()
    except TimeoutError:
        return "its host does not answer"
    except socket.gaierror:
        return "its host is not known"
    except (OSError, UnicodeError) as error:
        number = getattr(error, "errno", None)
        return f"it cannot be connected to: {os.strerror(number) if number else type(error).__name__}"
    return None
