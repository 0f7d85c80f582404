"""Replies of a model, live or recorded, as candidates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from resolver.candidates import Candidate, Drop, Dropped
from resolver.models.document import read_reply
from resolver.plan import Proposed


@dataclass(frozen=True, slots=True)
class Reply:
    """One choice of a completion."""

    content: str | None
    finish_reason: str
    """`stop`, or `length` where the model was cut off."""


def candidates_of(replies: Iterable[Reply], source: str) -> list[Candidate]:
    """Each reply as a candidate, read or dropped with a reason."""
    return [Candidate(source, _read(reply), reply.content) for reply in replies]


def _read(reply: Reply) -> Proposed | Dropped:
    if reply.finish_reason == "length":
        return Dropped(Drop.TRUNCATED, "the model was cut off before its reply was whole")
    if not reply.content:
        return Dropped(Drop.NOT_JSON, "the reply is empty")
    return read_reply(reply.content)
