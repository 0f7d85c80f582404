"""A server that speaks vLLM's measured dialect of chat completions, and says what a test tells it to.

Measured on vLLM 0.32 (CPU): /health 200 with an empty body, /v1/models, errors as
`{"error": {"message", "type", "param", "code"}}`, 404 for an unknown model, `n` choices in one answer,
`finish_reason` length with status 200 where a reply was cut off.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "tiny"


@dataclass
class ModelServer:
    """What the server says, and what it was asked."""

    base_url: str = ""
    replies: Sequence[tuple[str, str]] = ()
    """Content and finish_reason of each choice, over and over."""
    status: int = 200
    delay: float = 0.0
    body: bytes | None = None
    """Sent in place of any completion."""
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    def says(self, *contents: Any, finish_reason: str = "stop") -> None:
        """Sets the replies; what is no text is sent as JSON."""
        texts = [item if isinstance(item, str) else json.dumps(item) for item in contents]
        self.replies = [(text, finish_reason) for text in texts]


@contextmanager
def model_server() -> Iterator[ModelServer]:
    """A server on a free port of this machine."""
    told = ModelServer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            match self.path:
                case "/health":
                    self._send(200, b"")
                case "/v1/models":
                    self._document(200, {"object": "list", "data": [{"id": MODEL, "max_model_len": 2048}]})
                case _:
                    self._document(404, {"detail": "Not Found"})

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            told.requests.append(request)
            told.headers.append(dict(self.headers))
            time.sleep(told.delay)
            if self.path != "/v1/chat/completions":
                self._document(404, {"detail": "Not Found"})
            elif request["model"] != MODEL:
                self._fault(404, f"The model `{request['model']}` does not exist.", "NotFoundError")
            elif told.status != 200:
                self._fault(told.status, "EngineCore encountered an issue.", "InternalServerError")
            elif told.body is not None:
                self._send(200, told.body)
            else:
                self._document(200, completion(request, told.replies))

        def _fault(self, status: int, message: str, kind: str) -> None:
            self._document(status, {"error": {"message": message, "type": kind, "param": None, "code": status}})

        def _document(self, status: int, value: object) -> None:
            self._send(status, json.dumps(value).encode())

        def _send(self, status: int, body: bytes) -> None:
            try:
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            except (BrokenPipeError, ConnectionResetError):
                return

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    told.base_url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield told
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def completion(request: dict[str, Any], replies: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """A completion with as many choices as were asked for."""
    choices = [
        {"index": index, "message": {"role": "assistant", "content": content}, "finish_reason": reason}
        for index in range(request["n"])
        for content, reason in [replies[index % len(replies)]]
    ]
    usage = {"prompt_tokens": 100, "completion_tokens": 64 * len(choices), "total_tokens": 100 + 64 * len(choices)}
    return {"id": "chatcmpl-1", "object": "chat.completion", "model": MODEL, "choices": choices, "usage": usage}
