"""What a soak came to: what must hold of each ground, and figures of what was done to it."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from tests.acceptance.daemons import assert_each_slot_has_one_result, instant, rows, slots
from tests.soak.ground import Counts, Ground, recorded_identity
from trivet.verdicts import EvaluationStatus
from worker.tables import evaluation


@dataclass(frozen=True, slots=True)
class Done:
    """One fault, from when it began until it was over."""

    fault: str
    began: datetime
    ended: datetime


@dataclass(frozen=True, slots=True)
class Report:
    """What one ground came to."""

    ground: str
    faults: Sequence[Done]
    results: Counter[str]
    """Evaluations by status; those that were not made by reason and cause."""
    recoveries: dict[str, list[float]]
    """Seconds from the end of a fault to the next evaluation that was made, by fault."""
    extra: int
    """How often a slot was begun again."""
    verified: str

    def lines(self) -> list[str]:
        """For people."""
        found = [f"{self.ground}: {len(self.faults)} faults, {self.results.total()} slots, each with one result"]
        found += [f"  {count:6}  {what}" for what, count in sorted(self.results.items())]
        found += [f"  {self.extra:6}  begun again", "  faults  fault                 seconds to the next evaluation"]
        found += [f"{'':30} p50   p95   max"]
        every = [second for seconds in self.recoveries.values() for second in seconds]
        for fault, seconds in [*sorted(self.recoveries.items()), ("all of them", every)]:
            if seconds:
                found.append(f"  {len(seconds):6}  {fault:20} {_percentiles(seconds)}")
        return [*found, f"  {self.verified}"]


def _percentiles(seconds: Sequence[float]) -> str:
    ordered = sorted(seconds)
    p95 = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    return f"{statistics.median(ordered):5.1f} {p95:5.1f} {ordered[-1]:5.1f}"


def examined(ground: Ground, faults: Sequence[Done], until: datetime) -> Report:
    """Holds a ground to what must hold.

    Raises:
        AssertionError: a slot is lost or doubled, an evaluation says what its data did not, or the ledger is damaged.
    """
    assert_each_slot_has_one_result(ground.store, until)
    made = rows(ground.store, evaluation)
    for row in made:
        if row["status"] == EvaluationStatus.COMPLETED:
            assert _counts(row) == ground.truths.get(recorded_identity(row["snapshot"])), (
                f"not what its data says: {row}"
            )
    verified = _fine(ground, "ledger", "verify")
    _fine(ground, "ledger", "completeness", "--until", until.isoformat())
    results = Counter(" ".join(filter(None, (row["status"], row["reason"], row["cause"]))) for row in made)
    extra = sum(max(0, row["attempt"] - 1) for row in slots(ground.store))
    return Report(ground.name, faults, results, _recoveries(ground, faults), extra, verified)


def _fine(ground: Ground, *arguments: str) -> str:
    """What a command says that must find nothing wrong."""
    code, said = ground.command(*arguments)
    assert code == 0, f"trivet {' '.join(arguments)}: {code}\n{said}"
    return said.strip()


def _counts(row: object) -> Counts:
    return tuple(row[name] for name in ("population", "breach", "no_data", "compliant"))  # type: ignore[index, return-value]


def _recoveries(ground: Ground, faults: Sequence[Done]) -> dict[str, list[float]]:
    finished = sorted(
        datetime.fromisoformat(row["finished_at"])
        for row in rows(ground.store, evaluation)
        if row["status"] == EvaluationStatus.COMPLETED
    )
    found: dict[str, list[float]] = {}
    for done in faults:
        after = next((at for at in finished if at >= done.ended), None)
        if after is not None:
            found.setdefault(done.fault, []).append((after - done.ended).total_seconds())
    return found


def last_slot(ground: Ground) -> datetime:
    """The instant of the newest slot."""
    return instant(slots(ground.store)[-1])


def now() -> datetime:
    return datetime.now(UTC)
