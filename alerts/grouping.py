"""The groups in which a route gathers what it sends: which one a notice belongs to, and when it goes out. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from alerts.states import AlertKind
from alerts.wording import shortened, visible
from monitors.definition import MonitorDefinition
from trivet.canonical import content_hash, normal_text
from trivet.settings import RouteSettings
from trivet.verdicts import Severity

_LABELS = "labels."
# The text of a group is indexed, and PostgreSQL indexes no more than some 2,700 bytes.
_LONGEST_VALUE = 30
_MOST_VALUES = 8


@dataclass(frozen=True, slots=True)
class Grouping:
    """A group of notices at one receiver."""

    digest: str
    """Over the route and everything that its notices have in common: two routes to one receiver share no group."""
    by: Mapping[str, str]
    """What its notices have in common, shortened; empty texts are labels that a monitor does not have."""
    wait: timedelta
    """How long the first notice waits for others."""
    interval: timedelta
    """How long after a message the next one goes out."""

    @property
    def gathers(self) -> bool:
        """Whether anything waits for anything."""
        return bool(self.wait or self.interval)

    def due(self, now: datetime, waiting: datetime | None, gathered: datetime | None) -> datetime:
        """When a notice goes out that joins now.

        Args:
            now: the instant at which it is written.
            waiting: when what waits already goes out; None where nothing waits.
            gathered: when the group's latest message was made; None before the first.
        """
        if waiting is not None:
            return waiting
        first = now + self.wait
        return first if gathered is None else max(first, gathered + self.interval)

    def to_text(self) -> str:
        """As the outbox keeps it; the same text is the same group."""
        seconds = [self.wait.total_seconds(), self.interval.total_seconds()]
        return json.dumps(
            {"by": dict(self.by), "digest": self.digest, "times": seconds}, sort_keys=True, ensure_ascii=False
        )

    @classmethod
    def from_text(cls, text: str) -> Grouping:
        """The group that `to_text` wrote."""
        found = json.loads(text)
        wait, interval = (timedelta(seconds=item) for item in found["times"])
        return cls(found["digest"], found["by"], wait, interval)


def grouping_of(route: RouteSettings, definition: MonitorDefinition, kind: AlertKind, severity: Severity) -> Grouping:
    """The group that a notice of a monitor is of, by a route that it takes."""
    match = route.match.model_dump(mode="json")
    by = {key: _value(key, definition, kind, severity) for key in route.group_by}
    shown = {key: shortened(visible(normal_text(by[key])), _LONGEST_VALUE) for key in list(by)[:_MOST_VALUES]}
    return Grouping(content_hash([route.receiver, match, by])[:16], shown, route.wait, route.interval)


def of_one_monitor(monitor: str) -> Grouping:
    """The group in which many groups of one monitor are told of that move at once: one message, and no wait."""
    return Grouping("", {"monitor": monitor}, timedelta(), timedelta())


def about(kind: AlertKind) -> str:
    """What settings call a kind of alert: one that could not be judged again is about a breach."""
    return "no_data" if kind is AlertKind.NO_DATA else "breach"


def _value(key: str, definition: MonitorDefinition, kind: AlertKind, severity: Severity) -> str:
    if key.startswith(_LABELS):
        return dict(definition.labels).get(key.removeprefix(_LABELS), "")
    values = {
        "monitor": definition.id,
        "object": definition.object,
        "severity": severity.value,
        "owner": definition.owner,
        "verdict": about(kind),
    }
    return values[key]
