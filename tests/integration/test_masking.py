"""A restricted property that monitors may use: its values are judged, and shown nowhere."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from alerts.recording import apply_all
from alerts.routing import routing_of
from catalog.engines.duckdb_engine import DuckDBEngine
from monitors.evaluation import Counts, Evaluation, NotMade
from monitors.masking import Mask
from tests.integration.store import migrated_store
from tests.integration.worlds import NOW, a_contract, a_warehouse, assert_verifies, rows, some_monitors
from trivet.clock import FixedClock
from trivet.settings import Settings
from trivet.verdicts import NotMadeReason, Reason
from worker.evaluate import Evaluator, manual_slots
from worker.masking import mask_of
from worker.tables import member, secret

NUMBERS = {"R1": "918273641", "R2": "564738291", "R3": "192837465", "R4": "see note 998877"}
"""Tax file numbers; no other text of the world has their digits."""
PAID = ("77123.45", "88123.45", "99123.45")

CONTRACT = """\
contract: {id: world, version: 1.0.0}
object_types:
  - name: person
    view: ontology.person
    primary_key: [number]
    provenance: {document: doc, row: line}
    properties:
      - {name: number, type: integer, sensitivity: restricted, monitor: masked}
      - {name: salary, type: "decimal(12,2)", sensitivity: restricted, monitor: masked}
      - {name: level, type: text}
  - name: level
    view: ontology.level
    primary_key: [level]
    properties:
      - {name: level, type: text}
      - {name: most, type: "decimal(12,2)", sensitivity: restricted, monitor: masked}
link_types:
  - name: held_to
    from: {object: person, keys: [level]}
    to: {object: level, keys: [level]}
    cardinality: many_to_one
"""
MONITORS = """\
monitors:
  - {id: paid-too-much, object: person, breach_when: salary > held_to.most}
  - {id: numbered, object: person, breach_when: number > 0 and length(level) > 0}
"""
WORLD = f"""\
CREATE SCHEMA ontology;
CREATE TABLE ontology.person (number VARCHAR, salary VARCHAR, level VARCHAR, doc VARCHAR, line BIGINT);
INSERT INTO ontology.person VALUES
    ('{NUMBERS["R1"]}', '{PAID[0]}', 'A', 'p.csv', 2), ('{NUMBERS["R2"]}', '{PAID[1]}', 'A', 'p.csv', 3),
    ('{NUMBERS["R3"]}', 'about {PAID[2]}', 'A', 'p.csv', 4), ('{NUMBERS["R4"]}', '1', 'A', 'p.csv', 5),
    (NULL, '{PAID[0]}', 'A', 'p.csv', 6);
CREATE TABLE ontology.level (level VARCHAR, most VARCHAR);
INSERT INTO ontology.level VALUES ('A', '66123.45');
"""
HIDDEN = ("918273641", "564738291", "192837465", "998877", "77123.45", "88123.45", "99123.45", "66123.45")
KNOWN = a_contract(CONTRACT)


@pytest.fixture
def store(tmp_path: Path) -> sa.Engine:
    return migrated_store(tmp_path)


def evaluate(folder: Path, store: sa.Engine | None) -> dict[str, Evaluation]:
    """Both monitors, with their alerts; what each came to, by its id."""
    routing = routing_of(Settings())
    evaluator = Evaluator(
        KNOWN,
        DuckDBEngine(folder / "warehouse.duckdb"),
        FixedClock(NOW),
        lambda connection, made: apply_all(connection, made, routing),
    )
    slots = manual_slots(some_monitors(KNOWN, MONITORS), KNOWN, NOW)
    return {item.evaluation.definition.id: item.evaluation for item in evaluator.evaluate(slots, store)}


def everything(folder: Path) -> bytes:
    """All bytes that the store has on disk."""
    return b"".join(path.read_bytes() for path in sorted(folder.glob("trivet.db*")))


def test_members_are_judged_by_values_that_nobody_sees(tmp_path: Path, store: sa.Engine) -> None:
    a_warehouse(tmp_path, world=WORLD)
    found = evaluate(tmp_path, store)
    paid = found["paid-too-much"]
    assert isinstance(paid.outcome, Counts)
    assert (paid.outcome.breach, paid.outcome.no_data, paid.outcome.compliant) == (3, 1, 1)
    mask = mask_of(store)
    keys = {name: mask.key("person", "number", number) for name, number in NUMBERS.items()}
    assert {item.key["number"] for item in paid.breached} == {None, keys["R1"], keys["R2"]}
    assert {json.dumps(dict(item.operands)) for item in paid.breached} == {
        json.dumps({"salary": "masked", "held_to.most": "masked"})
    }
    (undecided,) = paid.undecided
    assert (undecided.reason, dict(undecided.causes)) == (Reason.LEFT_NULL, {"salary": ("not_castable",)})
    assert undecided.key == {"number": keys["R3"]}
    assert undecided.provenance[0] == {"of": "person", "document": "p.csv", "row": 4}
    numbered = found["numbered"]
    assert [item.operands["number"] for item in numbered.undecided] == [None, "masked"]
    assert_verifies(store, 6)


def test_members_are_listed_by_masked_key_and_not_by_the_value_behind_it(tmp_path: Path, store: sa.Engine) -> None:
    a_warehouse(tmp_path, world=WORLD)
    for made in evaluate(tmp_path, store).values():
        for listed in (made.breached, made.undecided):
            keys = [item.key["number"] for item in listed]
            assert keys == sorted(keys, key=lambda key: key or "")


def test_no_value_leaves_the_evaluator(tmp_path: Path, store: sa.Engine, caplog: pytest.LogCaptureFixture) -> None:
    a_warehouse(tmp_path, world=WORLD)
    caplog.set_level(logging.DEBUG)
    found = evaluate(tmp_path, store)
    stored = " ".join(str(value) for row in rows(store, member) for value in row.values())
    documents = json.dumps([made.to_json(1) for made in found.values()])
    with store.connect() as connection:
        tables = sa.inspect(connection).get_table_names()
        dump = [str(connection.execute(sa.text(f'SELECT * FROM "{name}"')).all()) for name in tables]
    store.dispose()
    said = (stored, documents, caplog.text, repr(found), *dump, everything(tmp_path).decode("latin-1"))
    for value in HIDDEN:
        assert not [text[:40] for text in said if value in text], value
    assert "masked" in documents
    assert "masked" in everything(tmp_path).decode("latin-1")


def test_a_key_is_masked_alike_in_every_evaluation_of_a_store_and_in_no_other(tmp_path: Path) -> None:
    a_warehouse(tmp_path, world=WORLD)
    stores = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        stores.append(migrated_store(tmp_path / name))
    first, again, other = (evaluate(tmp_path, of)["numbered"] for of in (stores[0], stores[0], stores[1]))
    keys = [[item.key["number"] for item in made.breached] for made in (first, again, other)]
    assert keys[0] == keys[1]
    assert not set(keys[0]) & set(keys[2])
    assert all(len(key or "") == 32 for key in keys[0])
    with stores[0].begin() as connection:
        assert connection.execute(sa.select(sa.func.count()).select_from(secret)).scalar() == 1


def test_a_dry_run_masks_too_and_writes_no_secret(tmp_path: Path, store: sa.Engine) -> None:
    a_warehouse(tmp_path, world=WORLD)
    found = evaluate(tmp_path, None)
    assert not [value for value in HIDDEN if value in json.dumps([made.to_json(None) for made in found.values()])]
    assert rows(store, secret) == []


def test_the_secret_stands_in_its_table_alone(tmp_path: Path, store: sa.Engine) -> None:
    a_warehouse(tmp_path, world=WORLD)
    found = evaluate(tmp_path, store)
    (kept,) = rows(store, secret)
    assert len(kept["value"]) == 32
    with store.connect() as connection:
        tables = [name for name in sa.inspect(connection).get_table_names() if name != "secret"]
        dump = "".join(str(connection.execute(sa.text(f'SELECT * FROM "{name}"')).all()) for name in tables)
    for text in (dump, repr(found), repr(mask_of(store))):
        assert kept["value"].hex() not in text
        assert repr(kept["value"]) not in text


def test_equal_values_of_two_properties_do_not_look_alike() -> None:
    mask = Mask(b"s" * 32)
    assert mask.key("person", "number", "1") == mask.key("person", "number", "1")
    elsewhere = [("person", "salary", "1"), ("level", "number", "1"), ("person", "number1", "")]
    others = {mask.key(*parts) for parts in elsewhere}
    assert mask.key("person", "number", "1") not in others
    assert len(others) == 3


@pytest.mark.parametrize("faulty", ["number", "salary"])
def test_an_engine_that_trips_over_a_value_is_not_quoted(
    faulty: str, tmp_path: Path, store: sa.Engine, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    columns = "*" if faulty == "salary" else "* REPLACE (CAST(number AS BIGINT) AS number)"
    columns = columns if faulty == "number" else "* REPLACE (CAST(salary AS DECIMAL(4,2)) AS salary)"
    a_warehouse(
        tmp_path,
        "ALTER TABLE ontology.person RENAME TO kept",
        f"CREATE VIEW ontology.person AS SELECT {columns} FROM ontology.kept",
        world=WORLD,
    )
    made = evaluate(tmp_path, store)["paid-too-much"]
    assert isinstance(made.outcome, NotMade)
    assert made.outcome.reason is NotMadeReason.ENGINE_ERROR
    assert made.outcome.message == "what is said of it is withheld, since the monitor reads masked properties"
    store.dispose()
    said: list[Any] = [caplog.text, repr(made), everything(tmp_path).decode("latin-1")]
    assert not [value for value in HIDDEN for text in said if value in text]
