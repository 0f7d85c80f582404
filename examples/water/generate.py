"""Makes the data of the Corella Water workspace, and the truth about it. Corella Water is fictional; so is all of this.

    python generate.py DIRECTORY

writes a turbidity export for each of the years 2020 to 2024, the sites, the limits and `truth.json`. The truth comes
from the readings that were made here, never from running a monitor. Only the standard library is used, turbidity is
counted in whole hundredths of an NTU, and the bytes are the same on every run and every version of Python.
"""

from __future__ import annotations

import csv
import json
import random
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import TypeVar

SEED = 20200101
YEARS = range(2020, 2025)
MONTHS = range(1, 13)
T = TypeVar("T")

# --- Sites and limits ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Site:
    """A place where a sample is taken every month."""

    code: str
    name: str
    kind: str
    base: int
    """About the middle of its ordinary readings, in hundredths of an NTU."""
    limits: tuple[int, ...]
    """The most that one reading may be, in whole NTU, from each of `LIMIT_DATES`."""


LIMIT_DATES = (date(2020, 1, 1), date(2022, 7, 1))
"""First days of the licence's schedules; each restates every site."""
SITES = (
    Site("WB", "Western Bore", "bore", 150, (5, 4)),
    Site("EB", "Eastern Bore", "bore", 120, (5, 4)),
    Site("NS", "North Spring", "spring", 40, (2, 2)),
    Site("TR", "Town Reservoir", "reservoir", 180, (5, 4)),
    Site("WP", "Weir Pool", "river", 330, (10, 8)),
    Site("MC", "Mill Creek", "river", 310, (10, 8)),
)
YEARLY_LIMIT = 5
"""The most that the average over a site's year may be, in NTU."""
LEAST_MONTHS = 10
"""Of a year, that must have a reading for its average to count: 80 percent of 12."""

# --- Readings: five years of months at six sites, but for those that were never taken ---------------------

CENSORED = "<0.05"
NOTE = "see note 2"
ROUND_FIVE = ("5.20", "6.10", "5.60", "4.80", "4.40", "4.10", "4.30", "4.90", "5.00", "5.10", "5.30")
"""Eleven months that add up to 54.80 NTU."""


def _from_january(code: str, year: int, texts: Iterable[str]) -> dict[tuple[str, int, int], str]:
    return {(code, year, month): text for month, text in enumerate(texts, start=1)}


NEVER_TAKEN = {("WB", 2024, month) for month in MONTHS} | {("MC", 2022, month) for month in range(2, 6)}
"""The pump of Western Bore was out for all of 2024, and a flood closed the track to Mill Creek for four months."""
PLANTED: Mapping[tuple[str, int, int], str] = {
    # A wet start to the year: over the limit, over it by a hundredth, at it. The year's average is too high.
    **_from_january("MC", 2021, ("9.30", "12.40", "10.01", "10.00", "7.80", "6.90")),
    # One reading on the days round a change of the limit: in order on the last of the old, not on the first of the new.
    ("EB", 2022, 6): "4.60",
    ("WB", 2022, 7): "4.60",
    ("TR", 2024, 11): "4.01",
    # A bound that decides, for it is far below the limit, and words that decide nothing.
    ("NS", 2023, 5): CENSORED,
    ("WP", 2021, 9): NOTE,
    # Two years round the yearly limit: an average of exactly 5, and a hundredth more in the sum.
    **_from_january("WP", 2023, (*ROUND_FIVE, "5.20")),
    **_from_january("WP", 2024, (*ROUND_FIVE, "5.21")),
}
PLANTED_DAYS: Mapping[tuple[str, int, int], int] = {("EB", 2022, 6): 30, ("WB", 2022, 7): 1}


@dataclass(frozen=True)
class Reading:
    """What was read of one sample."""

    site: Site
    day: date
    text: str
    """As the laboratory prints it."""

    @property
    def hundredths(self) -> int | None:
        """Its value in hundredths of an NTU, where it has one."""
        return None if self.text in (CENSORED, NOTE) else int(self.text.replace(".", ""))

    @property
    def limit(self) -> int:
        """The most that it may be, in whole NTU: what the schedule in force on its day says."""
        return self.site.limits[sum(start <= self.day for start in LIMIT_DATES) - 1]

    @property
    def key(self) -> str:
        """How the truth calls it."""
        return f"{self.site.name} / {self.day.isoformat()}"


def readings() -> list[Reading]:
    """All readings by month, in each month by site."""
    chance = random.Random(SEED)
    found = []
    for year in YEARS:
        for month in MONTHS:
            for site in SITES:
                # Drawn for every month, so that what is planted in one leaves the others as they are.
                day, text = _pick(range(9, 21), chance), _ordinary(site, month, chance)
                place = (site.code, year, month)
                if place not in NEVER_TAKEN:
                    day = PLANTED_DAYS.get(place, day)
                    found.append(Reading(site, date(year, month, day), PLANTED.get(place, text)))
    return found


def _ordinary(site: Site, month: int, chance: random.Random) -> str:
    """A reading about the site's base, in the wet season a fifth of that higher."""
    percent = _pick(range(80, 121), chance) + (20 if month in (11, 12, 1, 2, 3) else 0)
    return ntu(site.base * percent // 100)


def _pick(choices: Sequence[T], chance: random.Random) -> T:
    """One of `choices`. `random()` alone is promised to give the same numbers on every version of Python."""
    return choices[int(chance.random() * len(choices))]


# --- Exports: the same readings, in a layout that drifts a little from year to year -----------------------


@dataclass(frozen=True)
class Layout:
    """How the readings of one year are exported."""

    header: tuple[str, ...]
    cells: Callable[[Reading, str], tuple[str, ...]]
    """A reading, and the laboratory's number for it, as the cells of a row."""
    above: tuple[tuple[str, ...], ...] = ()
    """Rows above the header."""


LAYOUTS: Mapping[int, Layout] = {
    2020: Layout(
        ("Site", "Sample Date", "Turbidity (NTU)"),
        lambda reading, _: (reading.site.name, f"{reading.day:%d/%m/%Y}", reading.text),
    ),
    2021: Layout(
        ("Lab Ref", "Sample Date", "Site", "Turbidity (NTU)"),
        lambda reading, number: (number, f"{reading.day:%d/%m/%Y}", reading.site.name, reading.text),
    ),
    2022: Layout(
        ("Site", "Date", "Turbidity", "Unit", "Lab Ref"),
        lambda reading, number: (reading.site.name, f"{reading.day:%d.%m.%Y}", reading.text, "NTU", number),
        above=(("Turbidity by site: January to December 2022",), ()),
    ),
    2023: Layout(
        ("site_code", "sample_date", "turbidity_ntu"),
        lambda reading, _: (reading.site.code, reading.day.isoformat(), reading.text),
    ),
    2024: Layout(
        ("site_code", "site", "sample_date", "turbidity_ntu", "lab_ref"),
        lambda reading, number: (
            reading.site.code,
            reading.site.name,
            reading.day.isoformat(),
            reading.text,
            number,
        ),
    ),
}


def exported(found: Sequence[Reading]) -> dict[int, list[Reading]]:
    """The readings of each year, in the order in which its export lists them."""
    return {year: [reading for reading in found if reading.day.year == year] for year in YEARS}


def limit_rows() -> list[tuple[str, str, str]]:
    """The licence's schedules, restated whole at each date."""
    return [
        (site.code, str(site.limits[number]), start.isoformat())
        for number, start in enumerate(LIMIT_DATES)
        for site in SITES
    ]


# --- The truth -------------------------------------------------------------------------------------------

FRESH_AT = "2025-01-15T06:00:00+10:00"
"""The instant at which freshness is judged: later, every site would be stale."""
FRESH_DAYS = 45


def truth() -> dict[str, object]:
    """What every monitor of the workspace must find, member by member."""
    found = readings()
    years = {
        (site, year): [item for item in found if item.site is site and item.day.year == year]
        for site in SITES
        for year in YEARS
    }
    return {
        "readings": len(found),
        "sites": [site.name for site in SITES],
        "exports": {file_of(year): len(rows) for year, rows in exported(found).items()},
        "years": {_year_key(*place): _summary(items) for place, items in years.items()},
        "monitors": {
            "turbidity-over-limit": _over_limit(found),
            "turbidity-by-site-and-year": _by_year(years),
            "readings-arrive": _arriving(found),
        },
    }


def _over_limit(found: Sequence[Reading]) -> dict[str, object]:
    """Each reading against the limit of its site on its day. The bound is decided: it is below every limit."""
    breach = {}
    no_data = {}
    for reading in found:
        operands = {"limited_by.max_turbidity_ntu": f"{reading.limit}.00"}
        if reading.text == NOTE:
            causes = {"turbidity_ntu": ["not_castable"]}
            no_data[reading.key] = {"reason": "left_null", "causes": causes, "operands": operands}
        elif reading.hundredths is not None and reading.hundredths > reading.limit * 100:
            breach[reading.key] = {"turbidity_ntu": reading.text} | operands
    return _found(len(found), breach, no_data, partial=0)


def _by_year(years: Mapping[tuple[Site, int], Sequence[Reading]]) -> dict[str, object]:
    """The average of each site and year against the yearly limit, where enough months have a reading."""
    breach, no_data, partial = {}, {}, 0
    for place, items in years.items():
        values = [item.hundredths for item in items if item.hundredths is not None]
        if not items:
            no_data[_year_key(*place)] = {"reason": "left_missing", "causes": {}}
        elif len(values) < LEAST_MONTHS:
            no_data[_year_key(*place)] = {"reason": "insufficient", "causes": {}}
        else:
            partial += len(values) < len(items)
            if sum(values) > YEARLY_LIMIT * 100 * len(values):
                breach[_year_key(*place)] = {"avg(turbidity_ntu)": average(values)}
    return _found(len(years), breach, no_data, partial=partial)


def _arriving(found: Sequence[Reading]) -> dict[str, object]:
    """The days since the last reading of each site."""
    today = date.fromisoformat(FRESH_AT[:10])
    breach = {}
    for site in SITES:
        last = max(reading.day for reading in found if reading.site is site)
        # A day begins at midnight and it is past that, so that 45 days ago is more than 45 days.
        if (today - last).days >= FRESH_DAYS:
            breach[site.name] = {"max(record_date)": last.isoformat()}
    return {"at": FRESH_AT} | _found(len(SITES), breach, {}, partial=0)


def _found(
    population: int, breach: Mapping[str, object], no_data: Mapping[str, object], partial: int
) -> dict[str, object]:
    return {
        "population": population,
        "breach": breach,
        "no_data": no_data,
        "compliant": population - len(breach) - len(no_data),
        "partial": partial,
    }


def _summary(items: Sequence[Reading]) -> dict[str, object]:
    values = [item.hundredths for item in items if item.hundredths is not None]
    return {
        "readings": len(items),
        "censored": sum(item.text == CENSORED for item in items),
        "not_castable": sum(item.text == NOTE for item in items),
        "average": average(values) if values else None,
    }


def _year_key(site: Site, year: int) -> str:
    return f"{site.name} / {year}"


# --- Writing ---------------------------------------------------------------------------------------------


def ntu(hundredths: int) -> str:
    """Hundredths as the laboratory prints NTU: `3.05`."""
    return f"{hundredths // 100}.{hundredths % 100:02d}"


def average(values: Sequence[int]) -> str:
    """The mean of hundredths in NTU, to 12 significant digits."""
    return f"{Decimal(sum(values)) / (100 * len(values)):.12g}"


def file_of(year: int) -> str:
    """The export of a year, in the workspace."""
    return f"sources/turbidity_{year}.csv"


def generate(directory: Path) -> None:
    """Writes the exports, the sites, the limits and the truth into a workspace."""
    (directory / "sources").mkdir(parents=True, exist_ok=True)
    for year, rows in exported(readings()).items():
        layout = LAYOUTS[year]
        cells = [layout.cells(reading, f"L{year % 100}-{number:04d}") for number, reading in enumerate(rows, start=1)]
        _write(directory / file_of(year), [*layout.above, layout.header, *cells])
    sites = [(site.code, site.name, site.kind) for site in SITES]
    _write(directory / "sources" / "sites.csv", [("Code", "Name", "Kind"), *sites])
    limits = [("Site code", "Max turbidity (NTU)", "Effective from"), *limit_rows()]
    _write(directory / "sources" / "limits.csv", limits)
    text = json.dumps(truth(), indent=2, sort_keys=True, ensure_ascii=True) + "\n"
    (directory / "truth.json").write_bytes(text.encode("ascii"))


def _write(path: Path, rows: Iterable[Sequence[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    generate(Path(sys.argv[1]))
