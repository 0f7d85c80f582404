"""Cron lines: five fields, week days by name."""

from __future__ import annotations

from datetime import datetime

from cronsim import CronSim, CronSimError

_SOME_DAY = datetime(2024, 1, 1)


def cron_fault(line: str) -> str | None:
    """What is wrong with a cron line; None if it names instants.

    Week days are names only: whether 0 or 7 or 1 is the first of them differs from cron to cron.
    """
    fields = line.split()
    if len(fields) != 5:
        return "expected five fields: minute hour day month weekday"
    if any(char.isdigit() for char in fields[4]):
        return f"expected week days by name such as MON-FRI, found '{fields[4]}'"
    try:
        next(CronSim(line, _SOME_DAY))
    except CronSimError as error:
        return f"'{line}' is no cron line: {str(error).lower()}"
    except StopIteration:
        return f"'{line}' never comes due"
    return None
