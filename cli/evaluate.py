"""`trivet evaluate`: evaluates now."""

from __future__ import annotations

import click

from cli.alerts import complain_of_delivery
from cli.evaluations import exit_code, show_evaluation
from cli.invocation import Invocation, command, find_monitors
from cli.ledger_checkpoints import seal_if_due
from monitors.evaluation import Evaluation
from worker.evaluate import manual_slots


@click.command()
@click.argument("ids", metavar="[ID]...", nargs=-1)
@click.option("--at", metavar="TIME", help="The slot to evaluate for (ISO 8601); the present if absent.")
@click.option("--dry-run", is_flag=True, help="Write nothing down.")
@command
def evaluate(invocation: Invocation, ids: tuple[str, ...], at: str | None, dry_run: bool) -> int:
    """Evaluate the monitors of those ids, or all that are enabled (JSON Lines with --json)."""
    workspace = invocation.workspace()
    _, contract, known = workspace.require()
    monitors = find_monitors(known, ids)
    instant = invocation.instant(at, contract.calendar.time_zone)
    wiring = invocation.wiring(workspace)
    store = None if dry_run else wiring.store()
    # A key that is named and cannot be read is said before anything is done.
    sealer = wiring.sealer(store) if store is not None else None
    done: list[Evaluation] = []
    for recorded in wiring.evaluator(contract).evaluate(manual_slots(monitors, contract, instant), store):
        done.append(recorded.evaluation)
        if invocation.output.as_json:
            invocation.output.document(recorded.evaluation.to_json(recorded.ledger_seq))
        else:
            show_evaluation(invocation.output, recorded.evaluation, recorded.ledger_seq)
    if store is not None and wiring.settings.receivers:
        # The exit code speaks of the data: what could not be sent stays in the outbox, and is told beside it.
        complain_of_delivery(invocation.output, wiring.deliverer.deliver(store, invocation.output.tell))
    seal_if_due(invocation.output, sealer)
    return exit_code(done)
