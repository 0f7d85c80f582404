"""The soaks in short; `make soak MINUTES=30` and `make soak-stack MINUTES=30` are the long ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.soak.soaking import soak
from tests.soak.stack import stacks

pytestmark = pytest.mark.slow

SEED = 11


def test_a_minute_of_faults_on_both_stores_loses_doubles_and_falsifies_nothing(tmp_path: Path) -> None:
    ended = soak(tmp_path, 60, SEED)
    assert not ended.failures, "\n".join(ended.lines())
    assert {report.ground for report in ended.reports} == {"sqlite", "postgresql"}
    for report in ended.reports:
        assert len(report.faults) >= 5
        assert report.results["completed"] >= 2


def test_two_minutes_of_faults_on_the_whole_topology_lose_double_and_falsify_nothing(tmp_path: Path) -> None:
    ended = soak(tmp_path, 120, SEED, stacks)
    assert not ended.failures, "\n".join(ended.lines())
    (report,) = ended.reports
    assert len(report.faults) >= 15
    assert report.results["completed"] >= 20
