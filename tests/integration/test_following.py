"""Members that were flagged are looked up on the data that was judged: compliant, held, or not there any more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
import sqlalchemy as sa

from alerts.keeping import flagged_members
from alerts.message import Message
from alerts.reading import alerts_of
from alerts.recording import apply_all, status_of
from alerts.rendering import body
from alerts.routing import Routing, Target
from alerts.states import AlertKind, AlertState
from alerts.tables import outbox
from alerts.wording import visible
from catalog.contract import Contract
from catalog.engines.duckdb_engine import DuckDBEngine
from catalog.engines.duckdb_fixture import FixtureEngine, FixtureTable
from catalog.engines.port import Engine
from ledger.entries import EntryType
from ledger.reading import entries
from ledger.verification.verify import verify_store
from monitors.evaluation import Evaluation, MissingKey
from tests.integration.store import migrated_store
from tests.integration.worlds import CONTRACT, NOW, a_contract, a_warehouse, some_monitors
from trivet.clock import FixedClock
from worker.evaluate import Evaluator, manual_slots, scheduled_slot
from worker.following import Looking
from worker.redacting import redact_member
from worker.stores import read_only

Rows = Sequence[Mapping[str, str | None]]
BASELINES = (Path(__file__).parents[1] / "cases" / "baselines" / "contract.yaml").read_text("utf-8")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[sa.Engine]:
    engine = migrated_store(tmp_path)
    yield engine
    engine.dispose()


@dataclass
class Watch:
    """Monitors that are evaluated hour by hour, each time on other rows."""

    store: sa.Engine
    monitors: str
    text: str = CONTRACT
    hour: int = 0
    last: dict[str, Evaluation] = field(default_factory=dict)
    first: Evaluation | None = None
    routing: Routing = field(default_factory=Routing)

    def take(self, readings: Rows, floors: Rows = ()) -> None:
        self.run(fixture(a_contract(self.text), {"ontology.reading": readings, "ontology.floor": floors}))

    def run(self, engine: Engine) -> None:
        contract, at = a_contract(self.text), NOW + timedelta(hours=self.hour)
        self.hour += 1
        move = partial(apply_all, routing=self.routing)
        evaluator = Evaluator(contract, engine, FixedClock(at), move)
        slots = manual_slots(some_monitors(contract, self.monitors), contract, at)
        found = [item.evaluation for item in evaluator.evaluate(slots, self.store)]
        self.last = {made.definition.id: made for made in found}
        self.first = self.first or found[0]

    def stands(self, monitor: str = "m") -> tuple[AlertState, AlertKind | None, dict[str, str]]:
        """State and kind of the alert, and the state of each member that is followed, by its key's values."""
        with read_only(self.store).connect() as connection:
            status = status_of(connection, monitor)
            found = flagged_members(connection, {monitor}).get(monitor, {})
        assert status is not None
        return status.state, status.kind, {key.split('"')[3]: item.now.value for key, item in found.items()}


def fixture(contract: Contract, tables: Mapping[str, Rows]) -> FixtureEngine:
    return FixtureEngine(
        {
            of.view: FixtureTable(dict.fromkeys(of.columns, "VARCHAR"), tables.get(of.view, ()))
            for of in contract.object_types
        }
    )


def reading(name: str, value: str | None, site: str = "north") -> dict[str, str | None]:
    return {"id": name, "site": site, "value": value}


FIRING, QUIET, BREACH, UNJUDGED = AlertState.FIRING, AlertState.QUIET, AlertKind.BREACH, AlertKind.UNJUDGED
OWN = "monitors: [{id: m, object: reading, breach_when: value < 0}]"
TOLD = "monitors: [{id: m, object: reading, breach_when: value < 0, notify: [desk]}]"
LINKED = "monitors: [{id: m, object: reading, breach_when: value < held_to.least}]"
GROUPED = "monitors: [{id: m, object: reading, group_by: [site], breach_when: max(value) < 0}]"
HELD = "monitors: [{id: m, object: reading, breach_when: value < 0, recover_when: value > 5}]"


def test_a_member_that_was_judged_compliant_is_let_go(store: sa.Engine) -> None:
    watch = Watch(store, OWN)
    watch.take([reading("R1", "-1"), reading("R2", "1")])
    assert watch.stands() == (FIRING, BREACH, {"R1": "breach"})
    watch.take([reading("R1", "1"), reading("R2", "1")])
    assert watch.stands() == (QUIET, None, {})


def test_a_member_that_is_not_there_any_more_is_carried(store: sa.Engine) -> None:
    watch = Watch(store, OWN)
    watch.take([reading("R1", "-1"), reading("R2", "1")])
    watch.take([reading("R2", "1")])
    assert watch.stands() == (FIRING, UNJUDGED, {"R1": "gone"})
    watch.take([reading("R2", "1"), reading("R3", "-1")])
    assert watch.stands() == (FIRING, BREACH, {"R1": "gone", "R3": "breach"})
    watch.take([reading("R1", "2"), reading("R2", "1"), reading("R3", "1")])
    assert watch.stands() == (QUIET, None, {})


def test_the_deleted_floor_of_a_breached_member_resolves_nothing(store: sa.Engine) -> None:
    watch = Watch(store, LINKED)
    rows = [reading("R1", "1"), reading("R2", "9", "south")]
    watch.take(rows, [{"site": "north", "least": "3"}, {"site": "south", "least": "3"}])
    assert watch.stands() == (FIRING, BREACH, {"R1": "breach"})
    watch.take(rows, [{"site": "south", "least": "3"}])
    assert watch.stands() == (FIRING, UNJUDGED, {"R1": "no_data"})
    assert watch.last["m"].badge == "0 breaches / 1 no-data"


def test_one_missing_row_is_told_once_for_all_who_wait_for_it(store: sa.Engine) -> None:
    watch = Watch(store, LINKED)
    rows = [reading("R1", "1", "east"), reading("R2", "2", "west"), reading("R3", "9", "east"), reading("R4", "9")]
    watch.take([*rows, reading("R5", "9", ""), reading("R6", "")], [{"site": "north", "least": "3"}])
    assert watch.last["m"].missing_keys == (
        MissingKey("held_to", "floor", {"site": "east"}, 2),
        MissingKey("held_to", "floor", {"site": "west"}, 1),
    )
    with read_only(store).connect() as connection:
        (named,) = alerts_of(connection)
    assert named.message is not None
    lines = body(named.message, visible).splitlines()
    assert "- floor has none for site east: 2 members" in lines
    assert "- floor has none for site west: 1 member" in lines


def test_a_member_that_left_the_scope_is_carried(store: sa.Engine) -> None:
    scoped = OWN.replace("breach_when", "where: site = 'north', breach_when")
    watch = Watch(store, scoped)
    watch.take([reading("R1", "-1"), reading("R2", "1")])
    watch.take([reading("R1", "-1", "south"), reading("R2", "1")])
    assert watch.stands() == (FIRING, UNJUDGED, {"R1": "gone"})


def test_compliant_is_not_recovered_where_the_monitor_asks_for_more(store: sa.Engine) -> None:
    watch = Watch(store, HELD)
    watch.take([reading("R1", "-1"), reading("R2", "1")])
    watch.take([reading("R1", "3"), reading("R2", "1")])
    assert watch.stands() == (FIRING, BREACH, {"R1": "held"})
    watch.take([reading("R1", "6"), reading("R2", "1")])
    assert watch.stands() == (QUIET, None, {})


def test_groups_are_members(store: sa.Engine) -> None:
    watch = Watch(store, GROUPED)
    watch.take([reading("R1", "-1"), reading("R2", "1", "south")])
    assert watch.stands() == (FIRING, BREACH, {"north": "breach"})
    watch.take([reading("R2", "1", "south")])
    assert watch.stands() == (FIRING, UNJUDGED, {"north": "gone"})
    watch.take([reading("R1", "1"), reading("R2", "1", "south")])
    assert watch.stands() == (QUIET, None, {})


def test_groups_that_are_held_against_their_own_history_are_members(store: sa.Engine) -> None:
    rule = "usual: {of: count(), statistic: mean, last: 2, min_history: 2}"
    grouped = f"object: reading, group_by: [site], baselines: {{{rule}}}"
    watch = Watch(store, f"monitors: [{{id: m, {grouped}, breach_when: count() < baseline.usual}}]", BASELINES)
    for north in (4, 4, 1, 4):
        sites = ["north"] * north + ["south"] * 3
        watch.take([{"id": f"R{number}", "site": site} for number, site in enumerate(sites)])
        if watch.hour == 3:
            assert watch.stands() == (FIRING, BREACH, {"north": "breach"})
    assert watch.stands() == (QUIET, None, {})


def test_monitors_that_share_a_pass_follow_their_own_members(store: sa.Engine, tmp_path: Path) -> None:
    each = [f"  - {{id: m{number}, object: reading, breach_when: value < {number}}}" for number in range(5)]
    monitors = "\n".join(["monitors:", *each])
    watch = Watch(store, monitors)
    for name, changes in (("a", []), ("b", ["UPDATE raw.reading SET value = '9' WHERE id = 'R2'"])):
        (tmp_path / name).mkdir()
        watch.run(DuckDBEngine(a_warehouse(tmp_path / name, "DELETE FROM raw.reading WHERE value = ''", *changes)))
        if name == "a":
            assert watch.stands("m0") == (FIRING, BREACH, {"R2": "breach"})
    assert [watch.stands(f"m{number}")[0] for number in range(5)] == [QUIET] * 5


def test_slots_of_one_batch_follow_each_other(store: sa.Engine) -> None:
    contract = a_contract()
    (definition,) = some_monitors(contract, OWN)
    engine = fixture(contract, {"ontology.reading": [reading("R1", "-1")]})
    clock = FixedClock(NOW + timedelta(hours=9))
    evaluator = Evaluator(contract, engine, clock, partial(apply_all, routing=Routing()))
    slots = [scheduled_slot(definition, NOW + timedelta(hours=hour)) for hour in range(3)]
    made = [item.evaluation for item in evaluator.evaluate(slots, store)]
    assert [item.badge for item in made] == ["1 breach / 0 no-data"] * 3
    assert Watch(store, OWN).stands() == (FIRING, BREACH, {"R1": "breach"})


def test_a_look_that_fails_is_no_evidence(store: sa.Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    watch = Watch(store, OWN)
    watch.take([reading("R1", "-1"), reading("R2", "1")])

    def fails(*_: object) -> frozenset[str]:
        raise ValueError("no")

    with monkeypatch.context() as patched:
        patched.setattr(Looking, "_keys_where", fails)
        watch.take([reading("R1", "1"), reading("R2", "1")])
    assert watch.stands() == (FIRING, UNJUDGED, {"R1": "breach"})
    watch.take([reading("R1", "1"), reading("R2", "1")])
    assert watch.stands() == (QUIET, None, {})


def test_a_row_from_before_members_were_followed_is_cleared_as_a_whole(store: sa.Engine) -> None:
    watch = Watch(store, OWN)
    watch.take([reading("R1", "-1"), reading("R2", "1")])
    with store.begin() as connection:
        connection.execute(sa.text("UPDATE alert SET detail = NULL, message = NULL"))
        connection.execute(sa.text("UPDATE alert_member SET state = 'compliant', breached = 0"))
    watch.take([reading("R1", ""), reading("R2", "1")])
    assert watch.stands()[:2] == (FIRING, UNJUDGED)
    watch.take([reading("R1", "1"), reading("R2", "1")])
    assert watch.stands()[:2] == (QUIET, None)


def test_moves_are_counted_and_bound_by_the_ledger(store: sa.Engine) -> None:
    watch = Watch(store, OWN)
    watch.take([reading("R1", "-1"), reading("R2", ""), reading("R3", "1")])
    watch.take([reading("R1", "-1"), reading("R2", ""), reading("R3", "1")])
    watch.take([reading("R2", "-1"), reading("R3", "")])
    with read_only(store).connect() as connection:
        found = [item.content() for item in entries(connection, entry_type=EntryType.MEMBER_CHANGES)]
        assert verify_store(connection).damage == ()
    assert [item["moves"] for item in found] == [
        {"new > breach": 1, "new > no_data": 1},
        {"breach > gone": 1, "new > no_data": 1, "no_data > breach": 1},
    ]
    with store.begin() as connection, pytest.raises(sa.exc.DBAPIError, match="append-only"):
        connection.execute(sa.text("UPDATE member_change SET state = 'compliant'"))


def test_who_is_erased_is_not_named_by_an_alert_any_more(store: sa.Engine, tmp_path: Path) -> None:
    watch = Watch(store, OWN)
    watch.take([reading("SECRET-1", "-1"), reading("R2", "1")])
    redact_member(store, watch.last["m"].evaluation_id, 1, "ana", "asked for it", NOW)
    with read_only(store).connect() as connection:
        assert verify_store(connection).damage == ()
        for table in ("alert", "alert_member", "member_change", "member", "outbox"):
            rows = connection.execute(sa.text(f"SELECT * FROM {table}")).all()
            assert "SECRET-1" not in str(rows), table
    assert watch.stands()[:2] == (FIRING, BREACH)
    watch.take([reading("R2", "")])
    assert watch.stands()[:2] == (FIRING, UNJUDGED)
    watch.take([reading("R2", "1")])
    assert watch.stands()[:2] == (QUIET, None)


def test_who_is_erased_is_not_named_as_gone_by_a_message_that_was_sent(store: sa.Engine) -> None:
    """The evaluation by which the member vanished does not list it; its message names it."""
    watch = Watch(store, TOLD, routing=Routing({"desk": (Target("desk"),)}))
    watch.take([reading("SECRET-1", "-1"), reading("R2", "-1")])
    listed = watch.last["m"].evaluation_id
    watch.take([reading("R2", "-1")])
    with store.begin() as connection:
        ((payload,),) = connection.execute(sa.select(outbox.c.payload).where(outbox.c.event == "changed"))
        assert Message.from_json(payload).newly_unjudged_keys == ({"id": "SECRET-1"},)
        connection.execute(sa.update(outbox).values(state="delivered"))
    assert watch.first is not None
    ordinal = [item.key["id"] for item in watch.first.breached].index("SECRET-1") + 1
    assert redact_member(store, listed, ordinal, "ana", "asked for it", NOW).messages == 2
    with read_only(store).connect() as connection:
        assert "SECRET-1" not in str(connection.execute(sa.select(outbox)).all())
        assert verify_store(connection).damage == ()


def test_a_dry_run_follows_nobody(store: sa.Engine) -> None:
    contract = a_contract()
    (definition,) = some_monitors(contract, OWN)
    engine = fixture(contract, {"ontology.reading": [reading("R1", "-1")]})
    evaluator = Evaluator(contract, engine, FixedClock(NOW))
    (made,) = evaluator.evaluate(manual_slots([replace(definition)], contract, NOW), None)
    assert made.ledger_seq is None
    with read_only(store).connect() as connection:
        assert status_of(connection, "m") is None
