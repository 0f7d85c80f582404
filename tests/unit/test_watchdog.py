"""A query's time limit: interrupted again and again once it is over, and never before it began or after it ended."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from datetime import timedelta

import pytest

from catalog.engines.watchdog import Watchdog

SOON, LONG = timedelta(milliseconds=30), timedelta(seconds=60)


class Interrupted:
    """Counts interrupts, and waits for them."""

    def __init__(self) -> None:
        self.times = 0
        self.again = threading.Semaphore(0)

    def __call__(self) -> None:
        self.times += 1
        self.again.release()

    def wait(self) -> None:
        assert self.again.acquire(timeout=20)


@pytest.fixture
def interrupted() -> Interrupted:
    return Interrupted()


@pytest.fixture
def watchdog(interrupted: Interrupted) -> Iterator[Watchdog]:
    made = Watchdog(interrupted)
    yield made
    made.close()


def test_a_query_past_its_time_is_interrupted_until_it_ends(watchdog: Watchdog, interrupted: Interrupted) -> None:
    began = time.monotonic()
    with watchdog.limit(SOON):
        interrupted.wait()
        assert time.monotonic() - began >= SOON.total_seconds()
        interrupted.wait()
        interrupted.wait()


def test_nothing_is_interrupted_after_its_end(watchdog: Watchdog, interrupted: Interrupted) -> None:
    with watchdog.limit(SOON):
        interrupted.wait()
    times = interrupted.times
    with watchdog.limit(LONG):
        time.sleep(0.2)
    assert interrupted.times == times


def test_a_short_limit_after_a_long_one_is_held(watchdog: Watchdog, interrupted: Interrupted) -> None:
    with watchdog.limit(LONG):
        pass
    with watchdog.limit(SOON):
        interrupted.wait()
        assert interrupted.times >= 1


def test_a_long_limit_after_a_short_one_is_not_cut_short(watchdog: Watchdog, interrupted: Interrupted) -> None:
    for _ in range(20):
        with watchdog.limit(SOON * 10):
            pass
    with watchdog.limit(LONG):
        time.sleep(0.5)
    assert interrupted.times == 0


def test_a_limit_that_ends_late_takes_nothing_from_a_later_one(watchdog: Watchdog, interrupted: Interrupted) -> None:
    given_up = watchdog.limit(LONG)
    given_up.__enter__()
    with watchdog.limit(SOON):
        given_up.__exit__(None, None, None)
        interrupted.wait()
        assert interrupted.times >= 1


def test_its_thread_ends_with_it(interrupted: Interrupted) -> None:
    before = threading.active_count()
    made = Watchdog(interrupted)
    with made.limit(LONG):
        assert threading.active_count() == before + 1
    made.close()
    assert threading.active_count() == before


def test_one_that_watched_nothing_has_no_thread(interrupted: Interrupted) -> None:
    before = threading.active_count()
    Watchdog(interrupted).close()
    assert threading.active_count() == before
