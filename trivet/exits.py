"""Exit codes of the `trivet` command, as `docs/reference/commands.md` lists them."""

from enum import IntEnum

from trivet.verdicts import Verdict


class Exit(IntEnum):
    """What a finished command says to its caller; 64 to 70 follow sysexits.h."""

    FINE = 0
    BREACH = 1
    NO_DATA = 2
    REFUSED = 3
    """A question or statement ended in abstain or escalate."""
    CHECK_FAILED = 4
    USAGE = 64
    INPUT = 65
    UNAVAILABLE = 69
    FAULT = 70


def exit_for(verdict: Verdict) -> Exit:
    """The exit code of an evaluation with this verdict."""
    match verdict:
        case Verdict.BREACH:
            return Exit.BREACH
        case Verdict.NO_DATA:
            return Exit.NO_DATA
        case Verdict.COMPLIANT:
            return Exit.FINE
