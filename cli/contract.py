"""`trivet contract`: what the contract itself vouches for, held against the data."""

from __future__ import annotations

import click
from rich.text import Text

from cli.invocation import Invocation, command
from cli.ledger_checkpoints import seal_if_due
from cli.output import Output, visible
from trivet.exits import Exit
from worker.asking import question_engine
from worker.stores import store_clock
from worker.verifying import Rerun, Verified, last_results, record, rerun_all

_STYLES = {
    Rerun.FIRST: "dim",
    Rerun.SAME: "green",
    Rerun.CHANGED: "bold yellow",
    Rerun.REFUSED: "bold red",
    Rerun.FAILED: "bold red",
}


@click.group()
def contract() -> None:
    """The governed contract: its verified questions."""


@contract.command()
@command
def verify(invocation: Invocation) -> int:
    """Rerun the contract's verified questions, and say what changed since the last time."""
    workspace = invocation.workspace()
    _, governed, _ = workspace.require()
    if not governed.verified_queries:
        invocation.output.print("the contract has no verified_queries, so there is nothing to rerun")
        if invocation.output.as_json:
            invocation.output.document({"ok": True, "results": [], "ledger_seq": None})
        return Exit.FINE
    wiring = invocation.wiring(workspace)
    store = wiring.store()
    sealer = wiring.sealer(store)
    with store.connect() as connection:
        before = last_results(connection, governed)
    results = rerun_all(governed, question_engine(wiring, governed), before)
    with store.begin() as connection:
        seq = record(connection, governed, results, before, store_clock(store, wiring.clock).now())
    fine = all(item.is_fine for item in results)
    if invocation.output.as_json:
        shown = [item.to_json() for item in results]
        invocation.output.document({"ok": fine, "results": shown, "ledger_seq": seq})
    for item in results:
        _show(invocation.output, item)
    invocation.output.print(Text(f"ledger entry {seq}", style="dim"))
    seal_if_due(invocation.output, sealer)
    return Exit.FINE if fine else Exit.CHECK_FAILED


def _show(output: Output, item: Verified) -> None:
    said = f": {item.says}" if item.says else ""
    figures = f" ({', '.join(item.figures)})" if item.figures is not None and not item.says else ""
    word = (f"{item.rerun.value:8}", _STYLES[item.rerun])
    output.print(Text.assemble(word, visible(f" {item.query.question}{figures}{said}")))
