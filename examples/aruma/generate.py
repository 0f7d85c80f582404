"""Makes the data of the Aruma workspace, and the truth about it. Aruma is fictional; so is all of this.

    python generate.py DIRECTORY

writes `sources/payroll.csv`, `sources/agreement_rates.csv` and `truth.json`. The truth comes from
what was planted here, never from running a monitor. Only the standard library is used, money is
counted in whole cents, and the bytes are the same on every run and every version of Python.
"""

from __future__ import annotations

import csv
import json
import random
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any, TypeVar

SEED = 20261130
T = TypeVar("T")

# --- The agreement: 41 pay rows, four effective dates, three measures, 492 numbers ---------------------

FIRST_RATES = {
    1: (2545, 66, 5),
    2: (2890, 64, 6),
    3: (3290, 72, 7),
    4: (3815, 81, 7),
    5: (4405, 92, 8),
    6: (5180, 104, 8),
}
"""Of each level: cents per hour of pay point 1 at the first date, the step to the next, pay points."""
INCREASES = {date(2023, 7, 1): 0, date(2024, 7, 1): 375, date(2025, 7, 1): 350, date(2026, 7, 1): 350}
"""Of each effective date: the rise over the schedule before it, in hundredths of a percent."""
WEEKLY_HOURS = 38
AGREEMENT = "Aruma Enterprise Agreement 2023 (consolidated 2026).pdf"
FIRST_PAGE = 58


@dataclass(frozen=True)
class Rate:
    """One row of the agreement's pay schedule."""

    effective_from: date
    level: int
    pay_point: int
    hourly: int
    """Cents per hour; the least that may be paid."""

    @property
    def fortnightly(self) -> int:
        """Cents for two full weeks."""
        return self.hourly * WEEKLY_HOURS * 2

    @property
    def annual(self) -> int:
        """Cents for 52 full weeks."""
        return self.hourly * WEEKLY_HOURS * 52


def agreement() -> list[Rate]:
    """The whole schedule: each effective date restates every level and pay point."""
    rates: list[Rate] = []
    factors: list[int] = []
    for effective_from, increase in INCREASES.items():
        factors.append(increase)
        for level, (first, step, points) in FIRST_RATES.items():
            for point in range(1, points + 1):
                hourly = _raised(first + step * (point - 1), factors)
                rates.append(Rate(effective_from, level, point, hourly))
    return rates


def _raised(cents: int, increases: Iterable[int]) -> int:
    """`cents` after each increase in turn, rounded half up to the cent each time."""
    for increase in increases:
        cents = (cents * (10_000 + increase) + 5_000) // 10_000
    return cents


# --- The payroll: 57 employees, four of them underpaid --------------------------------------------------

LAST_PAY_RUN = date(2026, 11, 26)
CASUAL_LOADING = "25"
SUPER_RATE = "12"


@dataclass(frozen=True)
class Employee:
    """The latest pay line of one employee, with the texts that the payroll system exports."""

    employee_id: str
    employment_type: str
    level: int
    pay_point: int
    margin: int
    """Cents per hour above the floor in force on the pay date."""
    pay_date: date
    ordinary_hours: str
    casual_loading: str
    super_rate: str
    annual_leave_hours: str


PLANTED: Mapping[str, Mapping[str, Any]] = {
    # Below the floor in force on the pay date. The floors of the year before would pass E1012 and E1024.
    "E1012": {"level": 1, "pay_point": 2, "margin": -94, "pay_date": date(2026, 6, 25)},
    "E1024": {"level": 3, "pay_point": 4, "margin": -40, "pay_date": LAST_PAY_RUN},
    "E1037": {"level": 4, "pay_point": 2, "margin": -270, "pay_date": LAST_PAY_RUN},
    "E1049": {"level": 2, "pay_point": 6, "margin": -1, "pay_date": date(2026, 7, 9)},
    # At the floor in force, to the cent, on the days round a change; below the floor of the other day.
    "E1005": {"level": 2, "pay_point": 3, "margin": 0, "pay_date": date(2026, 6, 25)},
    "E1018": {"level": 5, "pay_point": 1, "margin": 0, "pay_date": date(2026, 6, 30)},
    "E1031": {"level": 3, "pay_point": 7, "margin": 0, "pay_date": date(2026, 7, 1)},
    "E1042": {"level": 6, "pay_point": 8, "margin": 5, "pay_date": date(2026, 6, 11)},
    # More than 38 ordinary hours, and hours that were never entered.
    "E1019": {"employment_type": "full-time", "ordinary_hours": "40.00"},
    "E1040": {"employment_type": "full-time", "ordinary_hours": "38.25"},
    "E1044": {"employment_type": "casual", "ordinary_hours": "", "casual_loading": CASUAL_LOADING},
    # Short on superannuation or casual loading, one of them although the other half is not known.
    "E1008": {"employment_type": "casual", "casual_loading": "20"},
    "E1029": {"employment_type": "full-time", "super_rate": "11.5"},
    "E1051": {"employment_type": "casual", "casual_loading": "", "super_rate": "11.5"},
    # Neither short nor known to be in order.
    "E1021": {"employment_type": "casual", "casual_loading": "n/a"},
    "E1033": {"employment_type": "full-time", "super_rate": ""},
    "E1046": {"employment_type": "part-time", "super_rate": "see note 2"},
    # On a level that the agreement does not have; the margin stands for the whole rate.
    "E1057": {"level": 7, "pay_point": 1, "margin": 6_480, "pay_date": LAST_PAY_RUN},
}


def payroll() -> list[Employee]:
    """All employees, ordinary ones with what is planted over them."""
    chance = random.Random(SEED)
    return [_planted(_ordinary(f"E{1000 + number}", chance)) for number in range(1, 58)]


def _ordinary(employee_id: str, chance: random.Random) -> Employee:
    level = _pick((1, 1, 2, 2, 2, 3, 3, 4, 5, 6), chance)
    return Employee(
        employee_id=employee_id,
        employment_type=_pick(("full-time", "full-time", "part-time", "part-time", "casual"), chance),
        level=level,
        pay_point=_pick(range(1, FIRST_RATES[level][2] + 1), chance),
        margin=_pick((0, 0, 0, 10, 25, 60, 145), chance),
        pay_date=LAST_PAY_RUN - timedelta(weeks=2 * _pick((0, 0, 0, 0, 0, 1, 2, 7, 12, 18), chance)),
        ordinary_hours=_pick(("15.20", "22.80", "30.40", "34.00"), chance),
        casual_loading="",
        super_rate=SUPER_RATE,
        annual_leave_hours=f"{_pick(range(20, 180), chance)}.{_pick(range(10), chance)}0",
    )


def _planted(ordinary: Employee) -> Employee:
    """The employee with what is planted, and with what follows from the kind of employment."""
    planted = PLANTED.get(ordinary.employee_id, {})
    kind = planted.get("employment_type", ordinary.employment_type)
    implied: dict[str, Any] = {}
    if kind == "full-time":
        implied = {"ordinary_hours": f"{WEEKLY_HOURS}.00"}
    elif kind == "casual":
        implied = {"casual_loading": CASUAL_LOADING, "annual_leave_hours": ""}
    return replace(ordinary, **{**implied, **planted})


def _pick(choices: Sequence[T], chance: random.Random) -> T:
    """One of `choices`. `random()` alone is promised to give the same numbers on every version of Python."""
    return choices[int(chance.random() * len(choices))]


# --- The truth -------------------------------------------------------------------------------------------


def floor_of(employee: Employee, rates: Iterable[Rate]) -> Rate | None:
    """The rate in force for an employee on the pay date; None where the schedule in force has none."""
    in_force = max(start for start in INCREASES if start <= employee.pay_date)
    key = (in_force, employee.level, employee.pay_point)
    return next((rate for rate in rates if (rate.effective_from, rate.level, rate.pay_point) == key), None)


def hourly_rate(employee: Employee, rates: Iterable[Rate]) -> int:
    """What the employee is paid, in cents per hour."""
    floor = floor_of(employee, rates)
    return employee.margin + (floor.hourly if floor else 0)


def truth() -> dict[str, object]:
    """What every monitor of the workspace must find, member by member."""
    rates = agreement()
    employees = {employee.employee_id: employee for employee in payroll()}
    below = {}
    for employee_id in ("E1012", "E1024", "E1037", "E1049"):
        floor = floor_of(employees[employee_id], rates)
        assert floor is not None
        below[employee_id] = {
            "hourly_rate": money(hourly_rate(employees[employee_id], rates)),
            "governed_by.min_hourly_rate": money(floor.hourly),
            "effective_from": floor.effective_from.isoformat(),
        }
    long_hours = {member: {"ordinary_hours": employees[member].ordinary_hours} for member in ("E1019", "E1040")}
    short = {
        member: {
            "super_rate": employees[member].super_rate,
            "casual_loading": employees[member].casual_loading,
        }
        for member in ("E1008", "E1029", "E1051")
    }
    return {
        "agreement": {
            "pay_rows": 41,
            "effective_dates": [day.isoformat() for day in INCREASES],
            "numbers": 492,
        },
        "employees": len(employees),
        "monitors": {
            "pay-below-floor": _found(below, {"E1057": ("right_missing", {})}),
            "hours-over-limit": _found(long_hours, {"E1044": ("left_null", {"ordinary_hours": ["null"]})}),
            "entitlements-short": _found(
                short,
                {
                    "E1021": ("left_null", {"casual_loading": ["null"]}),
                    "E1033": ("left_null", {"super_rate": ["null"]}),
                    "E1046": ("left_null", {"super_rate": ["not_castable"]}),
                },
            ),
        },
    }


def _found(
    breach: Mapping[str, object], no_data: Mapping[str, tuple[str, Mapping[str, list[str]]]]
) -> dict[str, object]:
    return {
        "population": 57,
        "breach": breach,
        "no_data": {member: {"reason": reason, "causes": causes} for member, (reason, causes) in no_data.items()},
        "compliant": 57 - len(breach) - len(no_data),
    }


# --- Writing ---------------------------------------------------------------------------------------------


def money(cents: int) -> str:
    """Cents as the exports write dollars: `31.42`."""
    return f"{cents // 100}.{cents % 100:02d}"


def generate(directory: Path) -> None:
    """Writes the two exports and the truth into a workspace."""
    sources = directory / "sources"
    sources.mkdir(parents=True, exist_ok=True)
    rates = agreement()
    _write(sources / "agreement_rates.csv", [_printed(rate, *_place(rate)) for rate in rates])
    _write(sources / "payroll.csv", [_exported(employee, rates) for employee in payroll()])
    text = json.dumps(truth(), indent=2, sort_keys=True, ensure_ascii=True) + "\n"
    (directory / "truth.json").write_bytes(text.encode("ascii"))


def _place(rate: Rate) -> tuple[int, int, int]:
    """Number of the table, page and row at which a rate is printed: a table for each level, two to a page."""
    table = list(INCREASES).index(rate.effective_from) * len(FIRST_RATES) + rate.level
    return table, FIRST_PAGE + (table - 1) // 2, rate.pay_point


def _printed(rate: Rate, table: int, page: int, row: int) -> dict[str, str]:
    return {
        "document": AGREEMENT,
        "schedule": f"Table B.{table}",
        "page": str(page),
        "line": str(row),
        "classification": f"DDSO {rate.level}",
        "pay_point": str(rate.pay_point),
        "effective_from": rate.effective_from.isoformat(),
        "hourly_rate": money(rate.hourly),
        "fortnightly_rate": money(rate.fortnightly),
        "annual_salary": money(rate.annual),
    }


def _exported(employee: Employee, rates: Sequence[Rate]) -> dict[str, str]:
    return {
        "employee_id": employee.employee_id,
        "employment_type": employee.employment_type,
        "classification": f"DDSO {employee.level}",
        "pay_point": str(employee.pay_point),
        "hourly_rate": money(hourly_rate(employee, rates)),
        "ordinary_hours": employee.ordinary_hours,
        "casual_loading": employee.casual_loading,
        "super_rate": employee.super_rate,
        "annual_leave_hours": employee.annual_leave_hours,
        "pay_date": employee.pay_date.isoformat(),
    }


def _write(path: Path, records: Sequence[Mapping[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(records[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    generate(Path(sys.argv[1]))
