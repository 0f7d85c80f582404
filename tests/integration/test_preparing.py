"""What is read before a process forks: once, of what is in force or is going to be, and with nothing left open."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import sqlalchemy as sa

from trivet.errors import InputError, UnavailableError
from trivet.settings import load_settings
from worker.bootstrap import Wiring
from worker.in_force import Definitions, InForce
from worker.preparing import prepare
from worker.watching import WatchedFiles
from worker.workspace import read_workspace

ROOT = Path(__file__).parents[2]
MONITORS = "monitors/example.yaml"


@pytest.fixture
def wiring(tmp_path: Path) -> Wiring:
    """The small example, of which nothing is in force yet."""
    path = Path(shutil.copytree(ROOT / "examples" / "empty", tmp_path / "workspace"))
    settings = load_settings(None, {}).settings
    assert settings is not None
    return Wiring(path, settings, {})


def edit(workspace: Path, old: str, new: str) -> None:
    file = workspace / MONITORS
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")


def in_force(wiring: Wiring, known: Definitions | None = None) -> Definitions:
    store = wiring.store()
    try:
        found = InForce(store, known).current()
    finally:
        store.dispose()
    assert found is not None
    return found


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name.startswith("worker.")]


def test_what_is_in_force_is_not_read_again_by_those_who_take_it_over(
    wiring: Wiring, monkeypatch: pytest.MonkeyPatch
) -> None:
    wiring.publish_first()
    prepared = wiring.prepared()
    assert prepared.known is not None
    monkeypatch.setattr("worker.in_force.read_definitions", None)
    assert in_force(wiring, prepared.known) is prepared.known


def test_where_nothing_is_in_force_yet_what_is_going_to_be_is_read(wiring: Wiring) -> None:
    known = wiring.prepared().known
    assert known is not None
    wiring.publish_first()
    found = in_force(wiring, known)
    assert (found.content, found.contract) == (known.content, known.contract)
    assert [item is before for item, before in zip(found.monitors, known.monitors, strict=True)] == [True]


def test_files_are_not_read_again_by_those_who_take_them_over(
    wiring: Wiring, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    wiring.publish_first()
    edit(wiring.path, "temperature > 5", "temperature > 4")
    prepared = wiring.prepared()
    differ = "the files differ from what is in force (changed reading-too-warm (breach_when)); run `trivet apply`"
    assert told(caplog) == [differ]
    monkeypatch.setattr("worker.watching.read_workspace", None)
    for _ in range(2):
        prepared.files.look(prepared.known)
    assert told(caplog) == [differ]


def test_files_are_read_again_once_they_changed(wiring: Wiring, caplog: pytest.LogCaptureFixture) -> None:
    wiring.publish_first()
    prepared = wiring.prepared()
    edit(wiring.path, "temperature > 5", "temprature > 5")
    prepared.files.look(prepared.known)
    (line,) = told(caplog)
    assert line.startswith("the files are at fault and have no effect: monitors/example.yaml")


def test_files_at_fault_are_refused_where_they_would_be_put_in_force(
    wiring: Wiring, caplog: pytest.LogCaptureFixture
) -> None:
    edit(wiring.path, "temperature > 5", "temprature > 5")
    with pytest.raises(InputError, match="temprature"):
        wiring.prepared()
    edit(wiring.path, "temprature > 5", "temperature > 5")
    wiring.publish_first()
    edit(wiring.path, "temperature > 5", "temprature > 5")
    assert wiring.prepared().known == in_force(wiring)
    (line,) = told(caplog)
    assert line.startswith("the files are at fault and have no effect")


def test_a_machine_may_have_the_settings_alone(wiring: Wiring, caplog: pytest.LogCaptureFixture) -> None:
    shutil.rmtree(wiring.path / "monitors")
    (wiring.path / "contract.yaml").unlink()
    assert not read_workspace(wiring.path, {}).defines_anything
    assert wiring.prepared().known is None
    assert told(caplog) == []


def test_a_store_that_cannot_be_read_is_left_to_those_who_need_it(
    wiring: Wiring, caplog: pytest.LogCaptureFixture
) -> None:
    def away() -> sa.Engine:
        raise UnavailableError("it is away")

    assert prepare(WatchedFiles(wiring.path, {}), away).known is None
    assert told(caplog) == ["what is in force cannot be read now, and is read by each process: it is away"]


def test_no_connection_is_left_for_a_fork_to_double(wiring: Wiring, any_store: sa.Engine) -> None:
    opened: list[object] = []
    closed: list[object] = []
    sa.event.listen(any_store, "connect", lambda connection, _: opened.append(connection))
    sa.event.listen(any_store, "close", lambda connection, _: closed.append(connection))
    any_store.dispose()
    closed.clear()
    prepare(WatchedFiles(wiring.path, {}), lambda: any_store)
    assert opened == closed
    assert opened
