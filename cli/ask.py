"""`trivet ask`: one question through the resolver."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click
from rich.text import Text

from cli.invocation import Invocation, command
from cli.ledger_checkpoints import seal_if_due
from cli.output import STYLES, Output, visible
from resolver.outcome import Answer, Outcome, Refusal, ResultTable, cell_text
from trivet.canonical import Json
from trivet.errors import UsageError
from trivet.exits import Exit
from trivet.outcomes import OutcomeState
from trivet.verdicts import Verdict
from worker.asking import resolver_of
from worker.outcomes import StoreRecorder

SHOWN = 20
"""Rows of a table that a person is shown; `--json` has them all."""


@click.command()
@click.argument("question", metavar="QUESTION")
@click.option("--as", "asker", metavar="USER", help="Who asks; it is recorded.")
@click.option(
    "--replay",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Take proposals from this recording (JSON Lines) and ask no model.",
)
@command
def ask(invocation: Invocation, question: str, asker: str | None, replay: Path | None) -> int:
    """Answer QUESTION from governed data, or refuse it and say why."""
    if not question.strip():
        raise UsageError('there is no question; write trivet ask "How many employees are there?"')
    workspace = invocation.workspace()
    _, contract, monitors = workspace.require()
    wiring = invocation.wiring(workspace)
    store = wiring.store()
    recorder, sealer = StoreRecorder(store, contract), wiring.sealer(store)
    asked = resolver_of(wiring, contract, monitors, recorder=recorder, replay=replay).ask(question, asker)
    if invocation.output.as_json:
        invocation.output.document(asked.outcome.to_json(asked.ledger_seq))
    else:
        show_outcome(invocation.output, asked.outcome, asked.ledger_seq)
    seal_if_due(invocation.output, sealer)
    return Exit.FINE if isinstance(asked.outcome.ending, Answer) else Exit.REFUSED


def show_outcome(output: Output, outcome: Outcome, ledger_seq: int | None) -> None:
    """Prints an answer with all that it rests on, or a refusal with its reason."""
    output.print("")
    match outcome.ending:
        case Answer():
            _show_answer(output, outcome, outcome.ending)
        case Refusal():
            _show_refusal(output, outcome, outcome.ending)
    if ledger_seq is not None:
        output.print(Text(f"  ledger entry {ledger_seq}", style="dim"))


def _show_answer(output: Output, outcome: Outcome, answer: Answer) -> None:
    output.print(Text(visible(answer.text), style="bold"))
    for assumption in answer.assumptions:
        output.print(Text.assemble(("  assumed: ", "yellow"), visible(assumption.text)))
    if outcome.absence.badge is not None:
        style = STYLES[Verdict.NO_DATA] if outcome.absence.reasons else ""
        reasons = ", ".join(f"{count} {reason}" for reason, count in outcome.absence.reasons.items())
        output.print(Text.assemble("  ", (outcome.absence.badge, style), f"  {reasons}" if reasons else ""))
    if answer.table.rows:
        rows = [[None if cell is None else cell_text(cell) for cell in row] for row in answer.table.rows[:SHOWN]]
        output.table(answer.table.columns, rows)
    if len(answer.table.rows) > SHOWN or answer.table.truncated:
        output.print(Text(f"  {_cut(answer.table)}", style="dim"))
    places = list(dict.fromkeys(place for item in outcome.provenance if (place := _place(item))))
    for place in places[:5]:
        output.print(Text(f"  read from {visible(place)}", style="dim"))
    if len(places) > 5:
        output.print(Text(f"  and from {len(places) - 5} more places; --json has them", style="dim"))
    grounded = sum(claim.cell is not None for claim in answer.claims)
    contract = f"contract {outcome.contract['id']} {outcome.contract['version']}"
    output.print(
        Text(f"  claims: {len(answer.claims)}, of them cells of the result: {grounded}; {contract}", style="dim")
    )


def _cut(table: ResultTable) -> str:
    """How many rows are shown, of how many."""
    held = len(table.rows)
    of = table.total if table.truncated else held
    all_of = f"{of:,} rows" if of is not None else f"more than {held:,} rows"
    more = f"; --json has the first {held:,}" if table.truncated else "; --json has all"
    return f"the first {min(SHOWN, held)} of {all_of}" + (more if held > SHOWN or table.truncated else "")


def _show_refusal(output: Output, outcome: Outcome, refusal: Refusal) -> None:
    word = "escalated" if outcome.state is OutcomeState.ESCALATE else "not answered"
    clause = f", clause {refusal.clause}" if refusal.clause else ""
    output.print(Text.assemble((f"{word}: {refusal.reason}", STYLES[outcome.verdict]), clause))
    output.print(Text(f"  {visible(refusal.text)}"))
    if refusal.nearest:
        output.print(Text("  What can be asked:", style="dim"))
        for nearest in refusal.nearest:
            output.print(Text(f"    {visible(nearest)}"))


def _place(row: Mapping[str, Json]) -> str:
    parts = [str(row["document"])] if row.get("document") else []
    parts += [f"{part} {row[part]}" for part in ("page", "row") if row.get(part) is not None]
    return ", ".join(parts)
