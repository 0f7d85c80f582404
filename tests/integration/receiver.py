"""A real HTTP receiver on this machine: remembers what came in, and can fail, be slow, redirect, or hang up."""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it came in."""

    path: str
    headers: dict[str, str]
    """With names in lower case."""
    body: bytes

    @property
    def key(self) -> str:
        """The id by which a repetition is known."""
        return self.headers["webhook-id"]


@dataclass
class Receiver:
    """What the receiver got, and how it answers: each of `answers` once, then 204."""

    port: int
    requests: list[Request] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)

    def url(self, path: str = "/hook", scheme: str = "http") -> str:
        """An address of it."""
        return f"{scheme}://127.0.0.1:{self.port}{path}"


Answer = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    """Hands each request to the receiver."""

    receiver: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.receiver.requests.append(Request(self.path, headers, body))
        answers = self.receiver.answers
        (answers.pop(0) if answers else status(204))(self)

    do_GET = do_POST

    def log_message(self, *arguments: object) -> None:
        pass


def status(code: int, **headers: str) -> Answer:
    """Answers with a status."""

    def answer(handler: Handler) -> None:
        handler.send_response(code)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("content-length", "0")
        handler.end_headers()

    return answer


def hang_up(handler: Handler) -> None:
    """Takes the request and closes the connection without a word."""
    handler.close_connection = True


def malformed(handler: Handler) -> None:
    """Answers 200 with a head that is none, of which libraries complain with the address."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nno colon here\r\ncontent-length: 0\r\n\r\n")
    handler.close_connection = True


def slow(seconds: float) -> Answer:
    """Takes the request and answers late."""

    def answer(handler: Handler) -> None:
        time.sleep(seconds)
        hang_up(handler)

    return answer


def endless(handler: Handler) -> None:
    """Answers 200 with a body that has no end worth waiting for."""
    handler.send_response(200)
    handler.send_header("content-length", str(10**12))
    handler.end_headers()
    try:
        for _ in range(1_000):
            handler.wfile.write(b"x" * 65_536)
    except OSError:
        handler.close_connection = True


@contextmanager
def running_receiver(
    port: int = 0, host: str = "127.0.0.1", context: ssl.SSLContext | None = None
) -> Iterator[Receiver]:
    """A receiver on a port of this machine; on any free one if it is 0. With a context, it speaks TLS."""
    server = ThreadingHTTPServer((host, port), type("Bound", (Handler,), {}))
    if context is not None:
        # The handshake is for the thread of the request: one that fails there ends no other.
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    receiver = Receiver(server.server_address[1])
    server.RequestHandlerClass.receiver = receiver  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
