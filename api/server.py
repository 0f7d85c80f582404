"""Serving an application from a thread, beside whatever else the process does."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from trivet.errors import UnavailableError

_LONGEST_END = 5
"""Seconds that requests have to come to their end."""
_MOST_AT_ONCE = 64


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there; on any free port where that is 0.

    Raises:
        UnavailableError: it cannot be, and what to do.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        return socket.create_server(address[:2], family=family, backlog=128)
    except OSError as error:
        why = error.strerror or str(error)
        if isinstance(error.errno, int) and not isinstance(error, socket.gaierror):
            why = os.strerror(error.errno)
        message = f"nothing can be served at {host}:{port}: {why}; set api.host or api.port, where 0 is any free one"
        raise UnavailableError(message) from error


def address_of(listening: socket.socket) -> str:
    """The URL at which a socket is reached."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if listening.family is socket.AF_INET6 else f"http://{host}:{port}"


@contextmanager
def serving(app: ASGIApp, listening: socket.socket) -> Iterator[None]:
    """Serves from a thread until the block is left; closes the socket."""
    config = uvicorn.Config(
        app,
        lifespan="off",
        # Its log lines go where all others go, and say nothing of each request.
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=_MOST_AT_ONCE,
        timeout_graceful_shutdown=_LONGEST_END,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, name="http", daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join(timeout=2 * _LONGEST_END)
        listening.close()
