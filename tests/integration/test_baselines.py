"""Bounds from a monitor's own recorded evaluations: every sentence of `tests/cases/baselines`, on both stores.

Each case evaluates one monitor slot by slot, each on its own rows, and records it. Beside the verdicts it is checked
that an auditor, who has the ledger and the recorded measures alone, comes to the same baselines.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import sqlalchemy as sa
import yaml

from catalog.contract import Contract
from catalog.engines.duckdb_fixture import FixtureEngine, FixtureTable
from evals.oracle.baselines import comes_to
from ledger.entries import EntryType
from ledger.reading import entry_about
from ledger.verification.findings import DamageKind
from ledger.verification.verify import verify_store
from monitors.definition import MonitorDefinition
from monitors.evaluation import Counts, Evaluation, Member, NotMade
from monitors.measures import measure_hash
from tests.integration.store import lift_guards
from tests.integration.worlds import a_contract, assert_verifies, rows, some_monitors
from trivet.clock import FixedClock
from trivet.verdicts import NotMadeReason, Trigger, Verdict
from worker.evaluate import Evaluator, manual_slots, scheduled_slot
from worker.history import StoreHistory
from worker.stores import read_only
from worker.tables import evaluation, measure, member

CASES = Path(__file__).parents[1] / "cases" / "baselines"
CONTRACT = a_contract((CASES / "contract.yaml").read_text("utf-8"))
ZONE = ZoneInfo(CONTRACT.calendar.time_zone)
Case = Mapping[str, Any]


def _cases() -> list[Case]:
    files = sorted(path for path in CASES.glob("*.yaml") if path.name != "contract.yaml")
    return [case for path in files for case in yaml.safe_load(path.read_text("utf-8"))]


def _monitor(case: Case, change: Mapping[str, Any], contract: Contract = CONTRACT) -> MonitorDefinition:
    written = {"id": "m", "object": "reading", **case["monitor"], **change}
    text = yaml.safe_dump({"monitors": [written]}, allow_unicode=True, width=1000, sort_keys=False)
    return some_monitors(contract, text)[0]


def _engine(case: Case, slot: Mapping[str, Any]) -> FixtureEngine:
    readings: list[dict[str, object]] = []
    for name, column in (("rows", "flow"), ("depths", "depth")):
        for site, cells in slot.get(name, {}).items():
            readings += [{"site": site, column: str(cell)} for cell in cells]
    for lot, number in slot.get("lots", {}).items():
        readings += [{"site": "North", "lot": lot}] * number
    listed = [{"id": str(number), "seen": slot.get("seen"), **row} for number, row in enumerate(readings)]
    stations = [{"site": site} for site in case.get("stations", [])]
    tables = {"ontology.reading": listed, "ontology.station": stations}
    return FixtureEngine(
        {of.view: FixtureTable(dict.fromkeys(of.columns, "VARCHAR"), tables[of.view]) for of in CONTRACT.object_types}
    )


def _instant(value: object) -> datetime:
    found = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    return found if found.tzinfo else found.replace(tzinfo=ZONE)


@dataclass
class Watch:
    """One monitor, evaluated slot by slot on one store."""

    store: sa.Engine
    clock: FixedClock = field(default_factory=lambda: FixedClock(datetime(2026, 1, 1, tzinfo=ZONE)))
    ids: dict[str, str] = field(default_factory=dict)
    """Evaluation id to the slot's name in the case."""

    def evaluate(self, case: Case, slot: Mapping[str, Any]) -> Evaluation:
        definition = _monitor(case, slot.get("change", {}))
        at = _instant(slot["at"])
        self.clock.instant += timedelta(minutes=1)
        by_schedule = definition.schedule is not None and slot.get("trigger") != Trigger.MANUAL
        due = [scheduled_slot(definition, at)] if by_schedule else manual_slots([definition], CONTRACT, at)
        evaluator = Evaluator(CONTRACT, _engine(case, slot), self.clock)
        (recorded,) = evaluator.evaluate(due, self.store)
        self.ids[recorded.evaluation.evaluation_id] = slot["id"]
        return recorded.evaluation

    def looked_back(self, made: Evaluation) -> dict[str, list[str]]:
        """By baseline, the slots that the ledger entry names."""
        used = self.payload(made).get("baselines", {})
        return {name: [self.ids[item] for item in of["evaluations"]] for name, of in used.items()}

    def payload(self, made: Evaluation) -> dict[str, Any]:
        with read_only(self.store).connect() as connection:
            entry = entry_about(connection, EntryType.EVALUATION, made.evaluation_id)
        assert entry is not None
        return entry.content()


def _said(item: Member) -> tuple[str, str]:
    key = " / ".join(part or "-" for part in item.key.values())
    words = [item.verdict.value, *([item.reason.value] if item.reason else [])]
    words += [f"{operand}:{'+'.join(causes)}" for operand, causes in sorted(item.causes.items())]
    if item.verdict is Verdict.BREACH:
        named = {name.removeprefix("baseline."): value for name, value in item.operands.items() if "baseline." in name}
        words += [f"{name}={'-' if value is None else value}" for name, value in named.items()]
    return key, " ".join(words)


@pytest.mark.parametrize("case", _cases(), ids=lambda case: case["says"])
def test_each_slot_is_judged_by_the_evaluations_before_it_as_the_sentence_says(
    any_store: sa.Engine, case: Case
) -> None:
    watch = Watch(any_store)
    for slot in case["slots"]:
        made = watch.evaluate(case, slot)
        if "not_made" in slot:
            assert isinstance(made.outcome, NotMade)
            assert (made.outcome.reason, made.measures, made.baselines) == (slot["not_made"], (), ())
            continue
        assert isinstance(made.outcome, Counts), made.outcome
        flagged = dict(_said(item) for item in (*made.breached, *made.undecided))
        compliant = [key for key, said in slot["says"].items() if said == "compliant"]
        assert flagged == {key: said for key, said in slot["says"].items() if key not in compliant}, slot["id"]
        assert made.outcome.compliant == len(compliant)
        assert {tuple(of) for of in watch.looked_back(made).values()} == {tuple(slot["of"])}, slot["id"]
        assert _audited(any_store, watch, made) == _used(made)
    assert_verifies(any_store, len(case["slots"]))


def _used(made: Evaluation) -> dict[tuple[str, str], Fraction | None]:
    """What the recorded members say that each baseline came to, by group and baseline."""
    return {
        (json.dumps(dict(item.key), sort_keys=True), name): None if value is None else Fraction(value)
        for item in (*made.breached, *made.undecided)
        for name, value in item.operands.items()
        if name.startswith("baseline.") and None not in item.key.values()
    }


def _audited(store: sa.Engine, watch: Watch, made: Evaluation) -> dict[tuple[str, str], Fraction | None]:
    """The same, worked out by fractions from what the ledger names and the store holds."""
    recorded = rows(store, measure)
    found: dict[tuple[str, str], Fraction | None] = {}
    for group, name in _used(made):
        used = watch.payload(made)["baselines"][name.removeprefix("baseline.")]
        values = [
            Decimal(row["value"])
            for row in recorded
            if row["evaluation_id"] in used["evaluations"]
            and row["measure_hash"] == used["measure_hash"]
            and row["value"] is not None
            and _same_group(row["member_key"], group)
        ]
        enough = len(values) >= used["min_history"]
        exact = used["statistic"] == "median" and used["of"] != "max(depth)"
        found[group, name] = comes_to(used["statistic"], values, exact=exact) if enough else None
    return found


def _same_group(recorded: str, shown: str) -> bool:
    """Whether two keys have the same values: decimals are shown with the digits that the contract asks for."""

    def values(text: str) -> dict[str, object]:
        return {name: Decimal(value) if name == "lot" else value for name, value in json.loads(text).items()}

    return values(recorded) == values(shown)


COUNTING: Case = {
    "monitor": {
        "group_by": ["site"],
        "schedule": {"every": "1d"},
        "breach_when": "count() > baseline.usual",
        "baselines": {"usual": {"of": "count()", "statistic": "mean", "last": 5, "min_history": 1}},
    }
}


def _days(*counts: int) -> Iterator[dict[str, Any]]:
    for day, count in enumerate(counts, start=3):
        yield {"id": f"day {day}", "at": f"2024-06-{day:02}T09:00", "rows": {"North": [1] * count, "South": [1]}}


def _change(store: sa.Engine, where: sa.ColumnElement[bool], **values: Any) -> None:
    with store.begin() as connection:
        lift_guards(connection)
        assert connection.execute(sa.update(measure).where(where).values(**values)).rowcount == 1


def test_measures_of_all_groups_are_recorded_whatever_their_verdict(any_store: sa.Engine) -> None:
    watch = Watch(any_store)
    *_, made = [watch.evaluate(COUNTING, slot) for slot in _days(2, 1)]
    assert isinstance(made.outcome, Counts)
    assert made.outcome.compliant == 2
    recorded = [row for row in rows(any_store, measure) if row["evaluation_id"] == made.evaluation_id]
    assert [(row["ordinal"], row["measure"], row["member_key"], row["value"], row["reason"]) for row in recorded] == [
        (1, "count()", '{"site":"North"}', "1", None),
        (2, "count()", '{"site":"South"}', "1", None),
    ]
    assert [row for row in rows(any_store, member) if row["evaluation_id"] == made.evaluation_id] == []


@pytest.mark.parametrize(
    "change",
    [
        {"value": "1"},
        {"value": None},
        {"member_key": '{"site":"East"}'},
        {"measure": "sum(flow)"},
        {"measure_hash": "0" * 64},
        {"ordinal": 7},
        {"reason": "insufficient"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_measure_that_was_changed_by_hand_is_found(any_store: sa.Engine, change: dict[str, Any]) -> None:
    watch = Watch(any_store)
    first, _ = (watch.evaluate(COUNTING, slot) for slot in _days(2, 3))
    assert_verifies(any_store, 2)
    row = sa.and_(measure.c.evaluation_id == first.evaluation_id, measure.c.ordinal == 1)
    _change(any_store, row, **change)
    assert _damage(any_store) == [DamageKind.ROWS]


def test_a_measure_that_was_added_or_removed_is_found(any_store: sa.Engine) -> None:
    watch = Watch(any_store)
    (made,) = (watch.evaluate(COUNTING, slot) for slot in _days(2))
    of_north = sa.and_(measure.c.evaluation_id == made.evaluation_id, measure.c.ordinal == 1)
    with any_store.begin() as connection:
        lift_guards(connection)
        row = dict(connection.execute(sa.select(measure).where(of_north)).mappings().one())
        connection.execute(sa.insert(measure), {**row, "ordinal": 3, "member_key": '{"site":"East"}'})
    assert _damage(any_store) == [DamageKind.ROWS]
    with any_store.begin() as connection:
        connection.execute(sa.delete(measure).where(measure.c.ordinal == 3))
    assert _damage(any_store) == []
    with any_store.begin() as connection:
        connection.execute(sa.delete(measure).where(of_north))
    assert _damage(any_store) == [DamageKind.ROWS]


def _damage(store: sa.Engine) -> list[DamageKind]:
    with read_only(store).connect() as connection:
        return [item.kind for item in verify_store(connection).damage]


def test_the_ledger_entry_itself_names_the_rule_and_the_evaluations(any_store: sa.Engine) -> None:
    watch = Watch(any_store)
    first, second = [watch.evaluate(COUNTING, slot) for slot in _days(2, 3)]
    assert watch.payload(second)["baselines"] == {
        "usual": {
            "of": "count()",
            "statistic": "mean",
            "last": 5,
            "weekday": "any",
            "min_history": 1,
            "measure_hash": first.measures[0].measure_hash,
            "evaluations": [first.evaluation_id],
        }
    }
    assert second.to_json(2)["baselines"] == watch.payload(second)["baselines"]


def test_a_monitor_without_baselines_records_no_measure_and_says_nothing_of_them(any_store: sa.Engine) -> None:
    watch = Watch(any_store)
    case = {"monitor": {"group_by": ["site"], "breach_when": "count() > 1"}}
    (made,) = (watch.evaluate(case, slot) for slot in _days(2))
    assert rows(any_store, measure) == []
    assert "baselines" not in watch.payload(made)
    assert "baselines" not in made.to_json(1)


@pytest.mark.parametrize("value", ["few", "", "NaN", "1e9999", "0x10", "1_000"])
def test_a_recorded_value_that_is_no_number_ends_the_evaluation_and_decides_nothing(
    any_store: sa.Engine, value: str
) -> None:
    watch = Watch(any_store)
    first, second = _days(2, 3)
    made = watch.evaluate(COUNTING, first)
    _change(any_store, sa.and_(measure.c.evaluation_id == made.evaluation_id, measure.c.ordinal == 2), value=value)
    found = watch.evaluate(COUNTING, second)
    message = f"a recorded measure of evaluation {made.evaluation_id} is no number: run `trivet ledger verify`"
    assert found.outcome == NotMade(NotMadeReason.ENGINE_ERROR, message)
    assert (found.verdict, found.measures) == (Verdict.NO_DATA, ())


def test_an_evaluation_that_is_not_recorded_looks_back_where_it_is_told_to_and_leaves_nothing(
    any_store: sa.Engine,
) -> None:
    watch = Watch(any_store)
    first, second = _days(2, 3)
    watch.evaluate(COUNTING, first)
    definition = _monitor(COUNTING, {})
    for look_back, badge in ((StoreHistory(any_store, CONTRACT), "1 breach / 0 no-data"), (None, None)):
        told = {} if look_back is None else {"look_back": look_back}
        evaluator = Evaluator(CONTRACT, _engine(COUNTING, second), watch.clock, **told)
        (dry,) = evaluator.evaluate([scheduled_slot(definition, _instant(second["at"]))], None)
        assert dry.evaluation.badge == (badge or "0 breaches / 2 no-data")
    assert len(rows(any_store, evaluation)) == 1
    assert len(rows(any_store, measure)) == 2


MEANINGS: Sequence[tuple[str, str, str, bool]] = [
    ("another name of the contract", "id: baselines", "id: other", True),
    ("another number of digits shown", "display: {scale: 2}", "display: {scale: 3}", True),
    ("another property that is not read", "unit: m,", "unit: km,", True),
    ("another time zone", "time_zone: Australia/Sydney", "time_zone: Australia/Perth", False),
    ("another view", "view: ontology.reading", "view: ontology.readings", False),
    ("another missing mark of what is read", "{name: site, type: text, role: dimension}",
     "{name: site, type: text, role: dimension, missing: [n/a]}", False),
    ("another type of what is summed", 'type: "decimal(12,2)", unit: L/s, role: fact, additivity: additive',
     'type: "decimal(12,3)", unit: L/s, role: fact, additivity: additive', False),
    ("another unit of what is summed", "unit: L/s, role: fact, additivity: additive",
     "unit: ML/day, role: fact, additivity: additive", False),
]  # fmt: skip


@pytest.mark.parametrize(("written", "instead", "keeps"), [item[1:] for item in MEANINGS], ids=[m[0] for m in MEANINGS])
def test_a_contract_that_means_something_else_begins_a_new_history(written: str, instead: str, keeps: bool) -> None:
    text = (CASES / "contract.yaml").read_text("utf-8")
    assert written in text
    baselines = {"usual": {"of": "sum(flow)", "statistic": "mean", "last": 5, "min_history": 1}}
    case = {"monitor": {**COUNTING["monitor"], "breach_when": "count() > baseline.usual", "baselines": baselines}}

    def hash_of(contract: Contract) -> str:
        definition = _monitor(case, {}, contract)
        return measure_hash(definition, definition.baselines[0].of, contract)

    assert (hash_of(a_contract(text.replace(written, instead))) == hash_of(CONTRACT)) is keeps
