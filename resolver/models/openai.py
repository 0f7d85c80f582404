"""The proposer over HTTP: any server that speaks OpenAI's chat completions, such as vLLM, llama.cpp or Ollama.

One request asks for all candidates at once, since servers share the work among them. The server is
asked to hold replies to a schema, and no reply is trusted to keep to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import httpx

from catalog.contract import Contract
from monitors.definition import MonitorDefinition
from resolver.candidates import Candidate, Proposal
from resolver.models.prompt import messages, response_format
from resolver.models.replies import Reply, candidates_of
from resolver.outcome import Refusal
from resolver.refusals import refuse
from resolver.vocabulary import Linked
from trivet.canonical import Json, content_hash, normal_text
from trivet.outcomes import ReasonCode
from trivet.references import Secret

CONNECT_SECONDS = 5.0
READ_SECONDS = 60.0
MOST_BYTES = 2_000_000
"""Of an answer of the server that are read at most."""
MAX_TOKENS = 512
"""Of one reply; a plan takes a tenth of it."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One model on one server."""

    base_url: str
    """With the version's path, such as `http://localhost:8000/v1`."""
    name: str
    api_key: Secret | None = None


@dataclass(frozen=True, slots=True)
class OpenAIProposer:
    """Asks one or more models for candidates."""

    contract: Contract
    monitors: tuple[MonitorDefinition, ...]
    endpoints: tuple[Endpoint, ...]
    candidates: int = 5
    """For each model."""
    temperature: Decimal = Decimal("0.7")
    seed: int = 0
    policy: str = "vote"
    """`vote`, or `agree`: each model must reach the same answer."""
    read_seconds: float = READ_SECONDS

    def propose(self, linked: Linked) -> Proposal | Refusal:
        """The candidates of every model; MODEL_UNAVAILABLE where one that is needed cannot be asked."""
        chat = messages(linked.question.plain, self.contract, self.monitors)
        found: list[Candidate] = []
        faults: list[str] = []
        for endpoint in self.endpoints:
            try:
                found += candidates_of(self._ask(endpoint, chat), endpoint.name)
            except _Unavailable as error:
                faults.append(f"{endpoint.name}: {error}")
        if faults and (self.policy == "agree" or not found):
            return refuse(ReasonCode.MODEL_UNAVAILABLE, "; ".join(faults))
        asked = tuple(endpoint.name for endpoint in self.endpoints)
        return Proposal(
            candidates=tuple(found),
            requested=self.candidates * len(self.endpoints),
            model=self._record(chat, faults),
            must_agree=asked if self.policy == "agree" else (),
        )

    def _record(self, chat: list[Json], faults: list[str]) -> dict[str, Json]:
        return {
            "provider": "openai",
            "proposer": "openai",
            "names": [endpoint.name for endpoint in self.endpoints],
            "seed": self.seed,
            "temperature": str(self.temperature),
            "candidates": self.candidates,
            "prompt_hash": content_hash(_normal(chat)),
            "faults": [normal_text(fault) for fault in faults],
        }

    def _ask(self, endpoint: Endpoint, chat: list[Json]) -> list[Reply]:
        body = {
            "model": endpoint.name,
            "messages": chat,
            "n": self.candidates,
            "temperature": float(self.temperature),
            "seed": self.seed,
            "max_tokens": MAX_TOKENS,
            "response_format": response_format(self.contract, self.monitors),
        }
        headers = {"Authorization": f"Bearer {endpoint.api_key.reveal()}"} if endpoint.api_key else {}
        timeout = httpx.Timeout(self.read_seconds, connect=CONNECT_SECONDS)
        url = f"{endpoint.base_url.rstrip('/')}/chat/completions"
        try:
            # The environment's proxies are not ours to trust with questions.
            with (
                httpx.Client(timeout=timeout, trust_env=False) as client,
                client.stream("POST", url, json=body, headers=headers) as response,
            ):
                content = _read_bounded(response)
                status = response.status_code
        except httpx.TimeoutException:
            raise _Unavailable("the server did not answer in time") from None
        except httpx.HTTPError as error:
            raise _Unavailable(f"the server cannot be reached ({type(error).__name__})") from None
        return _replies(status, content)


class _Unavailable(Exception):
    """A model that cannot be asked; the text says why, without anything secret."""


def _read_bounded(response: httpx.Response) -> bytes:
    read = bytearray()
    for part in response.iter_bytes():
        read += part
        if len(read) > MOST_BYTES:
            raise _Unavailable(f"the server sent more than {MOST_BYTES} bytes")
    return bytes(read)


def _replies(status: int, content: bytes) -> list[Reply]:
    document = _document(content)
    if status != httpx.codes.OK:
        raise _Unavailable(f"the server answered with status {status}{_server_message(document)}")
    choices = document.get("choices")
    if not isinstance(choices, list):
        raise _Unavailable("the server answered with something that is no chat completion")
    return [_reply(choice) for choice in choices]


def _document(content: bytes) -> Mapping[str, Any]:
    # Through httpx, whose reading of bytes follows RFC 8259.
    try:
        value = httpx.Response(200, content=content).json()
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _server_message(document: Mapping[str, Any]) -> str:
    error = document.get("error")
    message = error.get("message") if isinstance(error, dict) else None
    return f": {' '.join(message.split())[:200]}" if isinstance(message, str) else ""


def _reply(choice: object) -> Reply:
    message = choice.get("message") if isinstance(choice, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    reason = choice.get("finish_reason") if isinstance(choice, dict) else None
    return Reply(content if isinstance(content, str) else None, str(reason))


def _normal(value: Json) -> Json:
    match value:
        case str():
            return normal_text(value)
        case list():
            return [_normal(item) for item in value]
        case dict():
            return {key: _normal(item) for key, item in value.items()}
        case _:
            return value
