"""Proposals: what a proposer came up with for a question, and the port that proposers stand behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from resolver.outcome import Refusal
from resolver.plan import Proposed
from resolver.vocabulary import Linked
from trivet.canonical import Json


class Drop(StrEnum):
    """Why a proposal was dropped before the referee saw it."""

    NOT_JSON = "not_json"
    WRONG_SCHEMA = "wrong_schema"
    TRUNCATED = "truncated"
    """The model stopped for length, so the reply is not whole."""
    CONTROL_CHARACTERS = "control_characters"
    UNKNOWN_NAME = "unknown_name"
    """It names what the contract does not have, or asks of it what it cannot give."""
    UNMET_SLOT = "unmet_slot"
    """It filters by what the question does not say, or leaves out what the question does."""
    MISSING_FILTER = "missing_filter"
    """It holds something to no value that the contract wants held to one."""
    NO_PERIOD = "no_period"
    """The contract's calendar has no days for the period that it names."""

    @property
    def is_unreadable(self) -> bool:
        """Whether the reply itself was no use, whatever it meant to say."""
        return self in (Drop.NOT_JSON, Drop.WRONG_SCHEMA, Drop.TRUNCATED, Drop.CONTROL_CHARACTERS)

    @property
    def tells_all(self) -> bool:
        """Whether its message says in words what is wrong, so that its kind need not be told."""
        return self in (Drop.MISSING_FILTER, Drop.NO_PERIOD)

    @property
    def wants_more(self) -> bool:
        """Whether it could be answered if the question said more."""
        return self is Drop.MISSING_FILTER


@dataclass(frozen=True, slots=True)
class Dropped:
    """Why one proposal counts for nothing."""

    kind: Drop
    message: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """One proposal."""

    source: str
    """The model that made it, or `lexical`."""
    proposed: Proposed | Dropped
    raw: str | None = None
    """The reply as it came; None where no model spoke."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """All proposals for one question."""

    candidates: tuple[Candidate, ...]
    requested: int
    """How many were asked for; those that never came count against agreement."""
    model: Mapping[str, Json]
    """What proposed, for the record."""
    deterministic: bool = False
    """Whether one candidate is all there can be, so that agreement means nothing."""
    must_agree: tuple[str, ...] = ()
    """Sources that must each reach the winning answer; empty where all vote together."""


class Proposer(Protocol):
    """Whatever turns a question into proposals. It decides nothing: each proposal is judged by others."""

    def propose(self, linked: Linked) -> Proposal | Refusal:
        """The proposals, or a refusal where there is nothing to propose."""
