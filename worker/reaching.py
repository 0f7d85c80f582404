"""Whether an address answers at all: a connection is made and closed again, and nothing is sent."""

from __future__ import annotations

import os
import socket
from urllib.parse import urlsplit

_SECONDS = 3.0
_PORTS = {"http": 80, "https": 443}


def unreachable(url: str) -> str | None:
    """Why a URL's host cannot be connected to; None where it can. The URL is not repeated: it may hold a secret."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        host = port = None
    if not host or port is None:
        return "it is no http or https URL"
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
