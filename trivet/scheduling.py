"""The words for how a schedule treats what does not come due plainly: outages and changes of the clock."""

from enum import StrEnum


class CatchUp(StrEnum):
    """Which of the slots that came due while nothing ran are run; the others are recorded as missed."""

    ALL = "all"
    LATEST = "latest"
    NONE = "none"


class Nonexistent(StrEnum):
    """What becomes of a time that the wall clock leaves out."""

    SHIFT_FORWARD = "shift_forward"
    """It comes due later by as much as the clock left out: 02:30 at 03:30."""
    SKIP = "skip"


class Ambiguous(StrEnum):
    """When a time comes due that the wall clock shows twice."""

    FIRST = "first"
    SECOND = "second"
    BOTH = "both"
