"""Faults. Expected ends (no_data, abstain, escalate) are values and never appear here.

TrivetError
├── UsageError            the command was called wrongly                       exit 64
├── InputError            a file or an input is at fault; carries findings     exit 65
├── UnavailableError      a needed server or file cannot be reached            exit 69
├── CheckFailedError      a verification said no                               exit 4
└── InternalError         a promise of ours is broken                          exit 70
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from trivet.exits import Exit

if TYPE_CHECKING:
    from trivet.findings import Finding


class TrivetError(Exception):
    """A fault that ends a command with one clear message; the text says what to do next."""

    exit_code: ClassVar[Exit] = Exit.FAULT


class UsageError(TrivetError):
    """The command was called wrongly."""

    exit_code = Exit.USAGE


class InputError(TrivetError):
    """A file or an input is at fault. `findings` holds every fault found, not only the first."""

    exit_code = Exit.INPUT

    def __init__(self, findings: Sequence[Finding]) -> None:
        super().__init__("\n".join(str(finding) for finding in findings))
        self.findings = tuple(findings)


class UnavailableError(TrivetError):
    """A needed server or file cannot be reached."""

    exit_code = Exit.UNAVAILABLE


class CheckFailedError(TrivetError):
    """A verification said no."""

    exit_code = Exit.CHECK_FAILED


class InternalError(TrivetError):
    """A promise of ours is broken."""

    exit_code = Exit.FAULT
