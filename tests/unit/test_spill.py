"""Folders for spilling: gone with their snapshot, and taken away by the next process where theirs was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from catalog.engines import spill
from catalog.engines.spill import PREFIX, spill_folder, sweep_spill

ROOT = Path(__file__).parents[2]
_HOLDS = """
import sys
from pathlib import Path
from catalog.engines.spill import spill_folder
with spill_folder(Path(sys.argv[1])) as folder:
    (folder / "block.tmp").write_bytes(bytes(1000))
    print(folder, flush=True)
    sys.stdin.read()
"""


def holder(parent: Path) -> tuple[subprocess.Popen[str], Path]:
    """Another process, and the folder that it has."""
    process = subprocess.Popen(
        [sys.executable, "-c", _HOLDS, str(parent)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_a_folder_is_gone_with_all_it_holds(tmp_path: Path) -> None:
    with spill_folder(tmp_path) as folder:
        (folder / "block.tmp").write_text("x")
        assert folder.parent == tmp_path
    assert list(tmp_path.iterdir()) == []


def test_it_is_gone_after_a_fault_too(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="fault"), spill_folder(tmp_path):
        raise ValueError("fault")
    assert list(tmp_path.iterdir()) == []


def test_it_is_in_the_systems_folder_where_none_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with spill_folder(None) as folder:
        assert folder.parent == tmp_path
    folder.mkdir()
    assert sweep_spill(None) == 1


def test_a_sweep_takes_what_a_killed_process_left_and_nothing_that_is_in_use(tmp_path: Path) -> None:
    dead, left = holder(tmp_path)
    alive, used = holder(tmp_path)
    try:
        dead.send_signal(signal.SIGKILL)
        dead.communicate()
        with spill_folder(tmp_path) as ours:
            assert sweep_spill(tmp_path) == 1
            assert sorted(tmp_path.iterdir()) == sorted([used, ours])
        assert not left.exists()
        assert (used / "block.tmp").exists()
    finally:
        alive.communicate("")
    assert sweep_spill(tmp_path) == 0


def test_a_sweep_takes_nothing_that_is_not_ours(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    for folder in (elsewhere, tmp_path / "place", tmp_path / "place" / "other-folder"):
        folder.mkdir()
        (folder / "kept").touch()
    place = tmp_path / "place"
    (place / f"{PREFIX}file").touch()
    (place / f"{PREFIX}link").symlink_to(elsewhere)
    before = sorted(place.rglob("*"))
    assert sweep_spill(place) == 0
    assert sorted(place.rglob("*")) == before
    assert (elsewhere / "kept").exists()


def test_a_folder_of_another_user_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / f"{PREFIX}theirs").mkdir()
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert sweep_spill(tmp_path) == 0
    monkeypatch.undo()
    assert sweep_spill(tmp_path) == 1


def test_a_place_that_is_not_there_has_nothing_to_be_swept(tmp_path: Path) -> None:
    assert sweep_spill(tmp_path / "nowhere") == 0


@pytest.mark.parametrize(("module", "step"), [(os, "open"), (spill, "_lock")])
def test_a_folder_that_was_swept_before_it_was_opened_or_locked_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: ModuleType, step: str
) -> None:
    swept: list[Path] = []
    real = getattr(module, step)

    def swept_first(*arguments: Any) -> Any:
        if not swept:
            swept.extend(tmp_path.iterdir())
            swept[0].rmdir()
        return real(*arguments)

    monkeypatch.setattr(module, step, swept_first)
    with spill_folder(tmp_path) as folder:
        assert folder.is_dir()
        assert [folder] != swept


def test_sweeping_all_the_time_takes_no_folder_that_another_process_makes(tmp_path: Path) -> None:
    stop = threading.Event()

    def sweep() -> None:
        while not stop.is_set():
            sweep_spill(tmp_path)

    sweeper = threading.Thread(target=sweep)
    sweeper.start()
    try:
        for _ in range(300):
            with spill_folder(tmp_path) as folder:
                (folder / "block.tmp").write_bytes(b"x")
    finally:
        stop.set()
        sweeper.join()
    assert not list(tmp_path.iterdir())
