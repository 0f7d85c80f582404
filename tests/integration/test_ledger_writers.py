"""Many processes that append at once, and processes that are killed while they do: the ledger stays whole."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import sqlalchemy as sa

from ledger.reading import entries
from ledger.verification.findings import Report
from ledger.verification.verify import verify_store
from tests.integration.servers import PostgresServer
from tests.integration.store import MIGRATIONS
from worker.migrating import upgrade_store
from worker.stores import open_store, read_only

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
WRITERS, EACH = 8, 500

# Appends entries in transactions of one to nine.
WRITER = """\
import random, sys
from ledger.append import Draft, append_all
from ledger.entries import EntryType
from worker.stores import open_store

url, name, total = sys.argv[1], sys.argv[2], int(sys.argv[3])
store, done, chance = open_store(url), 0, random.Random(name)
while done < total:
    count = min(chance.randint(1, 9), total - done)
    drafts = [Draft(EntryType.SILENCE, f"{name}-{done + n}", {"writer": name}) for n in range(count)]
    with store.begin() as connection:
        append_all(connection, drafts)
    done += count
store.dispose()
"""

# Records evaluations, each in a process of its own that is killed before its n-th statement; prints n and what it was
# about to run, until one comes to its end.
VICTIMS = """\
import os, signal, sys
import sqlalchemy as sa
from tests.integration.store import record_evaluation
from worker.stores import open_store

def victim(url, number):
    store, seen = open_store(url), []
    def about_to(statement):
        seen.append(statement)
        if len(seen) == number:
            print(number, " ".join(statement.split()[:3]), flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
    @sa.event.listens_for(store, "before_cursor_execute")
    def _(connection, cursor, statement, *rest):
        about_to(statement)
    @sa.event.listens_for(store, "commit")
    def _(connection):
        about_to("COMMIT")
    with store.begin() as connection:
        record_evaluation(connection, f"E{number}", slot=f"2026-01-{number:02}T06:00:00")
    about_to("(after the commit)")
    os._exit(0)

number, status = 0, 1
while status:
    number += 1
    child = os.fork()
    if child == 0:
        victim(sys.argv[1], number)
    _, status = os.waitpid(child, 0)
print("done", number, flush=True)
"""


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty store: each test runs once on SQLite and once on PostgreSQL."""
    if request.param == "sqlite":
        found = f"sqlite:///{tmp_path / 'trivet.db'}"
    else:
        server = request.getfixturevalue("postgres")
        assert isinstance(server, PostgresServer)
        found = server.new_database()
    engine = open_store(found)
    upgrade_store(engine, MIGRATIONS)
    engine.dispose()
    return found


def run(program: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def verified(engine: sa.Engine) -> Report:
    with read_only(engine).connect() as connection:
        return verify_store(connection)


def test_eight_processes_that_append_at_once_make_one_chain(url: str) -> None:
    writers = [run(WRITER, url, f"W{number}", EACH) for number in range(WRITERS)]
    said = [writer.communicate(timeout=600) for writer in writers]
    assert [writer.returncode for writer in writers] == [0] * WRITERS, said
    assert said == [("", "")] * WRITERS
    engine = open_store(url)
    report = verified(engine)
    assert (report.damage, report.entries) == ((), WRITERS * EACH)
    with read_only(engine).connect() as connection:
        found = [(item.seq, item.subject_id) for item in entries(connection)]
    assert [seq for seq, _ in found] == list(range(1, WRITERS * EACH + 1))
    for number in range(WRITERS):
        own = [subject for _, subject in found if subject.startswith(f"W{number}-")]
        assert own == [f"W{number}-{place}" for place in range(EACH)], "each writer's entries stand in its own order"
    engine.dispose()


def test_a_process_that_is_killed_between_any_two_statements_leaves_the_ledger_whole(url: str) -> None:
    victims = run(VICTIMS, url)
    out, err = victims.communicate(timeout=600)
    assert (victims.returncode, err) == (0, "")
    *killed, last = out.splitlines()
    points = [line.split(maxsplit=1)[1] for line in killed]
    for statement in ("INSERT INTO evaluation", "INSERT INTO member", "SELECT ledger_head.id, ledger_head.seq,"):
        assert statement in points
    for statement in ("INSERT INTO ledger_entry", "UPDATE ledger_head SET", "COMMIT", "(after the commit)"):
        assert statement in points
    survivors = [f"E{len(killed)}", f"E{len(killed) + 1}"]
    assert last == f"done {len(killed) + 1}"
    engine = open_store(url)
    with read_only(engine).connect() as connection:
        assert [item.subject_id for item in entries(connection)] == survivors, "after the commit, and unharmed"
    report = verified(engine)
    assert (report.damage, report.entries) == ((), 2)
    engine.dispose()
