"""`trivet alerts silence` and `unsilence`: for a while, or a maintenance window, nobody is told."""

from __future__ import annotations

import click
from rich.text import Text

from alerts.groups import MARK
from alerts.reading import required_alert
from alerts.silencing import end_silences, silence_monitor
from cli.given import instant_of, said
from cli.invocation import Invocation, command, find_monitors
from cli.output import visible
from trivet.errors import UsageError
from trivet.exits import Exit
from worker.stores import store_clock


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="ID...")
@click.option("--owner", required=True, help="Who answers for it; the ledger says so for ever.")
@click.option("--reason", required=True, help="Why; the ledger says so for ever.")
@click.option("--until", required=True, metavar="TIME", help="When it ends by itself: ISO 8601, or a duration as 8h.")
@click.option("--from", "since", metavar="TIME", help="When it begins, as for a maintenance window; now if absent.")
@command
def silence(
    invocation: Invocation, names: tuple[str, ...], owner: str, reason: str, until: str, since: str | None
) -> int:
    """Tell nobody of these monitors for a while. They are evaluated, and what would be told is recorded."""
    workspace = invocation.workspace()
    _, contract, known = workspace.require()
    groups = list(dict.fromkeys(name for name in names if MARK in name))
    others = tuple(name for name in names if MARK not in name)
    monitors = [item.id for item in find_monitors(known, others)] if others else []
    by, why, zone = said("--owner", owner), said("--reason", reason), contract.calendar.time_zone
    wiring = invocation.wiring(workspace)
    store = wiring.store()
    now = store_clock(store, wiring.clock).now()
    begin = now if since is None else instant_of(invocation, "--from", since, now, zone)
    end = instant_of(invocation, "--until", until, now, zone)
    if begin < now:
        raise UsageError("--from: has passed already; what was told is told")
    if end <= begin:
        raise UsageError("--until: is not after the begin")
    with store.begin() as connection:
        for name in groups:
            required_alert(connection, name)
        made = [silence_monitor(connection, name, by, why, begin, end) for name in (*monitors, *groups)]
    if invocation.output.as_json:
        invocation.output.document({"silences": [item.to_json() for item in made]})
    for item in made:
        invocation.output.print(Text(visible(f"{item.monitor} is {item.words()}")))
    return Exit.FINE


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="ID...")
@click.option("--owner", required=True, help="Who ends it; the ledger says so for ever.")
@click.option("--reason", required=True, help="Why; the ledger says so for ever.")
@command
def unsilence(invocation: Invocation, names: tuple[str, ...], owner: str, reason: str) -> int:
    """End the silences of these monitors before their time. What still fires is told."""
    by, why = said("--owner", owner), said("--reason", reason)
    wiring = invocation.wiring()
    store = wiring.store(create=False)
    now = store_clock(store, wiring.clock).now()
    with store.begin() as connection:
        ended = end_silences(connection, names, by, why, now)
        if not ended:
            raise UsageError(f"no silence holds or is to come for {', '.join(sorted(names))}")
    if invocation.output.as_json:
        invocation.output.document({"ended": [item.to_json() for item in ended]})
    for name in sorted({item.monitor for item in ended}):
        invocation.output.print(Text(visible(f"{name} is told of again")))
    return Exit.FINE
