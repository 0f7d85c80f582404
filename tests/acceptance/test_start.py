"""The command starts with what it needs: none pays for what the others import."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from cli.lazy import LazyCommands
from cli.main import trivet
from tests.acceptance.command import finish, start

_PROGRAM = "import sys; from cli.main import run; code = run(sys.argv[1:]); print(*sys.modules); sys.exit(code)"
HEAVY = {"alembic", "apprise", "celery", "duckdb", "httpx", "lark", "pydantic", "sqlalchemy", "sqlglot"}
NEEDED: dict[str, set[str]] = {
    "--version": set(),
    "init new": {"pydantic"},
    "schema settings": {"lark", "pydantic"},
}


@pytest.mark.parametrize("line", NEEDED)
def test_a_command_imports_only_what_it_needs(tmp_path: Path, line: str) -> None:
    ended = finish(start(*line.split(), at=tmp_path, entry=_PROGRAM))
    assert (ended.code, ended.err) == (0, "")
    assert HEAVY & set(ended.out.splitlines()[-1].split()) <= NEEDED[line]


def test_every_command_is_found_under_its_own_name() -> None:
    assert isinstance(trivet.commands, LazyCommands)
    assert {name: command.name for name, command in trivet.commands.items()} == {name: name for name in trivet.commands}


def test_a_command_can_be_added_and_taken_away() -> None:
    commands = LazyCommands({"init": "cli.init:init"})
    commands["other"] = click.Command("other")
    assert (list(commands), commands["other"].name) == (["init", "other"], "other")
    del commands["other"]
    assert (len(commands), "other" in commands, commands["init"].name) == (1, False, "init")
