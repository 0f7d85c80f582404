"""`trivet apply` is whole or nothing, whenever its process ends and however many there are at one time."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from ledger.entries import EntryType
from ledger.reading import entries
from ledger.verification.verify import verify_store
from tests.acceptance.command import finish, start, trivet
from tests.acceptance.daemons import opened, rows
from tests.acceptance.files import replace_in
from tests.integration.servers import PostgresServer, postgres
from tests.integration.store import MIGRATIONS
from worker.in_force import Definitions, InForce
from worker.migrating import upgrade_store
from worker.stores import read_only
from worker.tables import watermark

__all__ = ["postgres"]

pytestmark = pytest.mark.slow

# The command, whose process ends by itself at the first call of a function: before or after what that does.
DYING = """\
import importlib, os, signal, sys
module, name, when = sys.argv[1:4]
del sys.argv[1:4]
module = importlib.import_module(module)
real = getattr(module, name)
def dying(*arguments, **named):
    if when == "after":
        real(*arguments, **named)
    os.kill(os.getpid(), signal.SIGKILL)
setattr(module, name, dying)
from cli.main import main
sys.argv[0] = "trivet"
main()
"""

KILLED = {
    "once it has planned by what was in force": ("worker.applying", "all_watermarks", "before"),
    "once it holds the watermarks": ("worker.applying", "all_watermarks", "after"),
    "between the watermarks and the ledger": ("worker.applying", "begin_watermarks", "after"),
    "before the entry": ("worker.applying", "append_all", "before"),
    "after the entry and before the commit": ("worker.applying", "append_all", "after"),
}


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, small: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A store of either kind, with the small workspace in force."""
    found = f"sqlite:///{small / 'trivet.db'}"
    if request.param == "postgresql":
        server: PostgresServer = request.getfixturevalue("postgres")
        found = server.new_database()
    monkeypatch.setenv("TRIVET_STORE__URL", found)
    with opened(found) as store:
        upgrade_store(store, MIGRATIONS)
    assert trivet("apply", at=small).code == 0
    return found


def killed_at(call: tuple[str, str, str], workspace: Path, url: str) -> None:
    """Applies, and is killed at a call."""
    process = start(*call, "apply", at=workspace, entry=DYING, environment={"TRIVET_STORE__URL": url})
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out, err) == (-signal.SIGKILL, "", "")


def edit_all(workspace: Path) -> None:
    """A change of the contract, of a monitor, and a monitor more: in three files."""
    replace_in(workspace / "contract.yaml", "version: 0.1.0", "version: 0.2.0")
    replace_in(workspace / "monitors" / "example.yaml", "every: 1h", "every: 2h")
    text = "monitors: [{id: second, object: reading, breach_when: temperature < 0, schedule: {every: 1h}}]\n"
    (workspace / "monitors" / "second.yaml").write_text(text, "utf-8")


def in_force(store: sa.Engine) -> Definitions:
    found = InForce(store).current()
    assert found is not None
    return found


def publications(store: sa.Engine) -> list[Any]:
    with read_only(store).connect() as connection:
        assert verify_store(connection).damage == ()
        return [item.content() for item in entries(connection, entry_type=EntryType.PUBLICATION)]


def assert_the_files_are_in_force(store: sa.Engine) -> None:
    found = in_force(store)
    assert (found.contract.version, [item.id for item in found.monitors]) == ("0.2.0", ["reading-too-warm", "second"])
    assert sorted(row["monitor"] for row in rows(store, watermark)) == ["reading-too-warm", "second"]


@pytest.mark.parametrize("when", KILLED)
def test_one_that_is_killed_before_it_commits_leaves_all_as_it_was(when: str, small: Path, url: str) -> None:
    with opened(url) as store:
        before, marks = in_force(store), rows(store, watermark)
        edit_all(small)
        killed_at(KILLED[when], small, url)
        after = in_force(store)
        assert (after.seq, after.content) == (before.seq, before.content)
        # It may have planned, which is no part of publishing; it began no monitor and judges none otherwise.
        kept = ("monitor", "definition_hash", "contract_hash")
        planned = [[row[name] for name in kept] for row in rows(store, watermark)]
        assert [row[0] for row in planned] == [row["monitor"] for row in marks]
        assert {row[1] for row in planned} <= {None, before.monitors[0].definition_hash}
        assert len(publications(store)) == 1
        assert trivet("apply", at=small).code == 0
        assert_the_files_are_in_force(store)
        assert [item["previous"] for item in publications(store)] == [None, before.seq]


def test_one_that_is_killed_once_it_committed_leaves_the_files_in_force(small: Path, url: str) -> None:
    edit_all(small)
    killed_at(("cli.apply", "_tell", "before"), small, url)
    with opened(url) as store:
        assert_the_files_are_in_force(store)
        again = trivet("apply", at=small)
        assert (again.code, again.out) == (0, f"nothing changed: ledger entry {in_force(store).seq} is in force\n")
        assert len(publications(store)) == 2


def test_of_several_at_once_one_publishes(small: Path, url: str) -> None:
    edit_all(small)
    environment = {"TRIVET_STORE__URL": url}
    together = [start("apply", "--json", at=small, environment=environment) for _ in range(3)]
    told = [finish(process) for process in together]
    assert [item.code for item in told] == [0, 0, 0]
    assert sorted(item.document["published"] for item in told) == [False, False, True]
    with opened(url) as store:
        assert {item.document["ledger_seq"] for item in told} == {in_force(store).seq}
        assert len(publications(store)) == 2
        assert_the_files_are_in_force(store)
