"""What `check --live` makes of an engine that does not answer; what it tells of data stands in `tests/cases/live`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from catalog.contract import Cardinality, Contract, LinkType, ObjectType, Property
from catalog.datatypes import TEXT
from catalog.engines.port import EngineFault, QueryTimeout, SnapshotIdentity
from catalog.referee.certified import CertifiedQuery, Purpose
from trivet.verdicts import Reason
from worker import live_checks
from worker.live_checks import check_live

ITEM = ObjectType("item", "ontology.item", ("id",), (Property("id", TEXT),))
SAME = LinkType("same", "item", ("id",), "item", ("id",), Cardinality.MANY_TO_MANY)
CONTRACT = Contract("c", "1.0.0", "draft", "0" * 64, (ITEM,), (SAME,))
NOW = datetime(2026, 1, 1, tzinfo=UTC)


class Broken:
    """A warehouse whose every query ends in the same fault."""

    name = version = "broken"
    identity = SnapshotIdentity(None, 0, 0, 0, 0)

    def __init__(self, fault: EngineFault) -> None:
        self.fault = fault
        self.asked: list[CertifiedQuery] = []

    @contextmanager
    def snapshot(self, longest: timedelta | None = None) -> Iterator[Broken]:
        yield self

    def columns(self, view: str) -> Mapping[str, str]:
        return {"id": "VARCHAR"}

    def run(self, query: CertifiedQuery, timeout: timedelta) -> list[tuple[Any, ...]]:
        assert timeout == CONTRACT.limits.timeout
        self.asked.append(query)
        raise self.fault

    def stream(self, query: CertifiedQuery, timeout: timedelta) -> Iterator[tuple[Any, ...]]:
        raise self.fault


def test_a_time_limit_is_a_warning_and_the_next_thing_is_looked_at() -> None:
    report = check_live(CONTRACT, (), Broken(QueryTimeout("interrupted")), "contract.yaml", NOW)
    assert report.findings == ()
    assert [finding.message for finding in report.warnings] == [
        "item: could not be looked at within the contract's time limit: interrupted",
        "link item.same: could not be looked at within the contract's time limit: interrupted",
    ]


def test_any_other_fault_is_a_finding() -> None:
    report = check_live(CONTRACT, (), Broken(EngineFault("out of order")), "contract.yaml", NOW)
    assert report.warnings == ()
    assert [finding.message for finding in report.findings] == [
        "item: could not be looked at: out of order",
        "link item.same: could not be looked at: out of order",
    ]


def test_every_query_is_certified_for_monitors() -> None:
    engine = Broken(QueryTimeout("interrupted"))
    check_live(CONTRACT, (), engine, "contract.yaml", NOW)
    assert [query.purpose for query in engine.asked] == [Purpose.MONITOR] * 2


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_has_its_words(reason: Reason) -> None:
    assert live_checks._REASONS[reason]
