"""Proofs on generated data: monitors of every kind agree with the oracle, and a plan that lies is found out."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from catalog.contract import Contract
from catalog.engines.duckdb_fixture import FixtureEngine
from catalog.engines.port import Snapshot
from catalog.expressions.tree import Not
from catalog.loading import load_contract
from evals.proving.columns import views_of
from evals.proving.data_sets import DataSets
from evals.proving.judges import GROUPS, PAIR, PLANS, SCAN, judges_of
from evals.proving.proof import ORACLE, Proof, prove
from monitors.definition import MonitorDefinition
from monitors.loading import load_monitors
from tests.conformance import grouped_harness, harness
from tests.oracle.grouped_worlds import GroupedWorld, grouped_worlds
from tests.oracle.strategies import World, worlds
from trivet.documents import read_yaml
from trivet.verdicts import Verdict
from worker.judging import Judgement, judge

CASES = Path(__file__).parents[1] / "cases" / "proofs"
DATA_SETS = min(settings.default.max_examples, 10)


def contract() -> Contract:
    document = read_yaml((CASES / "contract.yaml").read_text("utf-8"), file="contract.yaml").document
    assert document is not None
    result = load_contract([document])
    assert result.contract is not None, result.findings
    return result.contract


def monitors() -> tuple[MonitorDefinition, ...]:
    document = read_yaml((CASES / "monitors.yaml").read_text("utf-8"), file="monitors.yaml").document
    assert document is not None
    result = load_monitors([document], CONTRACT)
    assert not result.findings, [str(finding) for finding in result.findings]
    return result.monitors


CONTRACT = contract()
MONITORS = {item.id: item for item in monitors()}
TYPED = {
    "ontology.sample": {
        "number": "BIGINT",
        "taken": "DATE",
        "page": "INTEGER",
        "seen": "TIMESTAMP WITH TIME ZONE",
        "lasted": "INTERVAL",
        "good": "BOOLEAN",
        "phosphorus": "DECIMAL(18,6)",
        "phosphorus_limit": "DOUBLE",
        "score": "DOUBLE",
        "secret": "STRUCT(a INTEGER)",
    },
    "ontology.limit": {"starts": "TIMESTAMP", "ends": "DATE", "most": "DECIMAL(12,4)", "least": "FLOAT"},
}


def proof_of(name: str, data_sets: int, seed: int = 1) -> Proof:
    return prove(MONITORS[name], CONTRACT, FixtureEngine, data_sets=data_sets, seed=seed, physical=TYPED)


@pytest.mark.parametrize("name", MONITORS)
def test_every_plan_says_of_every_member_what_the_oracle_says(name: str) -> None:
    proof = proof_of(name, 6)
    assert proof.difference is None, proof.difference
    assert (proof.data_sets, proof.members) == (6, sum(proof.verdicts[PAIR].values()))
    assert all(counts == proof.verdicts[ORACLE] for counts in proof.verdicts.values())
    assert sum(proof.reasons.values()) == proof.verdicts[ORACLE][Verdict.NO_DATA]


@pytest.mark.parametrize("name", MONITORS)
def test_a_hundred_data_sets_meet_every_verdict(name: str) -> None:
    judges = judges_of(MONITORS[name], CONTRACT, FixtureEngine, PLANS)
    data_sets = DataSets(views_of(MONITORS[name], CONTRACT), TYPED, seed=1)
    met = {member.verdict for number in range(100) for member in judges.expected(data_sets[number]).members}
    # Without a history nothing is known to be above what it usually is.
    assert met == {*Verdict} - ({Verdict.COMPLIANT} if MONITORS[name].baselines else set())


def test_a_proof_says_whose_units_it_took_and_why_no_pass_was_tried() -> None:
    assert proof_of("in-two-units", 6).library_units == ("mg/L", "ug/L")
    assert proof_of("strictly", 1).library_units == ()
    assert proof_of("over-limit", 1).verdicts.keys() == {ORACLE, PAIR, SCAN}
    grouped = proof_of("average", 1)
    assert (grouped.why_no_scan, grouped.verdicts.keys()) == ("its members are groups", {ORACLE, PAIR, GROUPS})


def lying(definition: MonitorDefinition, of: Contract, snapshot: Snapshot, at: datetime) -> Judgement:
    """A plan that mistakes every breach for what is fine, and the other way round."""
    return judge(replace(definition, breach_when=Not(definition.breach_when)), of, snapshot, at)


def test_a_plan_that_lies_is_found_out_on_a_data_set_made_as_small_as_it_gets() -> None:
    plans = {PAIR: PLANS[PAIR], "lie": (lying,)}
    proof = prove(MONITORS["long-open"], CONTRACT, FixtureEngine, data_sets=50, seed=1, plans=plans)
    found = proof.difference
    assert found is not None
    assert (found.plan, proof.data_sets) == ("lie", found.data_set.number)
    assert [len(table.rows) for table in found.data_set.tables.values()] == [1, 0, 0]
    (row,) = found.data_set.tables["ontology.sample"].rows
    # Either the status alone says that it is fine, or it is open, and the date says that it is not.
    assert {name for name, cell in row.items() if cell is not None} <= {"status", "taken"}
    assert len(found.lines) == 3


def test_the_same_seed_and_number_make_the_same_data_and_others_do_not() -> None:
    views = views_of(MONITORS["over-limit"], CONTRACT)
    made = [repr(DataSets(views, TYPED, seed)[number]) for seed, number in ((1, 1), (1, 1), (1, 2), (2, 1))]
    assert made[0] == made[1]
    assert len(set(made)) == 3


@settings(max_examples=DATA_SETS)
@given(world=st.one_of(worlds(), grouped_worlds()))
def test_any_monitor_can_be_proven(world: World | GroupedWorld) -> None:
    note(harness.describe(world))
    definition = harness.definition_of(world) if isinstance(world, World) else grouped_harness.definition_of(world)
    physical = {view: table.columns for view, table in world.tables.items()}
    proof = prove(definition, world.contract, FixtureEngine, data_sets=2, seed=1, physical=physical)
    assert proof.difference is None, proof.difference
