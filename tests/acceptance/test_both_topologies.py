"""One fixture of monitors over the same slots, evaluated by the embedded daemon and by the whole topology.

What they write into their ledgers differs in when it was done, and in nothing else.
"""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from ledger.entries import EntryType
from ledger.reading import entries
from tests.acceptance.command import ROOT, finish, start, trivet
from tests.acceptance.daemons import QUICK, opened, rows, running, wait_for
from tests.integration.servers import PostgresServer, postgres, running_redis
from tests.integration.store import MIGRATIONS
from worker.migrating import upgrade_store
from worker.stores import read_only
from worker.tables import member

__all__ = ["postgres"]

pytestmark = pytest.mark.slow

DIFFERENT = {"started_at", "finished_at", "rows_root"}
"""Of an evaluation's entry. The root binds rows, in which the instants stand and what is hashed with each member."""
OF_MEMBERS = ("ordinal", "verdict", "member_key", "reason", "causes", "operands", "provenance", "partial")
MONITORS = {
    "turbidity-over-limit": "a linked bound",
    "turbidity-by-site-and-year": "groups that must exist",
    "readings-arrive": "freshness",
    "limited": "a link that must be there",
    "never-limited": "a link that must not be there",
}
MORE = """\
monitors:
  - {id: limited, object: water_quality_observation, breach_when: not exists(limited_by), schedule: {every: 4s}}
  - {id: never-limited, object: water_quality_observation, breach_when: count(limited_by) > 0, schedule: {every: 4s}}
"""


def workspace_of(folder: Path) -> Path:
    """The water example, each monitor due every four seconds."""
    made = Path(shutil.copytree(ROOT / "examples" / "water", folder))
    for file in (made / "monitors").glob("*.yaml"):
        lines = file.read_text("utf-8").splitlines()
        quick = ["    schedule: {every: 4s}" if line.strip().startswith("schedule:") else line for line in lines]
        file.write_text("\n".join([*quick, ""]), "utf-8")
    (made / "monitors" / "more.yaml").write_text(MORE, "utf-8")
    assert trivet("ingest", at=made).code == 0
    return made


def twin_of(workspace: Path, folder: Path) -> Path:
    """The same files, and the very same warehouse."""
    made = Path(shutil.copytree(workspace, folder))
    for file in workspace.glob("warehouse*.duckdb"):
        (made / file.name).unlink()
        os.link(file, made / file.name)
    return made


def payloads(store: sa.Engine) -> Mapping[tuple[str, str], Mapping[str, Any]]:
    """What the ledger says of each evaluation that was made, by monitor and slot."""
    with read_only(store).connect() as connection:
        found = [json.loads(entry.payload) for entry in entries(connection, entry_type=EntryType.EVALUATION)]
    return {(item["monitor_id"], item["scheduled_for"]): item for item in found if item["status"] == "completed"}


def members(store: sa.Engine) -> Mapping[str, list[tuple[Any, ...]]]:
    """The recorded members of each evaluation, without what is hashed with them."""
    found: dict[str, list[tuple[Any, ...]]] = {}
    for row in rows(store, member, member.c.ordinal):
        found.setdefault(row["evaluation_id"], []).append(tuple(row[name] for name in OF_MEMBERS))
    return found


def test_the_ledgers_of_both_differ_in_when_it_was_done_and_in_nothing_else(
    tmp_path: Path, postgres: PostgresServer
) -> None:
    embedded = workspace_of(tmp_path / "embedded")
    production = twin_of(embedded, tmp_path / "production")
    file, server = f"sqlite:///{embedded / 'trivet.db'}", postgres.new_database()
    with running_redis() as broker, opened(file) as one, opened(server) as other:
        celery = {"TRIVET_SCHEDULER__MODE": "celery", "TRIVET_SCHEDULER__BROKER": broker}
        environment = QUICK | celery | {"TRIVET_STORE__URL": server}
        for store in (one, other):
            upgrade_store(store, MIGRATIONS)
        published = finish(start("apply", at=production, environment=environment))
        assert published.code == 0, published.err
        with (
            running(embedded, "run", environment=QUICK) as daemon,
            running(production, "beat", environment=environment),
            running(production, "worker", environment=environment) as worker,
        ):
            wait_for(lambda: _least(one, other) >= 3, worker)
            assert daemon.poll() is None
        ours, theirs = payloads(one), payloads(other)
        both = sorted(ours.keys() & theirs.keys())
        assert {monitor for monitor, _ in both} == set(MONITORS)
        for key in both:
            different = {name for name in ours[key] if ours[key][name] != theirs[key].get(name)}
            assert different <= DIFFERENT, key
            assert ours[key].keys() == theirs[key].keys()
            assert ours[key]["counts"]["population"] > 0
        recorded, again = members(one), members(other)
        identities = [ours[key]["evaluation_id"] for key in both]
        assert sum(len(recorded.get(identity, ())) for identity in identities) > 0
        for identity in identities:
            assert recorded.get(identity) == again.get(identity)


def _least(one: sa.Engine, other: sa.Engine) -> int:
    """Of how many slots each monitor was evaluated by both."""
    both = Counter(monitor for monitor, _ in payloads(one).keys() & payloads(other).keys())
    return min(both[monitor] for monitor in MONITORS)
