"""`trivet ledger replay`: whether recorded verdicts follow again."""

from __future__ import annotations

from collections import Counter

import click
from rich.text import Text

from cli.invocation import Invocation, command
from cli.output import Output
from trivet.errors import UsageError
from trivet.exits import Exit
from trivet.verdicts import ReplayResult
from worker.replaying import Replay, Strength, evaluation_named, latest_evaluations
from worker.stores import read_only

_STYLES = {
    ReplayResult.REPRODUCED: "green",
    ReplayResult.INPUTS_GONE: "yellow",
    ReplayResult.INPUTS_CHANGED: "yellow",
    ReplayResult.DIVERGED: "bold red",
}


@click.command()
@click.argument("ids", metavar="[ID]...", nargs=-1)
@click.option("--last", type=click.IntRange(min=1), help="The last so many evaluations, in place of IDs.")
@click.option("--only", type=click.Choice(["rejudge", "rerun"]), help="One of the two ways; both if absent.")
@click.option("--dry-run", is_flag=True, help="Write nothing down.")
@command
def replay(invocation: Invocation, ids: tuple[str, ...], last: int | None, only: str | None, dry_run: bool) -> int:
    """Derive recorded verdicts again (JSON Lines with --json).

    Each ID is that of an evaluation or the number of its ledger entry. `rejudge` goes by what was recorded of each
    member; `rerun` runs the queries again on the data that was read, while its file is kept.
    """
    if bool(ids) == bool(last):
        raise UsageError("name evaluations, or say how many of the last by --last")
    wiring = invocation.wiring()
    store = wiring.store(create=False)
    with read_only(store).connect() as connection:
        chosen = (
            [evaluation_named(connection, name) for name in ids] if ids else latest_evaluations(connection, last or 1)
        )
    replayer, done = wiring.replayer(store), list[Replay]()
    for number, evaluation_id in enumerate(dict.fromkeys(chosen), start=1):
        invocation.output.progress(f"replaying evaluation {number} of {len(chosen)}")
        done.append(
            replayer.replay(evaluation_id, rejudging=only != "rerun", rerunning=only != "rejudge", record=not dry_run)
        )
        if invocation.output.as_json:
            invocation.output.document(done[-1].to_json())
        else:
            _show(invocation.output, done[-1])
    results = Counter(item.result for item in done)
    invocation.output.print("\n" + ", ".join(f"{results[item]} {item}" for item in ReplayResult if results[item]))
    if results[ReplayResult.DIVERGED]:
        return Exit.CHECK_FAILED
    return Exit.FINE if set(results) <= {ReplayResult.REPRODUCED} else Exit.NO_DATA


def _show(output: Output, made: Replay) -> None:
    head = f"entry {made.seq}  {made.monitor}  "
    output.print(Text.assemble(head, (made.result.value, _STYLES[made.result])))
    for name, way in (("rejudge", made.rejudge), ("rerun", made.rerun)):
        if way is not None:
            output.print(Text.assemble(f"  {name:8}", (way.result.value, _STYLES[way.result]), _counts(way)))
            for line in way.told:
                output.print(Text(f"    {line}"))


def _counts(way: Strength) -> str:
    counts = {name.replace("_", " "): count for name, count in way.members.items() if count}
    return f"  {', '.join(f'{count:,} {name}' for name, count in counts.items())}" if counts else ""
