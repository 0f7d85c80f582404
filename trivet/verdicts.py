"""The three verdicts and every word that explains one. `docs/explanation/verdicts.md` is the law.

Each code that a person can meet in a table, a JSON document, an alert or the ledger is spelled
here and nowhere else.
"""

from enum import StrEnum


class Verdict(StrEnum):
    """What an evaluation says of a member, and of a whole population."""

    BREACH = "breach"
    NO_DATA = "no_data"
    COMPLIANT = "compliant"


class Cause(StrEnum):
    """Why one operand of a condition is indeterminate."""

    NULL = "null"
    """SQL NULL; in text, blank or a missing mark that the contract declares."""
    NOT_CASTABLE = "not_castable"
    """Text that is not of the declared type: `see note 2`, `12,5O`, `1_000`, `2024-02-30`."""
    NOT_FINITE = "not_finite"
    """`NaN`, `inf`, `1e400` as a double, `infinity` as a date."""
    OUT_OF_RANGE = "out_of_range"
    """A value of the right kind that the declared type cannot hold exactly."""
    CENSORED = "censored"
    """A bound and not a value, and the bound does not decide the comparison."""
    UNIT_MISMATCH = "unit_mismatch"
    """Set by the view, from extraction: the value was printed in another unit."""
    OCR_UNCONFIRMED = "ocr_unconfirmed"
    """Set by the view, from extraction: one reading only, and nothing confirms it."""
    KEY_NULL = "key_null"
    """A link key of the member is blank or indeterminate, so nothing can match."""
    SUPERSEDED = "superseded"
    """The schedule in force no longer lists the key; an earlier one did."""
    DIVISION_BY_ZERO = "division_by_zero"
    OVERFLOW = "overflow"
    """Arithmetic left the exact range of its type, for this member only."""


class Reason(StrEnum):
    """Why a member is `no_data`. The order of definition is the order of precedence."""

    SCOPE_UNKNOWN = "scope_unknown"
    LEFT_MISSING = "left_missing"
    LEFT_NULL = "left_null"
    RIGHT_MISSING = "right_missing"
    RIGHT_NULL = "right_null"
    RIGHT_AMBIGUOUS = "right_ambiguous"
    INSUFFICIENT = "insufficient"
    SOURCE_STALE = "source_stale"


class NotMadeReason(StrEnum):
    """Why an evaluation could not be made. Its verdict is `no_data` and its counts are null."""

    POPULATION_EMPTY = "population_empty"
    VIEW_MISSING = "view_missing"
    VIEW_CHANGED = "view_changed"
    TIMEOUT = "timeout"
    ENGINE_ERROR = "engine_error"
    ACCOUNTING = "accounting"
    """The partition law failed: a fault of ours, shown as one."""
    NOT_EVALUATED = "not_evaluated"
    """The slot came due and no result was committed; a `SlotCause` says why."""


class SlotCause(StrEnum):
    """Why a slot was not evaluated."""

    MISSED = "missed"
    OVERRUN = "overrun"
    CRASHED = "crashed"
    CLOCK_JUMP = "clock_jump"
    PAUSED = "paused"
    REMOVED = "removed"


class EvaluationStatus(StrEnum):
    """Whether an evaluation reached counts."""

    COMPLETED = "completed"
    NOT_MADE = "not_made"


class Trigger(StrEnum):
    """What asked for an evaluation."""

    SCHEDULE = "schedule"
    MANUAL = "manual"
    REPLAY = "replay"


class ReplayResult(StrEnum):
    """What replaying an evaluation came to."""

    REPRODUCED = "reproduced"
    """The same verdicts follow again."""
    INPUTS_GONE = "inputs gone"
    """What it rested on is not there any more, or was never recorded."""
    INPUTS_CHANGED = "inputs changed"
    """The data under the recorded name is not that which was read."""
    DIVERGED = "DIVERGED"
    """Other verdicts follow from the same inputs."""


class Severity(StrEnum):
    """How loudly a monitor speaks."""

    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        """Its place among them; the loudest is the highest."""
        return tuple(Severity).index(self)


def worst_verdict(breach: int, no_data: int) -> Verdict:
    """The verdict of an evaluation with these counts: breach, else no_data, else compliant."""
    if breach:
        return Verdict.BREACH
    if no_data:
        return Verdict.NO_DATA
    return Verdict.COMPLIANT


def badge(breach: int, no_data: int) -> str:
    """The no-data badge: `4 breaches / 1 no-data`, `1 breach / 0 no-data`."""
    return f"{breach} {'breach' if breach == 1 else 'breaches'} / {no_data} no-data"
