"""The ladder of time limits: each stands above the one before, so that the gentlest ends what it can."""

from __future__ import annotations

from datetime import timedelta

from catalog.engines.duckdb_engine import BACKSTOP
from worker.app import _HARD_LIMIT, _VISIBILITY
from worker.runtime import LONGEST_BATCH
from worker.tasks import _MARGIN


def test_each_limit_is_above_the_one_before() -> None:
    query = timedelta(seconds=60)
    ladder = [
        query,
        query + BACKSTOP,
        query + timedelta(seconds=_MARGIN),
        LONGEST_BATCH + timedelta(seconds=_MARGIN),
        timedelta(seconds=_VISIBILITY),
    ]
    assert ladder == sorted(set(ladder))
    assert timedelta() < BACKSTOP < timedelta(seconds=_MARGIN)
    assert _HARD_LIMIT < _VISIBILITY
