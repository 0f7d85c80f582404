"""`trivet monitors pause` and `resume`, and who is paused."""

from __future__ import annotations

import click
from rich.text import Text

from cli.given import instant_of, said
from cli.invocation import Invocation, command, find_monitors
from cli.output import visible
from trivet.errors import TrivetError
from trivet.exits import Exit
from worker.bootstrap import Wiring
from worker.pauses import Pause, pause_monitor, paused_now, resume_monitor
from worker.stores import read_only, store_clock


@click.command()
@click.argument("name", metavar="ID")
@click.option("--owner", required=True, help="Who answers for it; the ledger says so for ever.")
@click.option("--reason", required=True, help="Why; the ledger says so for ever.")
@click.option("--until", required=True, metavar="TIME", help="When it ends by itself: ISO 8601, or a duration as 8h.")
@command
def pause(invocation: Invocation, name: str, owner: str, reason: str, until: str) -> int:
    """Let a monitor rest: its slots are recorded as paused, and nobody is told. A running daemon heeds it."""
    workspace = invocation.workspace()
    _, contract, known = workspace.require()
    definition = find_monitors(known, (name,))[0]
    wiring = invocation.wiring(workspace)
    store = wiring.store()
    now = store_clock(store, wiring.clock).now()
    end = instant_of(invocation, "--until", until, now, contract.calendar.time_zone)
    with store.begin() as connection:
        made = pause_monitor(connection, definition.id, said("--owner", owner), said("--reason", reason), now, end)
    if invocation.output.as_json:
        invocation.output.document(made.to_json())
    invocation.output.print(Text(visible(f"{definition.id} is {made.words()}")))
    return Exit.FINE


@click.command()
@click.argument("name", metavar="ID")
@click.option("--owner", help="Who ends it; the ledger says so for ever.")
@click.option("--reason", help="Why; the ledger says so for ever.")
@command
def resume(invocation: Invocation, name: str, owner: str | None, reason: str | None) -> int:
    """End the pause of a monitor before its time."""
    wiring = invocation.wiring()
    store = wiring.store(create=False)
    now = store_clock(store, wiring.clock).now()
    by = None if owner is None else said("--owner", owner)
    why = None if reason is None else said("--reason", reason)
    with store.begin() as connection:
        ended = resume_monitor(connection, name, by, why, now)
    if invocation.output.as_json:
        invocation.output.document({"monitor": name, "ended": [item.to_json() for item in ended]})
    invocation.output.print(Text(visible(f"{name} is evaluated again from its next slot on")))
    return Exit.FINE


def paused_monitors(wiring: Wiring) -> dict[str, Pause]:
    """The monitors that are paused, each with the pause that ends last; none where there is no store yet.

    Raises:
        TrivetError: the store cannot be read.
    """
    if wiring.store_is_missing():
        return {}
    store = wiring.store(create=False)
    now = store_clock(store, wiring.clock).now()
    with read_only(store).connect() as connection:
        return paused_now(connection, now)


def pauses_if_known(invocation: Invocation, wiring: Wiring) -> dict[str, Pause] | None:
    """`paused_monitors`; None where the store cannot be read, which is said on standard error."""
    try:
        return paused_monitors(wiring)
    except TrivetError as error:
        invocation.output.complain(f"which monitors are paused is not known: {error}")
        return None
