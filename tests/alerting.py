"""Evaluations as tests of alerts need them, made without a warehouse."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from catalog.expressions.syntax import SyntaxFault, parse_condition
from monitors.alerting import NoDataPolicy
from monitors.definition import MonitorDefinition
from monitors.evaluation import Counts, Evaluation, Followed, Member, NotMade
from trivet.verdicts import NotMadeReason, Reason, Severity, Trigger, Verdict

START = datetime(2026, 11, 30, 6, tzinfo=UTC)
POPULATION = 57


def a_monitor(**changes: Any) -> MonitorDefinition:
    """A monitor over pay."""
    condition = parse_condition("hourly_rate < governed_by.min_hourly_rate")
    assert not isinstance(condition, SyntaxFault)
    fields: dict[str, Any] = {
        "id": "pay-below-floor",
        "object": "employee_pay",
        "breach_when": condition,
        "title": "Paid below the agreement's floor",
        "severity": Severity.CRITICAL,
        "owner": "payroll-ops",
        "notify": ("payroll",),
        "no_data": NoDataPolicy(),
    }
    return MonitorDefinition(**(fields | changes))


def breached(number: int, **operands: str | None) -> Member:
    """A breached member."""
    shown = operands or {"hourly_rate": "27.10", "governed_by.min_hourly_rate": "28.04"}
    read = ({"of": "employee_pay", "document": "sources/pay.csv", "table": "pay", "row": 2 + number},)
    return Member(Verdict.BREACH, {"employee_id": f"E{1000 + number}"}, shown, read)


def undecided(number: int, reason: Reason = Reason.RIGHT_MISSING, **operands: str | None) -> Member:
    """An undecided member."""
    shown = operands or {"hourly_rate": "27.10", "governed_by.min_hourly_rate": None}
    return Member(Verdict.NO_DATA, {"employee_id": f"E{2000 + number}"}, shown, (), reason)


def an_evaluation(
    slot: int = 0,
    *,
    breaches: int = 0,
    no_data: int = 0,
    not_made: NotMade | None = None,
    definition: MonitorDefinition | None = None,
    trigger: Trigger = Trigger.SCHEDULE,
    finished: datetime | None = None,
    members: tuple[tuple[Member, ...], tuple[Member, ...]] | None = None,
    reasons: Mapping[Reason, int] | None = None,
) -> Evaluation:
    """The evaluation of the slot `slot` hours after the start."""
    at = START + timedelta(hours=slot)
    found = members or (tuple(map(breached, range(breaches))), tuple(map(undecided, range(no_data))))
    everybody = {item.key_text for number in range(POPULATION) for item in (breached(number), undecided(number))}
    others = frozenset(everybody - {item.key_text for item in (*found[0], *found[1])})
    told = reasons if reasons is not None else ({Reason.RIGHT_MISSING: no_data} if no_data else {})
    counts = Counts(POPULATION, breaches, no_data, POPULATION - breaches - no_data, 0, 0, told)
    return Evaluation(
        evaluation_id=f"{slot:064x}",
        definition=definition or a_monitor(),
        contract={"id": "aruma", "version": "1.2.0", "hash": "c" * 64},
        trigger=trigger,
        slot=at,
        started_at=at + timedelta(seconds=1),
        finished_at=finished or at + timedelta(seconds=2),
        outcome=not_made or counts,
        engine="duckdb",
        engine_version="2.0.1",
        breached=() if not_made else found[0],
        undecided=() if not_made else found[1],
        # Whoever is not listed was looked for, and is compliant.
        followed=None if not_made else Followed(others, others),
    )


def a_failure(message: str | None = "the engine said no") -> NotMade:
    """Why an evaluation could not be made."""
    return NotMade(NotMadeReason.ENGINE_ERROR, message)
