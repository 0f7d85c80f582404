"""What a monitor file says of alerts, as it is written."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from monitors.alerting import Lasting, SeverityLevel, Threshold
from trivet.documents import Scalar
from trivet.durations import parse_duration
from trivet.faults import Fault, expected, refused
from trivet.fields import Between, DurationText, Flag, Prose, Slug
from trivet.findings import did_you_mean
from trivet.validation import StrictModel
from trivet.verdicts import NotMadeReason, Reason, Severity

_MOST = 1_000
_COUNT = re.compile(r"0|[1-9][0-9]{0,8}")
_PERCENT = re.compile(r"((?:0|[1-9][0-9]?|100)(?:\.[0-9]{1,4})?)%")


def _read_threshold(value: object) -> Threshold:
    if isinstance(value, Threshold):
        return value
    text = str(value) if isinstance(value, str) else ""
    if _COUNT.fullmatch(text):
        if isinstance(value, Scalar) and value.quoted:
            raise expected("a count such as 5", found=f"'{text}' in quotes", advice="remove the quotes")
        return Threshold(int(text))
    percent = _PERCENT.fullmatch(text)
    if percent is None or Decimal(percent[1]) > 100:
        raise expected("a count such as 5, or a share such as 5%")
    return Threshold(percent=Decimal(percent[1]))


def _read_size(value: object) -> Threshold:
    found = _read_threshold(value)
    if found.percent is None and not found.count:
        raise expected("a count of at least 1, or a share such as 5%")
    return found


def _read_share(value: object) -> Decimal:
    found = value if isinstance(value, Decimal) else _read_threshold(value).percent
    if found is None:
        raise expected("a share such as 5%")
    return found


def _read_reason(value: object) -> str:
    text = str(value) if isinstance(value, str) else ""
    if text not in _REASONS:
        raise expected("a reason", found=f"'{text}'", advice=did_you_mean(text, _REASONS).removeprefix("; "))
    return text


_REASONS = (*Reason, *NotMadeReason)


def _lasting_reader(what: str) -> Callable[[object], Lasting]:
    def read(value: object) -> Lasting:
        if isinstance(value, Lasting):
            return value
        text = str(value) if isinstance(value, str) else ""
        if _COUNT.fullmatch(text) and not (isinstance(value, Scalar) and value.quoted) and 1 <= int(text) <= _MOST:
            return Lasting(int(text))
        time = parse_duration(text)
        if not time:
            raise expected(what)
        return Lasting(time=time)

    return read


_COUNT_OR_TEXT: dict[str, Any] = {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string"}]}
ThresholdText = Annotated[Threshold, BeforeValidator(_read_threshold), WithJsonSchema(_COUNT_OR_TEXT)]
"""A count of members, or a share of the population: `5`, `2.5%`."""
SizeText = Annotated[Threshold, BeforeValidator(_read_size), WithJsonSchema(_COUNT_OR_TEXT)]
"""As `ThresholdText`, and a count is at least 1."""
ShareText = Annotated[Decimal, BeforeValidator(_read_share), WithJsonSchema({"type": "string"})]
"""A share, `5%`."""
ReasonName = Annotated[str, BeforeValidator(_read_reason), WithJsonSchema({"type": "string", "enum": list(_REASONS)})]
"""A reason of a member, or of an evaluation that could not be made."""
LastingText = Annotated[
    Lasting,
    BeforeValidator(_lasting_reader(f"a count of evaluations from 1 to {_MOST}, or a duration such as 30m")),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 1, "maximum": _MOST}, {"type": "string"}]}),
]
"""Evaluations in a row, or a duration: `3`, `30m`."""


class SeverityModel(StrictModel):
    """From how many breached members on an alert is how loud; below all of them it is `info`."""

    info: SizeText | None = None
    warning: SizeText | None = None
    critical: SizeText | None = None

    def levels(self) -> tuple[SeverityLevel, ...]:
        """Those that are given, the loudest last."""
        found = ((severity, getattr(self, severity.value)) for severity in Severity)
        return tuple(SeverityLevel(severity, size) for severity, size in found if size is not None)

    @model_validator(mode="after")
    def _names_a_level(self) -> SeverityModel:
        if not self.levels():
            raise refused("expected a size for at least one of info, warning and critical")
        return self


def _read_severity(value: object) -> object:
    if isinstance(value, (dict, SeverityModel, Severity)):
        return value
    text = str(value) if isinstance(value, str) else ""
    if text not in tuple(Severity):
        raise expected("info, warning or critical, or sizes such as {warning: 1, critical: 5%}")
    return Severity(text)


SeverityText: TypeAlias = Annotated[Severity | SeverityModel, BeforeValidator(_read_severity)]
"""One severity, or sizes."""


class NoDataRuleModel(StrictModel):
    """What holds for one reason in place of what holds for all."""

    alert: Flag | None = None
    """Whether it raises an alert."""
    tolerate: ThresholdText | None = None
    """Members with this reason that do not yet raise one."""
    lasting: Annotated[LastingText | None, Field(alias="for")] = None
    """Evaluations in a row, or how long, before it is told."""
    severity: Severity | None = None
    notify: list[Slug] = Field(default_factory=list)
    """Receivers that are told besides."""


class NoDataModel(StrictModel):
    """When missing data is told. It quiets the alert, never the verdict."""

    alert: Flag = True
    tolerate: ThresholdText = Threshold()
    """Undecided members that do not yet alert."""
    lasting: Annotated[LastingText | None, Field(alias="for")] = None
    """Evaluations in a row, or how long, before it is told; as for breaches if absent."""
    severity: Severity | None = None
    """Of missing data; that of the monitor if absent."""
    reasons: dict[ReasonName, NoDataRuleModel] = Field(default_factory=dict)
    """By reason, of a member or of an evaluation that could not be made."""

    @model_validator(mode="after")
    def _tolerates_members(self) -> NoDataModel:
        for reason, rule in self.reasons.items():
            if reason in tuple(NotMadeReason) and rule.tolerate is not None:
                message = f"{reason} says that an evaluation could not be made, so there are no members; use `for`"
                raise refused(Fault(("reasons", reason, "tolerate"), message))
        return self


class FlappingModel(StrictModel):
    """When an alert that comes and goes is told once."""

    alert: Flag = True
    """`false`: each coming and going is told."""
    changes: Annotated[int, Between(1, 100)] = 4
    """More changes than this are too many."""
    of: Annotated[int, Between(2, 100)] = 10
    """The latest evaluations that are looked at."""

    @model_validator(mode="after")
    def _can_be_exceeded(self) -> FlappingModel:
        if self.changes > self.of - 2:
            most = self.of - 1
            message = f"{self.of} evaluations change {most} times at most, never more than {self.changes}"
            raise refused(Fault(("changes",), message))
        return self


class RepeatModel(StrictModel):
    """How often an alert that still fires is told again."""

    every: DurationText
    most: Annotated[int, Between(1, 1000)] = 6
    """Repetitions of one episode, at most."""

    @model_validator(mode="after")
    def _lets_time_pass(self) -> RepeatModel:
        if self.every < timedelta(minutes=1):
            raise refused(Fault(("every",), "expected at least 1m"))
        return self


class EscalationModel(StrictModel):
    """Who is told when nobody has acknowledged."""

    after: DurationText
    """Since it fired."""
    to: Slug
    """A receiver of the settings."""


class AlertingModel(StrictModel):
    """What a monitor says of alerts."""

    severity: SeverityText = Severity.WARNING
    """How loud it is: one word, or by the number of breached members."""
    no_data: NoDataModel = NoDataModel()
    lasting: Annotated[LastingText, Field(alias="for")] = Lasting()
    """Evaluations in a row, or how long, before it fires."""
    keep_firing_for: LastingText = Lasting()
    """Evaluations in a row that must be in order, or how long, before it is resolved."""
    recover_when: Prose | None = None
    """Condition that a member which breached must meet before it has recovered; that it is compliant if absent."""
    judged_share: ShareText | None = None
    """A fall of the judged share by more than this is told by itself."""
    flapping: FlappingModel = FlappingModel()
    repeat: RepeatModel | None = None
    escalate: list[EscalationModel] = Field(default_factory=list)
    """In the order of their time."""
    alert_per: Literal["monitor", "group"] = "monitor"
    """`group`: each group has an alert of its own."""
