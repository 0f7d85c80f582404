"""Recorded verdicts are derived again: from what was recorded, and on the data while it is kept."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest
import sqlalchemy as sa

from ledger.entries import EntryType
from ledger.reading import entries
from tests.integration.store import lift_guards, migrated_store
from tests.integration.worlds import a_warehouse, assert_verifies, evaluate
from trivet.clock import FixedClock
from trivet.errors import UsageError
from trivet.verdicts import ReplayResult
from worker.redacting import redact_member
from worker.replaying import Replay, Replayer, evaluation_named, latest_evaluations
from worker.stores import read_only

NOW = datetime(2026, 11, 30, 7, tzinfo=UTC)
MONITORS = """\
monitors:
  - {id: a-own, object: reading, breach_when: value < 0}
  - {id: b-linked, object: reading, breach_when: value < held_to.least}
  - {id: c-all, object: reading, breach_when: all(value < held_to.least)}
  - id: d-both
    object: reading
    breach_when: value > 100 or value < held_to.least
    where: 'site in ("north", "south")'
"""


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    return a_warehouse(tmp_path)


@pytest.fixture
def store(tmp_path: Path, warehouse: Path) -> sa.Engine:
    """A store with one evaluation of each monitor."""
    made = migrated_store(tmp_path)
    evaluate(warehouse, made, monitors=MONITORS)
    return made


def ids(store: sa.Engine) -> dict[str, str]:
    with read_only(store).connect() as connection:
        found = entries(connection, entry_type=EntryType.EVALUATION)
        return {item.content()["monitor_id"]: item.subject_id for item in found}


def replay(store: sa.Engine, warehouse: Path, monitor: str, **how: bool) -> Replay:
    return Replayer(store, warehouse, FixedClock(NOW)).replay(ids(store)[monitor], **how)


def change(store: sa.Engine, statement: str) -> None:
    with store.begin() as connection:
        lift_guards(connection)
        assert connection.exec_driver_sql(statement).rowcount >= 1


@pytest.mark.parametrize("monitor", ["a-own", "b-linked", "c-all", "d-both"])
def test_an_untouched_evaluation_is_reproduced_in_both_ways(store: sa.Engine, warehouse: Path, monitor: str) -> None:
    made = replay(store, warehouse, monitor)
    assert made.rejudge is not None
    assert made.rerun is not None
    assert (made.rejudge.result, made.rerun.result, made.result) == (ReplayResult.REPRODUCED,) * 3
    assert made.rejudge.members == {"reproduced": made.rejudge.members["reproduced"], "inputs_gone": 0, "diverged": 0}
    assert made.rejudge.members["reproduced"] >= 2


def test_a_replay_is_an_entry_and_nothing_else(store: sa.Engine, warehouse: Path) -> None:
    made = replay(store, warehouse, "a-own")
    with read_only(store).connect() as connection:
        (told,) = entries(connection, entry_type=EntryType.REPLAY)
        assert connection.execute(sa.text("SELECT count(*) FROM evaluation")).scalar_one() == 4
        assert connection.execute(sa.text("SELECT count(*) FROM outbox")).scalar_one() == 0
    content = told.content()
    assert (told.subject_id, content["result"], content["monitor_id"]) == (made.replay_id, "reproduced", "a-own")
    assert content["rejudge"]["members"]["reproduced"] == 2
    assert_verifies(store, 5)


def test_a_dry_replay_writes_nothing(store: sa.Engine, warehouse: Path) -> None:
    replay(store, warehouse, "a-own", record=False)
    assert_verifies(store, 4)


DECIDED = """operands = '{"value":"9","held_to.least":"3"}'"""


@pytest.mark.parametrize(
    ("monitor", "statement"),
    [
        ("a-own", """UPDATE member SET operands = '{"value":"7"}' WHERE verdict = 'breach'"""),
        ("a-own", "UPDATE member SET verdict = 'breach', reason = NULL WHERE verdict = 'no_data'"),
        ("a-own", """UPDATE member SET operands = '{"value":"7"}', causes = '{}' WHERE verdict = 'no_data'"""),
        ("a-own", "UPDATE member SET reason = 'right_missing' WHERE verdict = 'no_data'"),
        ("b-linked", """UPDATE member SET operands = '{"value":"9","held_to.least":"3"}' WHERE verdict = 'breach'"""),
        (
            "b-linked",
            """UPDATE member SET operands = '{"value":"9","held_to.least":"3"}' WHERE reason = 'right_missing'""",
        ),
    ],
)
def test_a_record_that_does_not_follow_from_itself_diverges(
    store: sa.Engine, warehouse: Path, monitor: str, statement: str
) -> None:
    change(store, f"{statement} AND evaluation_id = '{ids(store)[monitor]}'")
    made = replay(store, warehouse, monitor)
    assert made.rejudge is not None
    assert made.rejudge.result is ReplayResult.DIVERGED
    assert made.result is ReplayResult.DIVERGED
    assert made.rejudge.told[0].startswith("member ")


def test_counts_that_were_changed_diverge_from_a_second_run(store: sa.Engine, warehouse: Path) -> None:
    change(store, f"UPDATE evaluation SET compliant = 9, population = 11 WHERE evaluation_id = '{ids(store)['a-own']}'")
    made = replay(store, warehouse, "a-own")
    assert made.rerun is not None
    assert made.rerun.told == ("population was 11 and is 5", "compliant was 9 and is 3")
    assert (made.rerun.result, made.result) == (ReplayResult.DIVERGED, ReplayResult.DIVERGED)


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("UPDATE evaluation SET breach = 2, population = 6", "breach was counted 2 times and recorded 1 times"),
        ("UPDATE evaluation SET verdict = 'compliant'", "it was recorded as compliant, and its counts make it breach"),
        ("DELETE FROM member", "breach was counted 1 times and recorded 0 times"),
    ],
)
def test_members_that_are_not_those_that_were_counted_diverge(
    store: sa.Engine, warehouse: Path, statement: str, told: str
) -> None:
    change(store, f"{statement} WHERE evaluation_id = '{ids(store)['a-own']}'")
    made = replay(store, warehouse, "a-own", rerunning=False)
    assert made.rejudge is not None
    assert (made.rejudge.result, made.rejudge.told[0]) == (ReplayResult.DIVERGED, told)


def test_members_beyond_those_that_are_recorded_are_not_judged_again(store: sa.Engine, warehouse: Path) -> None:
    identity = ids(store)["a-own"]
    change(store, f"UPDATE evaluation SET breach = 7, recorded_truncated = TRUE WHERE evaluation_id = '{identity}'")
    made = replay(store, warehouse, "a-own", rerunning=False)
    assert made.rejudge is not None
    assert made.rejudge.told == ("6 members: they were counted, and are beyond those that are recorded",)
    assert made.rejudge.members == {"reproduced": 2, "inputs_gone": 6, "diverged": 0}
    assert made.result is ReplayResult.INPUTS_GONE


def test_data_that_was_changed_is_told_from_data_that_is_gone(store: sa.Engine, warehouse: Path) -> None:
    before = replay(store, warehouse, "a-own")
    copied = warehouse.with_name("copy.duckdb")
    copied.write_bytes(warehouse.read_bytes())
    copied.replace(warehouse)
    assert replay(store, warehouse, "a-own").result is ReplayResult.REPRODUCED, "a copy is as good"
    with duckdb.connect(str(warehouse)) as connection:
        connection.execute("UPDATE raw.reading SET value = '-5' WHERE id = 'R1'")
    changed = replay(store, warehouse, "a-own")
    warehouse.unlink()
    gone = replay(store, warehouse, "a-own")
    results = [made.rerun.result for made in (before, changed, gone) if made.rerun is not None]
    assert results == [ReplayResult.REPRODUCED, ReplayResult.INPUTS_CHANGED, ReplayResult.INPUTS_GONE]
    assert changed.result is ReplayResult.INPUTS_CHANGED
    assert gone.result is ReplayResult.REPRODUCED, "what was recorded is enough to judge its members again"


def test_an_erased_member_has_no_inputs_any_more(store: sa.Engine, warehouse: Path) -> None:
    redact_member(store, ids(store)["a-own"], 1, "data officer", "asked for", NOW)
    made = replay(store, warehouse, "a-own")
    assert made.rejudge is not None
    assert made.rejudge.members == {"reproduced": 1, "inputs_gone": 1, "diverged": 0}
    assert made.rerun is not None
    assert made.rerun.result is ReplayResult.REPRODUCED


def test_an_evaluation_whose_texts_the_ledger_lacks_has_no_inputs(store: sa.Engine, warehouse: Path) -> None:
    change(store, "UPDATE ledger_entry SET subject_id = 'other' WHERE entry_type = 'contract_published'")
    made = replay(store, warehouse, "a-own")
    assert made.result is ReplayResult.INPUTS_GONE
    assert made.rejudge is not None
    assert made.rejudge.told[0].startswith("the ledger does not hold the contract ")


def test_an_evaluation_that_was_not_made_is_run_again_where_data_was_the_reason(tmp_path: Path) -> None:
    store = migrated_store(tmp_path)
    warehouse = a_warehouse(tmp_path, "DELETE FROM raw.reading")
    evaluate(warehouse, store)
    made = replay(store, warehouse, "a-own")
    assert made.rejudge is not None
    assert made.rerun is not None
    assert (made.rejudge.result, made.rerun.result) == (ReplayResult.INPUTS_GONE, ReplayResult.REPRODUCED)


def test_a_world_of_compliant_members_is_reproduced_by_a_second_run_alone(tmp_path: Path) -> None:
    store = migrated_store(tmp_path)
    warehouse = a_warehouse(tmp_path, "DELETE FROM raw.reading WHERE id IN ('R2', 'R3')")
    evaluate(warehouse, store)
    made = replay(store, warehouse, "a-own")
    assert made.rejudge is not None
    assert (made.rejudge.result, made.result) == (ReplayResult.INPUTS_GONE, ReplayResult.REPRODUCED)


WIDE = """\
contract: {id: wide, version: 1.0.0}
calendar: {time_zone: Australia/Sydney}
object_types:
  - name: reading
    view: ontology.reading
    primary_key: [id]
    properties:
      - {name: id, type: text}
      - {name: site, type: text}
      - {name: value, type: double, unit: mg/L}
      - {name: taken, type: date}
      - {name: taker, type: text, sensitivity: restricted, monitor: masked}
  - name: floor
    view: ontology.floor
    primary_key: [site]
    properties:
      - {name: site, type: text}
      - {name: least, type: double, unit: ug/L}
link_types:
  - {name: held_to, from: {object: reading, keys: [site]}, to: {object: floor, keys: [site]}, cardinality: many_to_many}
"""
WIDE_MONITORS = """\
monitors:
  - {id: clock, object: reading, breach_when: age(taken) > 2d}
  - {id: unit, object: reading, breach_when: value < held_to.least}
  - {id: counted, object: reading, breach_when: count(held_to) > 0}
  - {id: absent, object: reading, breach_when: not exists(held_to)}
  - {id: every, object: reading, breach_when: all(value < held_to.least)}
  - {id: masked, object: reading, breach_when: taker is missing}
  - id: grouped
    object: reading
    group_by: [{period: month, of: taken}, site]
    expect: {object: floor, key: site, periods: {last: 2}}
    breach_when: avg(value) < 0.1 or count() > 2
    min_count: 2
"""
WIDE_WORLD = """\
CREATE SCHEMA ontology;
CREATE TABLE ontology.reading (id VARCHAR, site VARCHAR, value VARCHAR, taken VARCHAR, taker VARCHAR);
INSERT INTO ontology.reading VALUES
    ('R1', 'north', '0.02', '2026-11-28', 'Ana'), ('R2', 'north', '0.04', '2026-11-29', ''),
    ('R3', 'south', 'n', '2026-11-30', 'Bo'), ('R4', 'west', '0.5', NULL, 'Cy'), ('R5', NULL, '1', '2026-10-01', 'Di');
CREATE TABLE ontology.floor (site VARCHAR, least VARCHAR);
INSERT INTO ontology.floor VALUES ('north', '30'), ('south', '1'), ('south', '2');
"""
UNSEEN = "not every row of held_to that can have decided was recorded"


@pytest.mark.parametrize(
    ("monitor", "reproduced", "gone"),
    [
        ("clock", 2, ()),
        ("unit", 4, ()),
        ("counted", 4, ()),
        ("absent", 1, ("1 member: whether a row of held_to matched was not recorded",)),
        ("every", 3, (f"1 member: {UNSEEN}",)),
        ("masked", 0, ("1 member: values that the condition names are masked",)),
        ("grouped", 5, ()),
    ],
)
def test_what_was_recorded_tells_what_it_can_and_the_data_tells_the_rest(
    tmp_path: Path, monitor: str, reproduced: int, gone: tuple[str, ...]
) -> None:
    store, warehouse = migrated_store(tmp_path), a_warehouse(tmp_path, world=WIDE_WORLD)
    evaluate(warehouse, store, monitors=WIDE_MONITORS, contract=WIDE)
    made = replay(store, warehouse, monitor)
    assert made.rejudge is not None
    assert made.rerun is not None
    assert made.rejudge.members == {"reproduced": reproduced, "inputs_gone": int(bool(gone)), "diverged": 0}
    assert made.rejudge.told == gone
    assert made.rejudge.result is (ReplayResult.INPUTS_GONE if gone else ReplayResult.REPRODUCED)
    assert (made.rerun.result, made.rerun.told, made.result) == (ReplayResult.REPRODUCED, (), ReplayResult.REPRODUCED)
    warehouse.unlink()
    assert replay(store, warehouse, monitor).result is made.rejudge.result, "nothing else is left to go by"


def test_each_text_is_published_once_and_before_what_needs_it(store: sa.Engine, warehouse: Path) -> None:
    evaluate(warehouse, store, monitors=MONITORS)
    with read_only(store).connect() as connection:
        found = list(entries(connection))
    kinds = [item.entry_type for item in found]
    assert kinds.count(EntryType.CONTRACT_PUBLISHED) == 1
    assert kinds.count(EntryType.DEFINITION_PUBLISHED) == 4
    published: set[str] = set()
    for item in found:
        if item.entry_type in (EntryType.CONTRACT_PUBLISHED, EntryType.DEFINITION_PUBLISHED):
            published.add(item.subject_id)
        if item.entry_type is EntryType.EVALUATION:
            assert {item.content()["definition_hash"], item.content()["contract"]["hash"]} <= published


def test_evaluations_are_named_by_id_or_by_entry(store: sa.Engine) -> None:
    with read_only(store).connect() as connection:
        wanted = ids(store)["a-own"]
        (seq,) = (item.seq for item in entries(connection) if item.subject_id == wanted)
        assert evaluation_named(connection, str(seq)) == evaluation_named(connection, wanted) == wanted
        assert set(latest_evaluations(connection, 9)) == set(ids(store).values())
        for name in ("1", "999", "nothing"):
            with pytest.raises(UsageError, match="is no evaluation"):
                evaluation_named(connection, name)
