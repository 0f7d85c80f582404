"""Groups of notices: their texts fit into an index, and differ where anything in them does."""

from __future__ import annotations

from datetime import timedelta

from alerts.grouping import Grouping, grouping_of
from alerts.states import AlertKind
from tests.alerting import a_monitor
from trivet.settings import RouteSettings
from trivet.verdicts import Severity

LABELS = tuple(f"label-{number:02}-{'x' * 50}" for number in range(20))
LONG = "\N{SMILING FACE WITH SUNGLASSES}" * 500


def grouping(**labels: str) -> Grouping:
    route = RouteSettings(receiver="desk", group_by=tuple(f"labels.{name}" for name in LABELS))
    monitor = a_monitor(labels=tuple((name, labels.get(name, LONG)) for name in LABELS))
    return grouping_of(route, monitor, AlertKind.BREACH, Severity.WARNING)


def test_the_text_of_a_group_fits_into_an_index_however_long_its_labels_are() -> None:
    assert len(grouping().to_text().encode()) < 2_000


def test_a_group_comes_back_from_the_outbox_as_it_went_in() -> None:
    assert Grouping.from_text(grouping().to_text()) == grouping()
    assert (grouping().wait, grouping().interval) == (timedelta(seconds=30), timedelta(minutes=5))


def test_groups_that_differ_beyond_what_is_shown_are_not_one() -> None:
    assert grouping(**{LABELS[0]: LONG + "a"}).to_text() != grouping(**{LABELS[0]: LONG + "b"}).to_text()
    assert grouping(**{LABELS[19]: "a"}).to_text() != grouping(**{LABELS[19]: "b"}).to_text()
