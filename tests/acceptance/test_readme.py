"""What the README, the tutorial and the how-to guides show is what happens.

The commands of a page (lines that begin with `$ ` in its `console` blocks) run in order, in one new
directory. `# exit 1` behind a command is the exit code it must have; 0 where nothing is said. The
lines below a command must stand in its output one after the other; `...` leaves lines out. Blocks
with a title are saved under it before the next command.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.markdown import blocks

ROOT = Path(__file__).resolve().parents[2]
PAGES = (
    "README.md",
    "docs/tutorial.md",
    "docs/how-to/own-workspace.md",
    "docs/how-to/ask.md",
    "docs/how-to/changing-exports.md",
    "docs/how-to/test-a-monitor.md",
    "docs/how-to/own-history.md",
)

NOT_RUN_HERE = {
    "make test": "it is what runs this test",
    "make lint": "CI runs it beside the tests, and it would set up an environment anew",
    ". .venv/bin/activate": "the program and the interpreter of this environment are called by their paths",
}
STANDS_FOR = {"make demo": "trivet demo demo-workspace"}
"""What a make target runs once it has set up an environment; held against the Makefile below."""

EXIT_CODE = re.compile(r"\s+# exit (\d+)$")
VARYING = re.compile(
    r"\d{8}T\d{12}Z-[0-9a-f]{4}"  # generations
    r"|\b[0-9a-f]{16,64}\b"  # hashes and ids
    r"|\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})?"  # moments
    r"|\d+\.\d s\b"  # times taken
)


@dataclass
class Command:
    """One command of a page."""

    text: str
    exit_code: int
    output: list[str]
    """Lines that are shown below it."""
    line: int


@dataclass
class SavedFile:
    """A block that the reader is told to save."""

    path: str
    text: str


def read_steps(page: str) -> Iterator[Command | SavedFile]:
    for block in blocks(page):
        if block.title is not None:
            yield SavedFile(block.title, block.text)
        elif block.language == "console":
            yield from read_commands(block.text, block.line)


def read_commands(text: str, first_line: int) -> Iterator[Command]:
    command: Command | None = None
    for number, line in enumerate(text.splitlines(), start=first_line):
        if line.startswith("$ "):
            if command is not None:
                yield command
            code = EXIT_CODE.search(line)
            command = Command(EXIT_CODE.sub("", line[2:]), int(code[1]) if code else 0, [], number)
        else:
            assert command is not None, f"line {number}: output before any command"
            command.output.append(line)
    if command is not None:
        yield command


def program(name: str) -> list[str]:
    if name == "python":
        return [sys.executable]
    installed = Path(sys.executable).with_name("trivet")
    return [str(installed)] if installed.exists() else [sys.executable, "-c", "from cli.main import main; main()"]


def environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TRIVET_", "FORCE_"))}
    return kept | {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}


def normal(line: str) -> str:
    return " ".join(VARYING.sub("#", line).split())


def is_excerpt(shown: list[str], real: list[str]) -> bool:
    """Whether the shown lines follow each other in the real ones, but for gaps where `...` stands."""
    runs: list[list[str]] = [[]]
    for line in shown:
        if line == "...":
            runs.append([])
        elif line:
            runs[-1].append(line)
    start = 0
    for run in runs:
        places = (at for at in range(start, len(real) - len(run) + 1) if real[at : at + len(run)] == run)
        found = next(places, None)
        if found is None:
            return False
        start = found + len(run)
    return True


def run_command(command: Command, directory: Path) -> Path:
    """Runs one command, holds it against the page, and gives the directory that the next one runs in."""
    name, *arguments = shlex.split(STANDS_FOR.get(command.text, command.text))
    if name == "cd":
        return directory / arguments[0]
    assert name in ("trivet", "python"), f"line {command.line}: '{name}' is neither run nor excluded with a reason"
    done = subprocess.run(
        [*program(name), *arguments],
        cwd=directory,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    place = f"line {command.line}: {command.text}\n{done.stdout}"
    assert done.returncode == command.exit_code, place
    real = [line for line in map(normal, done.stdout.splitlines()) if line]
    shown = [normal(line) for line in command.output]
    assert is_excerpt(shown, real), f"{place}\nis not what the page shows:\n" + "\n".join(command.output)
    return directory


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_every_command_of_a_page_does_what_the_page_shows(page: str, tmp_path: Path) -> None:
    directory = tmp_path
    ran = 0
    for step in read_steps((ROOT / page).read_text("utf-8")):
        if isinstance(step, SavedFile):
            target = directory / step.path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(step.text, "utf-8")
        elif step.text not in NOT_RUN_HERE:
            directory = run_command(step, directory)
            ran += 1
    assert ran >= 5


def test_make_demo_runs_what_stands_for_it() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert "DEMO_DIR ?= demo-workspace\n" in makefile
    assert "\n\t$(BIN)/trivet demo $(DEMO_DIR)\n" in makefile


def test_every_exclusion_is_still_needed() -> None:
    commands = {
        step.text
        for page in PAGES
        for step in read_steps((ROOT / page).read_text("utf-8"))
        if isinstance(step, Command)
    }
    assert set(NOT_RUN_HERE) | set(STANDS_FOR) <= commands


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (["b", "c"], True),
        (["a", "c"], False),
        (["a", "...", "c"], True),
        (["c", "...", "a"], False),
        (["", "a"], True),
        (["d"], False),
        ([], True),
    ],
)
def test_an_excerpt_leaves_out_lines_only_where_it_says_so(shown: list[str], expected: bool) -> None:
    assert is_excerpt(shown, ["a", "b", "c"]) is expected


def test_what_differs_from_run_to_run_is_not_compared() -> None:
    first = "warehouse 20261130T061500123456Z-ab12 is in place (0.4 s)"
    second = "warehouse 20270101T000000000000Z-cd34 is in place (11.0 s)"
    assert normal(first) == normal(second)
    assert normal("4 breaches") != normal("5 breaches")
