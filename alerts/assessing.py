"""What one evaluation says of a monitor's alert, before it is asked how the alert stands. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from alerts.members import Following
from alerts.states import AlertKind
from alerts.status import AlertStatus, Run
from monitors.alerting import Lasting, NoDataRule
from monitors.evaluation import Counts, Evaluation, NotMade
from trivet.verdicts import Severity, SlotCause, Verdict, worst_verdict

SHARED = "any"
"""The run of whatever has no `for` of its own: breaches, and missing data beside them."""
_FALL = "judged_share"
_WANTED = (SlotCause.PAUSED, SlotCause.REMOVED)
"""Somebody decided that these slots are not evaluated. They are recorded, and no surprise."""


@dataclass(frozen=True, slots=True)
class Excess:
    """Missing data beyond what is tolerated."""

    run: str
    """The run towards `for` that it counts in."""
    lasting: Lasting
    is_loud: bool
    """People want to hear of it."""
    severity: Severity
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Assessment:
    """What an evaluation says."""

    kind: AlertKind | None
    """What an alert would be about; None where there is nothing, or nothing that anybody wants to hear."""
    breach: int
    """Breached members that nobody accepted."""
    in_order: bool
    """By positive evidence: nothing breached that nobody accepted, nothing carried, nothing undecided beyond what is
    tolerated."""
    is_quieted: bool
    """Missing data that nobody wants to hear of: no evidence of anything."""
    loud: Mapping[str, Lasting]
    """The runs that this evaluation counts in, and how long each must be."""
    excesses: tuple[Excess, ...]
    following: Following
    fall: tuple[str, str] | None
    """The judged share before and now, where it fell further than is allowed."""
    judged: tuple[int, int] | None
    """What the next evaluation's judged share is compared with."""

    def reasons(self) -> tuple[str, ...]:
        """Of missing data that is told of."""
        return tuple(dict.fromkeys(name for item in self.excesses if item.is_loud for name in item.reasons))


def assess(last: AlertStatus, made: Evaluation, following: Following) -> Assessment:
    """What an evaluation says, given how the alert stood and what became of its members."""
    excesses = tuple(_excesses(made))
    fall, judged = _fall(last.judged, made)
    breach = made.outcome.breach - following.accepted if isinstance(made.outcome, Counts) else 0
    verdict = worst_verdict(breach, made.outcome.no_data) if isinstance(made.outcome, Counts) else made.verdict
    loud_excess = any(item.is_loud for item in excesses)
    quieted = verdict is Verdict.NO_DATA and not loud_excess and fall is None
    certain = breach > 0 or following.held > 0
    loud: dict[str, Lasting] = {}
    if certain or following.gone or (following.carried and verdict is not Verdict.NO_DATA):
        loud[SHARED] = made.definition.alerting.fires_after
    for item in excesses:
        if item.is_loud:
            loud.setdefault(item.run, item.lasting)
    if fall is not None:
        loud[_FALL] = Lasting()
    in_order = isinstance(made.outcome, Counts) and not (certain or following.carried or excesses or fall)
    kind = _kind(last, certain=certain, carried=following.carried, missing=bool(loud), in_order=in_order)
    quieted = quieted and SHARED not in loud
    return Assessment(kind, breach, in_order, quieted, loud, excesses, following, fall, judged)


def _kind(last: AlertStatus, *, certain: bool, carried: bool, missing: bool, in_order: bool) -> AlertKind | None:
    if certain:
        return AlertKind.BREACH
    if carried:
        return AlertKind.UNJUDGED
    if missing or (not in_order and last.kind is AlertKind.NO_DATA):
        return AlertKind.NO_DATA
    return None


def runs_after(last: AlertStatus, made: Evaluation, seen: Assessment) -> dict[str, Run]:
    """The runs towards `for` after this evaluation.

    Missing data that is quieted is no evidence: it breaks no run. An evaluation that could not be made breaks none but
    continues its own.
    """
    unknown = (seen.is_quieted and not seen.in_order) or isinstance(made.outcome, NotMade)
    kept = dict(last.runs) if unknown else {}
    for name in seen.loud:
        before = last.runs.get(name)
        kept[name] = Run(before.count + 1, before.since) if before else Run(1, made.slot)
    return kept


def severity_of(kind: AlertKind, last: AlertStatus, made: Evaluation, seen: Assessment) -> Severity:
    """How loud it is. Members that are carried count in its size, so that nothing missing makes it quieter.

    Those that breach and are accepted do not.
    """
    definition, missing = made.definition, [item.severity for item in seen.excesses if item.is_loud]
    if kind is AlertKind.NO_DATA:
        found = missing or [_otherwise(made)]
    elif isinstance(made.outcome, Counts):
        size = seen.breach + seen.following.held + seen.following.unjudged
        population = max(made.outcome.population, size)
        level = definition.alerting.severity_of(size, population, definition.severity)
        unknown = seen.following.beyond and not seen.breach
        found = [level, *missing, *([last.severity] if unknown and last.severity else [])]
    else:
        found = [last.severity or definition.severity, *missing]
    return max(found, key=lambda item: item.rank)


def _excesses(made: Evaluation) -> Iterator[Excess]:
    policy = made.definition.no_data
    if isinstance(made.outcome, NotMade):
        reason = made.outcome.reason.value
        yield _excess(made, policy.rule(reason), (reason,), wanted=made.outcome.cause in _WANTED)
        return
    rest: dict[str, int] = {}
    for reason, count in made.outcome.no_data_reasons.items():
        rule = policy.rule(reason.value)
        if rule is None:
            rest[reason.value] = count
        elif (rule.tolerate or policy.tolerate).is_exceeded(count, made.outcome.population):
            yield _excess(made, rule, (reason.value,))
    if policy.tolerate.is_exceeded(sum(rest.values()), made.outcome.population) and rest:
        yield _excess(made, None, tuple(rest))


def _excess(made: Evaluation, rule: NoDataRule | None, reasons: tuple[str, ...], *, wanted: bool = False) -> Excess:
    policy = made.definition.no_data
    alert = policy.alert if rule is None or rule.alert is None else rule.alert
    severity = (rule.severity if rule else None) or _otherwise(made)
    if rule is not None and rule.lasting is not None:
        run, lasting = rule.reason, rule.lasting
    elif policy.lasting is not None:
        run, lasting = Verdict.NO_DATA.value, policy.lasting
    else:
        run, lasting = SHARED, made.definition.alerting.fires_after
    return Excess(run, lasting, alert and not wanted, severity, reasons)


def _otherwise(made: Evaluation) -> Severity:
    """How loud missing data is, unless its reason says otherwise."""
    levels = made.definition.alerting.levels
    return made.definition.no_data.severity or (levels[0].severity if levels else made.definition.severity)


def _fall(before: tuple[int, int] | None, made: Evaluation) -> tuple[tuple[str, str] | None, tuple[int, int] | None]:
    """The fall of the judged share beyond what is allowed, and what the next evaluation is compared with.

    While it is fallen, that stays what it was before the fall.
    """
    allowed = made.definition.alerting.judged_share
    if not isinstance(made.outcome, Counts) or not made.outcome.population:
        return None, before
    now = (made.outcome.population - made.outcome.no_data, made.outcome.population)
    if before is None or allowed is None or _percent(before) - _percent(now) <= allowed:
        return None, now
    return (share_text(before), share_text(now)), before


def _percent(part: tuple[int, int]) -> Decimal:
    return Decimal(100 * part[0]) / part[1]


def share_text(part: tuple[int, int]) -> str:
    """A share in percent: cut, not rounded, since 99.96 % of the members judged is not all of them."""
    return f"{1000 * part[0] // part[1] / 10:.1f}"
