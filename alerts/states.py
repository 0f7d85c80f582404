"""The words of alerts: states, kinds, events, and how far a delivery is. Each is spelled here and nowhere else."""

from enum import StrEnum


class AlertState(StrEnum):
    """How a monitor's alert stands."""

    QUIET = "quiet"
    PENDING = "pending"
    """Not in order, but not yet for as many evaluations in a row as `for` asks."""
    FIRING = "firing"


class AlertKind(StrEnum):
    """What an alert that is pending or firing is about."""

    BREACH = "breach"
    NO_DATA = "no_data"
    UNJUDGED = "unjudged"
    """There was a breach, and the latest evaluation could not judge it: neither seen again nor seen gone."""


class AlertEvent(StrEnum):
    """What people are told."""

    FIRED = "fired"
    CHANGED = "changed"
    """It still fires, and is about something else than was last told."""
    RESOLVED = "resolved"
    TEST = "test"
    """Told by `trivet alerts test`, about no monitor."""


class DeliveryState(StrEnum):
    """How far one outbox row is."""

    PENDING = "pending"
    """It waits for its first or its next attempt."""
    ATTEMPTING = "attempting"
    """Someone is sending it; committed before the call."""
    DELIVERED = "delivered"
    """The receiver said that it took it."""
    FAILED = "failed"
    """Given up: every attempt failed, or the receiver said that it is gone for good."""
    UNKNOWN = "unknown"
    """It may have arrived. It is not sent again, since the receiver could not tell a repetition."""
