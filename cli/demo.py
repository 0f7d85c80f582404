"""`trivet demo`: a ready workspace from the bundled example, every monitor evaluated."""

from __future__ import annotations

import json
import runpy
import shlex
from pathlib import Path
from typing import Any

import click
from rich.text import Text

from cli.alerts import complain_of_delivery
from cli.ask import show_outcome
from cli.evaluations import show_evaluation
from cli.init import copy_example
from cli.invocation import Invocation, command
from ledger.verification.verify import verify_store
from monitors.evaluation import Evaluation, Member, NotMade
from resolver.pipeline import Asked
from trivet.errors import UsageError
from trivet.exits import Exit
from worker.asking import resolver_of
from worker.evaluate import Recorded, manual_slots
from worker.outcomes import StoreRecorder
from worker.shipped import shipped
from worker.stores import read_only

EXAMPLE = "aruma"
TRUTH = "truth.json"
QUESTIONS = (
    "How many employees are paid below the floor?",
    "Who has no floor?",
    "What is our employee churn rate?",
)


@click.command()
@click.argument("new", metavar="[DIR]", type=click.Path(path_type=Path), default=Path("trivet-demo"))
@click.option("--verify", is_flag=True, help="Assert every member against the generator's truth.")
@command
def demo(invocation: Invocation, new: Path, verify: bool) -> int:
    """Build the example workspace in DIR and evaluate its monitors.

    DIR must be new, or a demo that was built before: its data and history are then used as they are.
    """
    if not (new / TRUTH).exists():
        build_example(new)
    elif not (new / "trivet.yaml").exists():
        raise UsageError(f"'{new}' is no workspace; name another directory")
    invocation.directory = new
    workspace = invocation.workspace()
    _, contract, monitors = workspace.require()
    wiring = invocation.wiring(workspace)
    report = wiring.ingest(contract)
    rows = ", ".join(f"{item.rows} {item.name}" for item in report.views)
    invocation.output.print(f"{new}: ingested {rows}")
    slots = manual_slots(monitors, contract, invocation.clock.now())
    store = wiring.store()
    done = list(wiring.evaluator(contract).evaluate(slots, store))
    for recorded in done:
        show_evaluation(invocation.output, recorded.evaluation, recorded.ledger_seq)

    def tell(text: str) -> None:
        # Not above an empty place: a demo that is run again is still in breach, and nobody is told twice.
        invocation.output.print(Text("\nThe alert, as it was sent", style="bold"))
        invocation.output.tell(text)

    complain_of_delivery(invocation.output, wiring.deliverer.deliver(store, tell))
    resolver = resolver_of(wiring, contract, monitors, recorder=StoreRecorder(store, contract))
    asked = [resolver.ask(question, None) for question in QUESTIONS]
    for question, answer in zip(QUESTIONS, asked, strict=True):
        invocation.output.print(Text(f"\nAsked: {question}", style="bold"))
        show_outcome(invocation.output, answer.outcome, answer.ledger_seq)
    with read_only(store).connect() as connection:
        ledger = verify_store(connection)
    invocation.output.print(f"\nledger: {ledger.entries} entries and {ledger.rows} bound rows verified")
    differences = _differences(new, [recorded.evaluation for recorded in done]) if verify else []
    if invocation.output.as_json:
        _document(invocation, new, done, differences if verify else None, asked)
    if not ledger.ok:
        invocation.output.complain("the ledger does not verify; `trivet ledger verify` says where")
        return Exit.CHECK_FAILED
    if differences:
        invocation.output.complain("the demo differs from the generator's truth:\n" + "\n".join(differences))
        return Exit.CHECK_FAILED
    if verify:
        invocation.output.print(Text("\nverified: every member agrees with the generator's truth", style="green"))
    _where_next(invocation, new)
    return Exit.FINE


def build_example(new: Path) -> None:
    """Copies the example to a new or empty directory, and runs its generator, which writes its sources and its truth.

    Raises:
        UsageError: something is there already; nothing is overwritten.
    """
    copy_example(EXAMPLE, new)
    runpy.run_path(str(shipped("examples") / EXAMPLE / "generate.py"))["generate"](new)


def _differences(workspace: Path, evaluations: list[Evaluation]) -> list[str]:
    truth = json.loads((workspace / TRUTH).read_text("utf-8"))["monitors"]
    found = {made.definition.id: made for made in evaluations}
    differences = [f"{name}: no such monitor was evaluated" for name in truth.keys() - found.keys()]
    for name, expected in truth.items():
        if name in found:
            differences += [f"{name}: {text}" for text in _monitor_differences(expected, found[name])]
    return differences


def _monitor_differences(expected: dict[str, Any], made: Evaluation) -> list[str]:
    if isinstance(made.outcome, NotMade):
        return [f"not evaluated: {made.outcome.reason}"]
    differences = []
    for name in ("population", "compliant"):
        if getattr(made.outcome, name) != expected[name]:
            differences.append(f"{name} is {getattr(made.outcome, name)}, truth is {expected[name]}")
    breached = {_key(member): member for member in made.breached}
    undecided = {_key(member): member for member in made.undecided}
    if breached.keys() != expected["breach"].keys():
        differences.append(f"breached are {sorted(breached)}, truth is {sorted(expected['breach'])}")
    if undecided.keys() != expected["no_data"].keys():
        differences.append(f"undecided are {sorted(undecided)}, truth is {sorted(expected['no_data'])}")
    for key, member in breached.items():
        truth = expected["breach"].get(key, {})
        wrong = [name for name, value in member.operands.items() if name in truth and truth[name] != value]
        differences += [f"{key}: {name} is {member.operands[name]}, truth is {truth[name]}" for name in wrong]
    for key, member in undecided.items():
        truth = expected["no_data"].get(key, {})
        causes = {name: list(found) for name, found in member.causes.items()}
        if truth and (member.reason != truth["reason"] or causes != truth["causes"]):
            differences.append(f"{key}: {member.reason} {causes}, truth is {truth['reason']} {truth['causes']}")
    return differences


def _key(member: Member) -> str:
    return str(next(iter(member.key.values())))


def _document(
    invocation: Invocation, new: Path, done: list[Recorded], differences: list[str] | None, asked: list[Asked]
) -> None:
    document: dict[str, object] = {
        "workspace": str(new),
        "evaluations": [recorded.evaluation.to_json(recorded.ledger_seq) for recorded in done],
        "outcomes": [answer.outcome.to_json(answer.ledger_seq) for answer in asked],
    }
    if differences is not None:
        document |= {"verified": not differences, "differences": differences}
    invocation.output.document(document)


def _where_next(invocation: Invocation, new: Path) -> None:
    invocation.output.print("")
    invocation.output.print(Text("Where to look next", style="bold"))
    here = f"trivet -C {shlex.quote(str(new))}"
    lines = {
        f"{here} evaluate pay-below-floor --json": "one evaluation as a document; exit code 1: a breach",
        f"{here} monitors explain pay-below-floor": "what it decides, in words",
        f"{here} monitors compile pay-below-floor": "the SQL that was run",
        f"{here} ledger verify": "nothing was altered since it was written",
    }
    width = max(len(line) for line in lines)
    for line, words in lines.items():
        invocation.output.print(Text.assemble("  ", line.ljust(width), ("   " + words, "dim")))
