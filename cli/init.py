"""`trivet init`: a new workspace, small and commented or one of the examples."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import click

from cli.invocation import Invocation, command
from trivet.errors import UsageError
from trivet.exits import Exit
from worker.shipped import shipped

EXAMPLES = ("empty", "aruma", "water")
"""The workspaces that ship with the program."""
PRODUCTS = shutil.ignore_patterns("*.duckdb", "*.duckdb.wal", "trivet.db*", "__pycache__", ".warehouse*")
"""What a run leaves in a workspace, and a new one must not inherit."""


@click.command()
@click.argument("new", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--example", type=click.Choice(EXAMPLES), default=EXAMPLES[0], help="Copy this example, data and all.")
@command
def init(invocation: Invocation, new: Path, example: str) -> int:
    """Make a small, commented workspace in DIR, or copy an example."""
    copy_example(example, new)
    if invocation.output.as_json:
        invocation.output.document({"workspace": str(new)})
    here = f"trivet -C {shlex.quote(str(new))}"
    invocation.output.print(f"{new} is ready; look at {new}/contract.yaml, then:")
    invocation.output.print(f"  {here} check && {here} ingest && {here} evaluate")
    return Exit.FINE


def copy_example(name: str, target: Path) -> None:
    """Copies a shipped workspace to a directory that must be new or empty.

    Raises:
        UsageError: something is there already; nothing is overwritten.
    """
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(f"'{target}' is there already and not empty; nothing was changed")
    shutil.copytree(shipped("examples") / name, target, ignore=PRODUCTS, dirs_exist_ok=True)
