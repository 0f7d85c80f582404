"""The words of alerts: states, kinds, events, and how far a delivery is. Each is spelled here and nowhere else."""

from enum import StrEnum


class AlertState(StrEnum):
    """How a monitor's alert stands."""

    QUIET = "quiet"
    PENDING = "pending"
    """Not in order, but not yet for as many evaluations in a row as `for` asks."""
    FIRING = "firing"
    ACKNOWLEDGED = "acknowledged"
    """It fires, and somebody has taken it on: nothing is repeated and nobody else is called."""

    @property
    def is_open(self) -> bool:
        """Whether an episode is under way."""
        return self in (AlertState.FIRING, AlertState.ACKNOWLEDGED)


class AlertKind(StrEnum):
    """What an alert that is pending or firing is about."""

    BREACH = "breach"
    NO_DATA = "no_data"
    UNJUDGED = "unjudged"
    """There was a breach, and the latest evaluation could not judge it: neither seen again nor seen to end."""


class MemberState(StrEnum):
    """How a member that was flagged stands after an evaluation."""

    BREACH = "breach"
    NO_DATA = "no_data"
    HELD = "held"
    """Compliant, and not as far from a breach as `recover_when` asks."""
    GONE = "gone"
    """Not in the population any more."""
    COMPLIANT = "compliant"


class AlertEvent(StrEnum):
    """What people are told."""

    @property
    def is_end(self) -> bool:
        """Whether the episode is over with it."""
        return self in (AlertEvent.RESOLVED, AlertEvent.UNWATCHED)

    FIRED = "fired"
    CHANGED = "changed"
    """It still fires, and is about something else, or is louder or quieter, than was last told."""
    RESOLVED = "resolved"
    FLAPPING = "flapping"
    """It comes and goes; until it is steady, no coming and going is told."""
    REPEATED = "repeated"
    """It still fires."""
    ESCALATED = "escalated"
    """Nobody has acknowledged it, so another receiver is told."""
    ACKNOWLEDGED = "acknowledged"
    """Somebody has taken it on. It is written down and not sent."""
    RELEASED = "released"
    """Somebody answers for members that breached and are not there any more. It is written down and not sent."""
    UNWATCHED = "unwatched"
    """It ended without having been seen to end: what it is about is not watched any more."""
    DIGEST = "digest"
    """Told once a day, about every monitor."""
    GATHERED = "gathered"
    """Several notices in one message. It is no event of an alert: each notice in it has its own."""
    TEST = "test"
    """Told by `trivet alerts test`, about no monitor."""


class DeliveryState(StrEnum):
    """How far one outbox row is."""

    PENDING = "pending"
    """It waits for its first or its next attempt."""
    GATHERED = "gathered"
    """It is part of a gathered message that is on its way; it ends as that ends."""
    ATTEMPTING = "attempting"
    """Someone is sending it; committed before the call."""
    DELIVERED = "delivered"
    """The receiver said that it took it."""
    FAILED = "failed"
    """Given up: every attempt failed, or the receiver said that it is gone for good."""
    UNKNOWN = "unknown"
    """It may have arrived. It is not sent again, since the receiver could not tell a repetition."""
