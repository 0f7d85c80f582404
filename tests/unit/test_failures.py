"""A failure that goes on fills no log: it is told at length once, then seldom, and its end is told."""

from __future__ import annotations

import logging

import pytest

from trivet.errors import UnavailableError
from worker.failures import FailureLog


class Seconds:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def seconds() -> Seconds:
    return Seconds()


@pytest.fixture
def failures(seconds: Seconds, caplog: pytest.LogCaptureFixture) -> FailureLog:
    caplog.set_level(logging.INFO)
    return FailureLog("a tick failed", time_of=seconds)


def fail(failures: FailureLog, error: Exception) -> None:
    with failures.watching():
        raise error


def told(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str, bool]]:
    return [(item.levelname, item.getMessage(), item.exc_info is not None) for item in caplog.records]


def test_the_same_failure_is_told_at_length_once_and_then_once_a_minute(
    failures: FailureLog, seconds: Seconds, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(26):
        fail(failures, OSError(28, "No space left on device"))
        seconds.now += 5
    assert told(caplog) == [
        ("ERROR", "a tick failed: OSError: [Errno 28] No space left on device", True),
        ("ERROR", "a tick failed, now 13 times in a row: [Errno 28] No space left on device", False),
        ("ERROR", "a tick failed, now 25 times in a row: [Errno 28] No space left on device", False),
    ]


def test_another_failure_is_told_at_once(failures: FailureLog, caplog: pytest.LogCaptureFixture) -> None:
    for error in (ValueError("a"), ValueError("a"), ValueError("b"), TypeError("b")):
        fail(failures, error)
    assert [line for _, line, _ in told(caplog)] == [
        "a tick failed: ValueError: a",
        "a tick failed: ValueError: b",
        "a tick failed: TypeError: b",
    ]


def test_that_it_works_again_is_told_once(failures: FailureLog, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(3):
        fail(failures, ValueError("a"))
    for _ in range(3):
        with failures.watching():
            pass
    assert told(caplog)[1:] == [("WARNING", "a tick failed 3 times in a row; it works again", False)]
    fail(failures, ValueError("a"))
    assert told(caplog)[2:] == [("ERROR", "a tick failed: ValueError: a", True)]


def test_what_says_what_to_do_is_told_without_a_traceback(
    failures: FailureLog, caplog: pytest.LogCaptureFixture
) -> None:
    fail(failures, UnavailableError("the store is at revision 1; run `trivet db upgrade`"))
    assert told(caplog) == [
        ("ERROR", "a tick failed: the store is at revision 1; run `trivet db upgrade`", False),
    ]


def test_what_ends_the_program_is_let_out(failures: FailureLog) -> None:
    with pytest.raises(KeyboardInterrupt), failures.watching():
        raise KeyboardInterrupt
