"""The proof of one monitor: on generated data, every plan says of each member what the oracle says.

A proof is as strong as what it met, so it counts the members of each verdict, and tells which verdict it never saw.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from catalog.contract import Contract
from compiler.planning import why_no_pass, why_not_held, why_readable
from evals.proving.agreement import differences
from evals.proving.columns import views_of
from evals.proving.data_sets import DataSet, DataSets, Physical
from evals.proving.judges import GROUPS, PLANS, SCAN, Fixture, Judges, Plan, judges_of
from evals.proving.shrinking import shrunk
from monitors.definition import MonitorDefinition
from monitors.evaluation import Counts
from trivet.verdicts import Reason, Verdict

ORACLE = "oracle"


@dataclass(frozen=True, slots=True)
class Difference:
    """Where a plan and the oracle differ, on a data set that was made small."""

    plan: str
    data_set: DataSet
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Proof:
    """What was held against the oracle, and what came of it."""

    monitor: str
    seed: int
    data_sets: int
    """How many were judged: all that were asked for, or those up to the first difference."""
    verdicts: Mapping[str, Mapping[Verdict, int]]
    """Members of each verdict, by plan, the oracle's under `oracle`."""
    reasons: Mapping[Reason, int]
    """Undecided members of each reason."""
    why_no_scan: str | None
    """Why no pass over the view judges the monitor; None where one does."""
    library_units: tuple[str, ...]
    """Units that the oracle has no size of: it took those of the library that the compiler asks too."""
    baselines: tuple[str, ...]
    """Bounds from the monitor's own history, of which made-up data has none: they were unknown throughout."""
    difference: Difference | None

    @property
    def members(self) -> int:
        """All members of all data sets."""
        return sum(self.verdicts[ORACLE].values())

    @property
    def unseen(self) -> tuple[Verdict, ...]:
        """The verdicts that no member had."""
        return tuple(verdict for verdict in Verdict if not self.verdicts[ORACLE][verdict])


def prove(
    definition: MonitorDefinition,
    contract: Contract,
    fixture: Fixture,
    *,
    data_sets: int,
    seed: int,
    physical: Physical | None = None,
    plans: Mapping[str, Sequence[Plan]] = PLANS,
    progress: Callable[[int], None] = lambda number: None,
) -> Proof:
    """Holds a monitor against the oracle, up to the first data set on which they differ.

    Args:
        definition: the monitor, as it was loaded.
        contract: what it was checked against.
        fixture: makes the warehouses of the generated tables.
        data_sets: how many to generate.
        seed: whole number from which all of them follow.
        physical: column types of the warehouse's views; None where there is none, and every column is text.
        plans: the ways of judging to try.
        progress: told how many data sets were judged.

    Raises:
        UnknownUnit: it compares units that neither the oracle nor the library converts.
    """
    why_no_scan = why_no_pass(contract) or why_readable(definition, contract)
    judges = judges_of(definition, contract, fixture, plans)
    left_out = {
        SCAN: why_no_scan is not None,
        GROUPS: why_not_held(definition, contract) is not None,
    }
    asked = [plan for plan in plans if not left_out.get(plan)]
    made = DataSets(views_of(definition, contract), physical, seed)
    verdicts: dict[str, Counter[Verdict]] = {name: Counter() for name in (ORACLE, *asked)}
    reasons: Counter[Reason] = Counter()
    difference = None
    number = 0
    for number in range(1, data_sets + 1):
        data_set = made[number]
        expected = judges.expected(data_set)
        verdicts[ORACLE].update(member.verdict for member in expected.members)
        reasons.update(member.reason for member in expected.members if member.reason is not None)
        for plan, found in judges.found(data_set, asked):
            if isinstance(found.outcome, Counts):
                counts = found.outcome
                verdicts[plan].update(
                    {
                        Verdict.BREACH: counts.breach,
                        Verdict.NO_DATA: counts.no_data,
                        Verdict.COMPLIANT: counts.compliant,
                    }
                )
            if difference is None and differences(found, expected):
                difference = _smallest(judges, data_set, plan)
        progress(number)
        if difference is not None:
            break
    return Proof(
        definition.id,
        seed,
        number,
        verdicts,
        {reason: reasons[reason] for reason in Reason if reasons[reason]},
        why_no_scan,
        tuple(sorted(judges.units.from_library)),
        tuple(rule.name for rule in definition.baselines),
        difference,
    )


def _smallest(judges: Judges, data_set: DataSet, plan: str) -> Difference:
    small = shrunk(data_set, lambda smaller: bool(judges.differences(smaller, plan)))
    return Difference(plan, small, tuple(judges.differences(small, plan)))
