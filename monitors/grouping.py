"""How a grouped monitor makes its members: keys, expected members, and how much a figure needs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

from catalog.expressions.groups import GroupKey
from catalog.periods import Period, first_day, shifted
from trivet.canonical import Json


@dataclass(frozen=True, slots=True)
class DayRange:
    """Days from the first to the last, both included."""

    first: date
    last: date


@dataclass(frozen=True, slots=True)
class LastPeriods:
    """As many periods as `count`, counted back from the slot's own."""

    count: int
    current: bool = True
    """Whether the slot's own period, which is not over yet, is the first of them."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """The members that must exist."""

    object: str | None
    """Object type whose rows name them; None where periods alone do."""
    keys: tuple[str, ...]
    """Properties of that object type, in the order of the group's keys without the period."""
    periods: DayRange | LastPeriods | None

    def days(self, period: Period, at: datetime | None, zone: ZoneInfo) -> DayRange:
        """The days whose periods are expected.

        Args:
            period: by which the group's rows are grouped.
            at: the slot's instant, by which the last periods are counted.
            zone: in which the slot has its date.

        Raises:
            LookupError: no periods are expected, or there is no slot to count them back from.
        """
        if isinstance(self.periods, DayRange):
            return self.periods
        if self.periods is None or at is None:
            raise LookupError("the expected periods count back from a slot, and none was given")
        today = at.astimezone(zone).date()
        own = first_day(period, today)
        last = self.periods.count - 1
        if self.periods.current:
            return DayRange(shifted(period, own, -last), today)
        return DayRange(shifted(period, own, -last - 1), date.fromordinal(own.toordinal() - 1))


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of what a figure is taken over must be determinate."""

    share: Decimal
    """From 0 to 1."""
    per: Period | None = None
    """Periods inside the group's own of which that share needs an input; None counts rows."""


@dataclass(frozen=True, slots=True)
class Grouping:
    """What makes the members of a grouped monitor."""

    keys: tuple[GroupKey, ...]
    """None at all makes one group of the whole population."""
    expect: Expectation | None = None
    min_count: int = 1
    min_coverage: Coverage | None = None
    as_of_slot: bool = False
    """Links with effective dates are read on the slot's date and not on a key of the group."""

    @property
    def period(self) -> GroupKey | None:
        """The key that is a period, if there is one."""
        return next((key for key in self.keys if key.period is not None), None)

    @property
    def needs_slot(self) -> bool:
        """Whether the members depend on the slot's instant."""
        counts_back = self.expect is not None and isinstance(self.expect.periods, LastPeriods)
        return self.as_of_slot or counts_back

    def judged(self) -> dict[str, Json]:
        """What of it decides a verdict, as canonical JSON values."""
        coverage = self.min_coverage
        return {
            "keys": [{"property": key.property, "period": key.period} for key in self.keys],
            "expect": _expect_json(self.expect) if self.expect else None,
            "min_count": self.min_count,
            "min_coverage": {"share": f"{coverage.share.normalize():f}", "per": coverage.per} if coverage else None,
            "as_of_slot": self.as_of_slot,
        }


def _expect_json(expect: Expectation) -> dict[str, Json]:
    periods: Json = None
    match expect.periods:
        case DayRange(first=first, last=last):
            periods = {"from": first.isoformat(), "to": last.isoformat()}
        case LastPeriods(count=count, current=current):
            periods = {"last": count, "current": current}
        case None:
            pass
    return {"object": expect.object, "keys": list(expect.keys), "periods": periods}
