"""A reader that goes away, or a full disk behind the output: the exit code says what came of the work all the same."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from tests.acceptance.command import finish, start, trivet
from tests.acceptance.files import append_to, last_entry, rows_of

CODES = {
    "evaluate --json": 1,
    "evaluate hours-over-limits --json": 64,
    "monitors list": 0,
    "schema": 0,
    "--help": 0,
    "--version": 0,
    "evaluate --help": 0,
}


def unread(*arguments: str, at: Path) -> tuple[int, str]:
    """Exit code and standard error of a command whose standard output nobody reads."""
    process = start(*arguments, at=at, environment={"PYTHONUNBUFFERED": ""})
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    return process.wait(timeout=120), err


@pytest.mark.parametrize("line", CODES)
def test_a_command_that_nobody_reads_ends_as_it_would_have(workspace: Path, line: str) -> None:
    code, err = unread(*line.split(), at=workspace)
    assert code == CODES[line]
    assert ("Traceback" in err, "Broken pipe" in err, "BrokenPipeError" in err) == (False, False, False)


def test_every_monitor_is_evaluated_although_nobody_reads(workspace: Path) -> None:
    last = last_entry(workspace)
    assert unread("evaluate", at=workspace) == (1, "")
    assert last_entry(workspace) == last + 3


def test_an_alert_that_nobody_reads_is_not_taken_for_told(small: Path) -> None:
    append_to(small / "trivet.yaml", "receivers: {desk: {stdout: true}}\n")
    append_to(small / "monitors" / "example.yaml", "    notify: [desk]\n")
    code, err = unread("evaluate", at=small)
    problem = "the output cannot be written: Broken pipe; it may have arrived, and is not sent again"
    assert (code, err) == (1, f"alert for desk: reading-too-warm: {problem}\n")
    document = trivet("alerts", "show", "reading-too-warm", "--json", at=small).document
    assert [(item["state"], item["attempts"]) for item in document["deliveries"]] == [("unknown", 1)]
    assert len(rows_of(small)["evaluation"]) == 1


@pytest.mark.parametrize(("line", "unbuffered"), [("monitors list", ""), ("evaluate --dry-run --json", "1")])
def test_an_output_without_space_is_told(workspace: Path, line: str, unbuffered: str) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        process = start(*line.split(), at=workspace, environment={"PYTHONUNBUFFERED": unbuffered}, output=full)
        ended = finish(process)
    assert (ended.code, ended.err) == (69, f"{os.strerror(errno.ENOSPC)}\n")
