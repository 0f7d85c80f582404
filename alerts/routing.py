"""Who is told of an alert: the receivers that the monitor names, and the one of the first route that matches."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from alerts.grouping import Grouping, about, grouping_of
from alerts.states import AlertKind
from monitors.definition import MonitorDefinition
from trivet.receiver_settings import ReceiverSettings
from trivet.settings import RouteMatch, RouteSettings, Settings
from trivet.verdicts import Severity


@dataclass(frozen=True, slots=True, order=True)
class Target:
    """One address of one receiver. Each is sent to, and fails, alone."""

    receiver: str
    """Its name in the settings."""
    number: int = 1
    """Which of its addresses, from 1; a receiver that is no list of addresses has one."""

    def __str__(self) -> str:
        return self.receiver if self.number == 1 else f"{self.receiver} ({self.number})"


@dataclass(frozen=True, slots=True)
class Routing:
    """What the settings say of who is told."""

    receivers: Mapping[str, tuple[Target, ...]] = field(default_factory=dict)
    """Every receiver with its addresses."""
    routes: Sequence[RouteSettings] = ()

    @property
    def gathers(self) -> bool:
        """Whether any notice waits for others."""
        return any(item.wait or item.interval for item in self.routes)

    def receivers_for(
        self,
        definition: MonitorDefinition,
        kind: AlertKind,
        severity: Severity | None = None,
        reasons: Collection[str] = (),
    ) -> list[str]:
        """The names of those who are told, each once, the monitor's own first.

        Args:
            definition: the monitor.
            kind: what the alert is about.
            severity: how loud it is; as the monitor says if absent.
            reasons: of missing data that is told of.
        """
        route = self.route_for(definition, kind, severity)
        routed = [route.receiver] if route is not None else []
        names = [*_named(definition, reasons), *routed]
        return [name for name in dict.fromkeys(names) if name in self.receivers]

    def route_for(
        self, definition: MonitorDefinition, kind: AlertKind, severity: Severity | None = None
    ) -> RouteSettings | None:
        """The first route that matches; None where none does."""
        loud = severity or definition.severity
        return next((item for item in self.routes if _matches(item.match, definition, kind, loud)), None)

    def groupings_for(
        self,
        definition: MonitorDefinition,
        kind: AlertKind,
        severity: Severity | None = None,
        reasons: Collection[str] = (),
    ) -> dict[str, Grouping]:
        """The group in which the receiver of the matching route hears of it, by receiver.

        Whom the monitor itself names hears of it at once and by itself; so does everybody where nothing is gathered.
        """
        route = self.route_for(definition, kind, severity)
        if route is None or route.receiver in _named(definition, reasons):
            return {}
        found = grouping_of(route, definition, kind, severity or definition.severity)
        return {route.receiver: found} if found.gathers else {}


def routing_of(settings: Settings) -> Routing:
    """Who is told, as these settings have it."""
    return Routing({name: targets_of(name, item) for name, item in settings.receivers.items()}, settings.routes)


def targets_of(name: str, receiver: ReceiverSettings) -> tuple[Target, ...]:
    """The addresses of one receiver."""
    listed = receiver.apprise or (receiver.smtp.to if receiver.smtp is not None else None) or ("",)
    return tuple(Target(name, number) for number in range(1, len(listed) + 1))


def _named(definition: MonitorDefinition, reasons: Collection[str]) -> list[str]:
    """Whom the monitor itself names."""
    of_reasons = [name for rule in definition.no_data.reasons if rule.reason in reasons for name in rule.notify]
    return [*definition.notify, *of_reasons]


def _matches(match: RouteMatch, definition: MonitorDefinition, kind: AlertKind, severity: Severity) -> bool:
    named = (
        (match.monitor, definition.id),
        (match.object, definition.object),
        (match.severity, severity),
        (match.owner, definition.owner),
        (match.verdict, about(kind)),
    )
    labels = dict(definition.labels)
    return all(asked in (None, found) for asked, found in named) and all(
        labels.get(name) == value for name, value in match.labels.items()
    )
