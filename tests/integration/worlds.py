"""Small warehouses under one contract, whole or broken, and the evaluation of monitors over them.

A world is a `reading` view, each row linked by its site to a `floor` view. The monitors `a-own` and
`c-own` look at readings alone; `b-linked` compares them with their floor. All three are one batch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import sqlalchemy as sa

from catalog.contract import Contract
from catalog.engines.duckdb_engine import DuckDBEngine
from catalog.engines.port import Engine
from catalog.loading import load_contract
from ledger.entries import EntryType
from ledger.tables import ledger_entry
from ledger.verification.verify import verify_store
from monitors.definition import MonitorDefinition
from monitors.evaluation import Evaluation, NotMade
from monitors.loading import load_monitors
from trivet.clock import FixedClock
from trivet.documents import Document, read_yaml
from trivet.verdicts import EvaluationStatus, NotMadeReason, Verdict
from worker.evaluate import Evaluator, manual_slots
from worker.stores import read_only
from worker.tables import audit, evaluation, member

NOW = datetime(2026, 11, 30, 6, tzinfo=UTC)

CONTRACT = """\
contract: {id: world, version: 1.0.0, status: certified}
calendar: {time_zone: UTC}
object_types:
  - name: reading
    view: ontology.reading
    primary_key: [id]
    grain: one row per reading
    provenance: {document: doc, row: line}
    properties:
      - {name: id, type: text, role: identifier}
      - {name: site, type: text, role: dimension}
      - {name: value, type: integer, role: fact, additivity: non_additive}
  - name: floor
    view: ontology.floor
    primary_key: [site]
    grain: one row per site
    properties:
      - {name: site, type: text, role: identifier}
      - {name: least, type: integer, role: fact, additivity: non_additive}
link_types:
  - name: held_to
    from: {object: reading, keys: [site]}
    to: {object: floor, keys: [site]}
    cardinality: many_to_one
"""

MONITORS = """\
monitors:
  - {id: a-own, object: reading, breach_when: value < 0}
  - {id: b-linked, object: reading, breach_when: value < held_to.least}
  - {id: c-own, object: reading, breach_when: value > 100}
"""

WORLD = """\
CREATE SCHEMA raw;
CREATE SCHEMA ontology;
CREATE TABLE raw.reading (id VARCHAR, site VARCHAR, value VARCHAR, doc VARCHAR, line BIGINT);
INSERT INTO raw.reading VALUES
    ('R1', 'north', '5', 'r.csv', 2), ('R2', 'north', '-1', 'r.csv', 3), ('R3', 'south', '', 'r.csv', 4),
    ('R4', 'west', '7', 'r.csv', 5), ('R5', 'north', '150', 'r.csv', 6);
CREATE TABLE raw.floor (site VARCHAR, least VARCHAR);
INSERT INTO raw.floor VALUES ('north', '3'), ('south', '4');
CREATE VIEW ontology.reading AS SELECT * FROM raw.reading;
CREATE VIEW ontology.floor AS SELECT * FROM raw.floor;
"""

PUBLISHED = (EntryType.CONTRACT_PUBLISHED.value, EntryType.DEFINITION_PUBLISHED.value)
BADGES = {"a-own": "1 breach / 1 no-data", "b-linked": "1 breach / 2 no-data", "c-own": "1 breach / 1 no-data"}
"""What the monitors come to in a world that is whole."""


def _document(text: str, file: str) -> Document:
    result = read_yaml(text, file=file)
    assert result.document is not None, result.findings
    return result.document


def a_contract(text: str = CONTRACT) -> Contract:
    """The contract of the worlds, or another one."""
    result = load_contract([_document(text, "contract.yaml")])
    assert result.contract is not None, result.findings
    return result.contract


def some_monitors(contract: Contract, text: str = MONITORS) -> tuple[MonitorDefinition, ...]:
    """The monitors of the worlds, or others; whom they tell is not looked at."""
    result = load_monitors([_document(text, "monitors.yaml")], contract, None)
    assert not result.findings, result.findings
    return result.monitors


def a_warehouse(folder: Path, *changes: str, world: str = WORLD) -> Path:
    """A warehouse with the world in it, and what is then changed about it."""
    file = folder / "warehouse.duckdb"
    with duckdb.connect(str(file)) as connection:
        for statement in (world, *changes):
            connection.execute(statement)
        connection.execute("CHECKPOINT")
    return file


def evaluate(
    engine: Engine | Path,
    store: sa.Engine | None,
    *,
    monitors: str = MONITORS,
    contract: str = CONTRACT,
    timeouts: Mapping[str, timedelta] | None = None,
) -> dict[str, Evaluation]:
    """Evaluates the monitors as one batch; what each came to, by its id."""
    known = a_contract(contract)
    limits = timeouts or {}
    definitions = [replace(item, timeout=limits.get(item.id, item.timeout)) for item in some_monitors(known, monitors)]
    used = DuckDBEngine(engine) if isinstance(engine, Path) else engine
    evaluator = Evaluator(known, used, FixedClock(NOW))
    recorded = list(evaluator.evaluate(manual_slots(definitions, known, NOW), store))
    assert [item.ledger_seq is None for item in recorded] == [store is None] * len(definitions)
    return {item.evaluation.definition.id: item.evaluation for item in recorded}


def rows(store: sa.Engine, table: sa.Table) -> Sequence[sa.RowMapping]:
    """Every row of a table, in the order of its key."""
    with read_only(store).connect() as connection:
        return connection.execute(sa.select(table).order_by(*table.primary_key.columns)).mappings().all()


def stored(store: sa.Engine, made: Evaluation) -> tuple[sa.RowMapping, dict[str, Any], int]:
    """The row of an evaluation, its counts by verdict, and the number of its members."""
    with suppress(StopIteration):
        row = next(row for row in rows(store, evaluation) if row["evaluation_id"] == made.evaluation_id)
        counts = {r["verdict"]: r["count"] for r in rows(store, audit) if r["evaluation_id"] == made.evaluation_id}
        members = sum(r["evaluation_id"] == made.evaluation_id for r in rows(store, member))
        return row, counts, members
    raise AssertionError(f"evaluation {made.evaluation_id} is not in the store")


def assert_verifies(store: sa.Engine, entries: int) -> None:
    """The ledger has so many entries, besides the texts that it publishes, and no damage."""
    with read_only(store).connect() as connection:
        report = verify_store(connection)
        texts = sa.select(sa.func.count()).where(ledger_entry.c.entry_type.in_(PUBLISHED))
        published = connection.execute(texts).scalar_one()
    assert (report.damage, report.entries - published) == ((), entries)


def badges(found: dict[str, Evaluation]) -> dict[str, str | None]:
    """The badge of each evaluation."""
    return {name: made.badge for name, made in found.items()}


def assert_not_made(store: sa.Engine, made: Evaluation, reason: NotMadeReason, message: str) -> None:
    """The evaluation is no_data without counts, with its reason, and is written down so."""
    assert isinstance(made.outcome, NotMade)
    assert made.outcome.reason is reason
    assert made.outcome.message is not None
    assert message in made.outcome.message
    assert "\n" not in made.outcome.message
    assert (made.verdict, made.status, made.badge) == (Verdict.NO_DATA, EvaluationStatus.NOT_MADE, None)
    assert (made.breached, made.undecided) == ((), ())
    row, counts, members = stored(store, made)
    assert (row["status"], row["verdict"], row["reason"]) == ("not_made", "no_data", reason.value)
    names = ("population", "breach", "no_data", "compliant", "partial", "duplicate_keys", "unexpected")
    assert {row[name] for name in names} == {None}
    assert (counts, members) == ({"no_data": None}, 0)
