"""What every command shares: the workspace, the output, and the two options that stand anywhere."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec
from zoneinfo import ZoneInfo

import click

from cli.output import Output
from trivet.clock import Clock, SystemClock
from trivet.errors import UsageError
from trivet.findings import did_you_mean

if TYPE_CHECKING:
    from monitors.definition import MonitorDefinition
    from worker.bootstrap import Wiring
    from worker.workspace import Workspace

P = ParamSpec("P")


@dataclass
class Invocation:
    """One run of the command."""

    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    clock: Clock = field(default_factory=SystemClock)
    output: Output = field(default_factory=Output)
    directory: Path | None = None
    has_begun: bool = False
    """Whether the command itself was called, and not only its help."""

    @property
    def path(self) -> Path:
        """The workspace: `-C`, else TRIVET_WORKSPACE, else the current directory."""
        chosen = self.directory or Path(self.environment.get("TRIVET_WORKSPACE") or ".")
        if not chosen.is_dir():
            raise UsageError(f"there is no directory '{chosen}'; `trivet init {chosen}` makes a workspace")
        return chosen

    def workspace(self) -> Workspace:
        """The workspace's files, read and checked."""
        # Most of what the program consists of: not for a command that reads no workspace.
        from worker.workspace import read_workspace

        return read_workspace(self.path, self.environment)

    def instant(self, at: str | None, zone: str, option: str = "--at") -> datetime:
        """The instant that an option names, read in `zone` where it has no offset; the present without one.

        Raises:
            UsageError: it is no time, or in a year that cannot be evaluated for.
        """
        if at is None:
            return self.clock.now()
        try:
            named = datetime.fromisoformat(at)
        except ValueError:
            advice = "write 2026-11-30T06:00 or 2026-11-30T06:00+11:00"
            raise UsageError(f"{option}: '{at}' is no time; {advice}") from None
        if not 1 < named.year < 9999:
            # The first and last years have instants that no other time zone can write.
            raise UsageError(f"{option}: '{at}' is out of range; the years 2 to 9998 can be evaluated for")
        return named if named.tzinfo else named.replace(tzinfo=ZoneInfo(zone))

    def wiring(self, workspace: Workspace | None = None) -> Wiring:
        """The parts built from the workspace's settings."""
        from worker.bootstrap import Wiring

        read = workspace or self.workspace()
        return Wiring(read.path, read.require_settings(), self.environment, self.clock)


def find_monitors(known: tuple[MonitorDefinition, ...], wanted: tuple[str, ...]) -> list[MonitorDefinition]:
    """The monitors of those ids, or every enabled one where none is named.

    Raises:
        UsageError: an id is unknown, or no monitor is there.
    """
    if not wanted:
        enabled = [item for item in known if item.enabled]
        if not enabled:
            raise UsageError("no monitor is enabled in monitors/*.yaml")
        return enabled
    by_id = {item.id: item for item in known}
    for name in wanted:
        if name not in by_id:
            raise UsageError(f"there is no monitor '{name}'{did_you_mean(name, by_id)}")
    return [by_id[name] for name in dict.fromkeys(wanted)]


def command(function: Callable[Concatenate[Invocation, P], int | None]) -> Callable[P, int | None]:
    """Gives a command `-C` and `--json`, and the invocation as its first argument."""

    @click.option("-C", "directory", type=click.Path(path_type=Path), help="The workspace.", expose_value=True)
    @click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
    @click.pass_context
    @functools.wraps(function)
    def wrapped(context: click.Context, directory: Path | None, as_json: bool, *args: Any, **kwargs: Any) -> Any:
        invocation = context.find_object(Invocation)
        if invocation is None:
            raise LookupError("a command runs under the trivet group")
        if directory is not None:
            invocation.directory = directory
        if as_json:
            invocation.output.as_json = True
        invocation.has_begun = True
        return function(invocation, *args, **kwargs)

    return wrapped  # type: ignore[return-value]
