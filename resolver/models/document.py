"""The door through which a model's words come in: strict JSON of one of five shapes, or nothing."""

from __future__ import annotations

import json
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from resolver.candidates import Drop, Dropped
from resolver.plan import (
    CannotAnswer,
    Filter,
    Measure,
    MonitorAsk,
    MonitorQuestion,
    Operator,
    Proposed,
    SemanticPlan,
    SqlText,
)

LONGEST_REPLY = 20_000
"""Characters of a reply that are read at most."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class FilterReply(_Strict):
    """One filter of a plan."""

    property: str
    operator: Operator
    values: list[str] = []


class PlanReply(_Strict):
    """A semantic plan."""

    object: str
    measure: Measure
    property: str | None = None
    by: str | None = None
    filters: Annotated[list[FilterReply], Field(max_length=10)] = []


class MetricReply(_Strict):
    """A plan of one of the contract's metrics."""

    metric: str
    object: str
    by: str | None = None
    filters: Annotated[list[FilterReply], Field(max_length=10)] = []


class MonitorReply(_Strict):
    """A question to a monitor."""

    monitor: str
    asks: MonitorAsk


class SqlReply(_Strict):
    """SQL."""

    sql: str


class CannotReply(_Strict):
    """A refusal."""

    cannot_answer: str


_REPLY: TypeAdapter[PlanReply | MetricReply | MonitorReply | SqlReply | CannotReply] = TypeAdapter(
    PlanReply | MetricReply | MonitorReply | SqlReply | CannotReply
)


def read_reply(text: str) -> Proposed | Dropped:
    """What a reply proposes, or why it is dropped. Nothing of it is repaired."""
    if len(text) > LONGEST_REPLY:
        return Dropped(Drop.WRONG_SCHEMA, f"the reply is longer than {LONGEST_REPLY} characters")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        if any(ord(char) < 32 and char not in "\t\n\r" for char in text) or _is_json_but_for_controls(text):
            return Dropped(Drop.CONTROL_CHARACTERS, "the reply has control characters inside its texts")
        return Dropped(Drop.NOT_JSON, "the reply is not JSON")
    if _has_controls(value):
        return Dropped(Drop.CONTROL_CHARACTERS, "the reply has control characters inside its texts")
    try:
        reply = _REPLY.validate_python(value)
    except ValidationError:
        return Dropped(Drop.WRONG_SCHEMA, "the reply is JSON of another shape than was asked for")
    match reply:
        case PlanReply():
            return SemanticPlan(reply.object, reply.measure, reply.property, reply.by, _filters(reply.filters))
        case MetricReply():
            return SemanticPlan(
                reply.object, Measure.METRIC, None, reply.by, _filters(reply.filters), metric=reply.metric
            )
        case MonitorReply():
            return MonitorQuestion(reply.monitor, reply.asks)
        case SqlReply():
            return SqlText(reply.sql)
        case CannotReply():
            return CannotAnswer(reply.cannot_answer[:200])


def _filters(replies: list[FilterReply]) -> tuple[Filter, ...]:
    return tuple(Filter(item.property, item.operator, tuple(item.values)) for item in replies)


def _is_json_but_for_controls(text: str) -> bool:
    try:
        json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return False
    return True


def _has_controls(value: object) -> bool:
    match value:
        case str():
            return any((ord(char) < 32 and char not in "\n\t") or 127 <= ord(char) < 160 for char in value)
        case list():
            return any(_has_controls(item) for item in value)
        case dict():
            return any(_has_controls(part) for pair in value.items() for part in pair)
        case _:
            return False
