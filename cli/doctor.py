"""`trivet doctor`: what is reachable, and what is wrong."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator

import click
from rich.text import Text

from catalog.engines.port import EngineFault
from cli.invocation import Invocation, command
from cli.monitors_pause import paused_monitors
from cli.observing import (
    Observation,
    observe_addresses,
    observe_breakdowns,
    observe_broker,
    observe_space,
    observe_stack,
    observe_work,
)
from ledger.reading import head
from trivet import __version__
from trivet.errors import TrivetError
from trivet.exits import Exit
from worker.bootstrap import Wiring
from worker.in_force import InForce
from worker.stores import read_only
from worker.watching import difference
from worker.workspace import Workspace, read_workspace


@click.command()
@command
def doctor(invocation: Invocation) -> int:
    """Look at everything that an evaluation needs, and say what is wrong."""
    workspace = invocation.workspace()
    found = list(_observations(invocation, workspace))
    fine = all(item.fine for item in found)
    if invocation.output.as_json:
        rows = [{"what": item.what, "fine": item.fine, "message": item.message} for item in found]
        invocation.output.document({"fine": fine, "observations": rows})
    marks = {True: Text("fine", style="green"), False: Text("wrong", style="bold red")}
    invocation.output.table(["", "what", "found"], [(marks[item.fine], item.what, item.message) for item in found])
    return Exit.FINE if fine else Exit.CHECK_FAILED


def _observations(invocation: Invocation, workspace: Workspace) -> Iterator[Observation]:
    yield Observation("program", True, f"trivet {__version__} on Python {platform.python_version()}")
    faults = len(workspace.findings)
    files = f"{faults} fault{'' if faults == 1 else 's'}; `trivet check` lists them" if faults else "read and checked"
    yield Observation("files", not faults, files)
    if workspace.settings is None:
        return
    wiring = invocation.wiring(workspace)
    yield from _warehouse(wiring, workspace)
    yield _store(wiring)
    yield from _in_force(wiring)
    yield from _paused(wiring)
    yield from _checkpoints(wiring)
    yield from observe_work(wiring)
    yield from observe_broker(wiring)
    yield from observe_stack(wiring.path)
    yield from observe_addresses(wiring)
    yield from observe_breakdowns(wiring)
    yield from observe_space(wiring)


def _warehouse(wiring: Wiring, workspace: Workspace) -> Iterator[Observation]:
    engine = wiring.engine()
    try:
        with engine.snapshot() as snapshot:
            generation = snapshot.identity.generation or "not built by trivet"
            yield Observation("warehouse", True, f"{engine.name} {engine.version}, {generation}")
            for item in workspace.contract.object_types if workspace.contract else ():
                columns = snapshot.columns(item.view)
                lost = [name for name in item.columns if columns is not None and name not in columns]
                if columns is None:
                    yield Observation(
                        item.view, False, "the view is not there; write views/*.sql and run `trivet ingest`"
                    )
                elif lost:
                    yield Observation(item.view, False, f"lacks {', '.join(lost)}; mend the view or the contract")
                else:
                    yield Observation(item.view, True, f"{len(item.columns)} columns as declared")
    except (EngineFault, OSError) as error:
        yield Observation("warehouse", False, str(error))


def _store(wiring: Wiring) -> Observation:
    try:
        if wiring.store_is_missing():
            return Observation("store", True, "none yet; the first evaluation makes it")
        with read_only(wiring.store(create=False)).connect() as connection:
            return Observation("store", True, f"ledger at entry {head(connection).seq}")
    except TrivetError as error:
        return Observation("store", False, str(error))


def _paused(wiring: Wiring) -> Iterator[Observation]:
    """What rests because somebody wants it so, which is no fault and easily forgotten."""
    try:
        found = paused_monitors(wiring)
    except TrivetError:
        # The store's own line says why.
        return
    for name, item in sorted(found.items()):
        yield Observation(f"monitor {name}", True, item.words())


def _in_force(wiring: Wiring) -> Iterator[Observation]:
    """Whether the files are what daemons go by. Of a store that cannot be read its own line tells."""
    try:
        if wiring.store_is_missing():
            return
        found = InForce(wiring.store(create=False)).current()
        if found is None:
            yield Observation("in force", True, "nothing was published yet; `trivet run` or `trivet apply` does it")
            return
        told = difference(read_workspace(wiring.path, wiring.environment), found)
    except TrivetError as error:
        yield Observation("in force", False, str(error))
        return
    monitors = f"{len(found.monitors)} monitor{'' if len(found.monitors) == 1 else 's'}"
    yield Observation(
        "in force", told is None, told or f"{monitors}, as the files have them (ledger entry {found.seq})"
    )


def _checkpoints(wiring: Wiring) -> Iterator[Observation]:
    """Who vouches for the ledger. Without a key that is nobody, which is a choice and no fault."""
    try:
        key = wiring.signing_key()
        wiring.public_keys()
    except TrivetError as error:
        yield Observation("checkpoints", False, str(error))
        return
    if key is None:
        message = "no checkpoints: tail uncovered; `trivet ledger key new FILE` makes a key for them"
        yield Observation("checkpoints", True, message)
        return
    yield Observation("checkpoints", True, f"signed by {key.name}")
    for file in wiring.witness_files():
        fine = os.access(file if file.exists() else file.parent, os.W_OK)
        found = "can be written" if fine else "cannot be written; mend its permissions, or name another file"
        yield Observation(f"witness {file.name}", fine, found)
