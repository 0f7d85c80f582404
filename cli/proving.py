"""`trivet monitors explain --prove`: a monitor held against the oracle on generated data, in words and as JSON."""

from __future__ import annotations

from rich.text import Text

from catalog.engines.port import EngineFault
from cli.invocation import Invocation
from cli.output import Output, visible
from evals.proving.columns import Views, views_of
from evals.proving.data_sets import Physical, shown_rows
from evals.proving.proof import Difference, Proof, prove
from monitors.definition import MonitorDefinition
from trivet.canonical import Json
from trivet.exits import Exit
from trivet.verdicts import Verdict
from worker.bootstrap import Wiring
from worker.workspace import Workspace

MOST_DATA_SETS = 100_000
_EVERY = 25
"""Data sets between two lines of progress."""


def proof_of(
    invocation: Invocation, workspace: Workspace, definition: MonitorDefinition, data_sets: int, seed: int
) -> Proof:
    """Proves one monitor of a workspace, over the column types of its warehouse where there is one."""
    _, contract, _ = workspace.require()
    wiring = invocation.wiring(workspace)

    def progress(number: int) -> None:
        if number % _EVERY == 0:
            invocation.output.progress(f"{number} of {data_sets} data sets")

    return prove(
        definition,
        contract,
        wiring.fixture,
        data_sets=data_sets,
        seed=seed,
        physical=_physical(wiring, views_of(definition, contract)),
        progress=progress,
    )


def exit_of(proof: Proof) -> Exit:
    """A proof that found a difference is a check that failed."""
    return Exit.FINE if proof.difference is None else Exit.CHECK_FAILED


def print_proof(output: Output, proof: Proof) -> None:
    """What was held against the oracle, and what came of it, in words."""
    plans = list(proof.verdicts)
    rows = [[verdict.value, *(str(proof.verdicts[plan].get(verdict, 0)) for plan in plans)] for verdict in Verdict]
    output.table(["members", *plans], rows, title=f"{proof.data_sets} generated data sets, seed {proof.seed}")
    if proof.reasons:
        told = ", ".join(f"{count} {reason}" for reason, count in proof.reasons.items())
        output.print(Text(f"Of those without data: {told}."))
    if proof.why_no_scan is not None:
        output.print(Text(visible(f"No pass over the view judges this monitor, since {proof.why_no_scan}.")))
    if proof.library_units:
        units = ", ".join(proof.library_units)
        output.print(Text(visible(f"The oracle has no size of {units}, and took those that the compiler takes.")))
    if proof.baselines:
        names = ", ".join(f"baseline.{name}" for name in proof.baselines)
        output.print(Text(f"Made-up data has no history, so {names} was unknown throughout.", style="yellow"))
    for verdict in proof.unseen:
        output.print(Text(f"No member was {verdict}, so of that verdict nothing is proven.", style="yellow"))
    if proof.difference is None:
        output.print(Text(f"Proven: of all {proof.members} members, plans and oracle say the same."))
        return
    for line in _difference_lines(proof.difference):
        output.print(Text(visible(line)))
    output.print(Text("Not proven: this is a fault of Trivet; please report it. The data was made up.", style="red"))


def proof_json(proof: Proof) -> dict[str, Json]:
    """As `trivet monitors explain --prove --json` prints it."""
    return {
        "seed": proof.seed,
        "data_sets": proof.data_sets,
        "members": proof.members,
        "verdicts": {
            plan: {verdict.value: counts.get(verdict, 0) for verdict in Verdict}
            for plan, counts in proof.verdicts.items()
        },
        "no_data_reasons": {reason.value: count for reason, count in proof.reasons.items()},
        "unseen": [verdict.value for verdict in proof.unseen],
        "why_no_scan": proof.why_no_scan,
        "library_units": list(proof.library_units),
        "baselines": list(proof.baselines),
        "agree": proof.difference is None,
        "difference": _difference_json(proof.difference),
    }


def _difference_json(found: Difference | None) -> Json:
    if found is None:
        return None
    tables: dict[str, Json] = {
        view: {"columns": dict(table.columns), "rows": list(shown_rows(table.rows))}
        for view, table in found.data_set.tables.items()
    }
    return {
        "plan": found.plan,
        "data_set": found.data_set.number,
        "at": found.data_set.at.isoformat(),
        "lines": list(found.lines),
        "tables": tables,
    }


def _difference_lines(found: Difference) -> list[str]:
    lines = [f"Data set {found.data_set.number}, made small, judged at {found.data_set.at.isoformat()}:"]
    for view, table in found.data_set.tables.items():
        typed = ", ".join(f"{name} {kind}" for name, kind in table.columns.items() if kind != "VARCHAR")
        lines.append(f"  {view}{f' ({typed})' if typed else ''}: {len(table.rows)} rows")
        lines += [f"    {row}" for row in shown_rows(table.rows)]
    return [*lines, *(f"  {line}" for line in found.lines)]


def _physical(wiring: Wiring, views: Views) -> Physical | None:
    """The types of the warehouse's columns; None where there is no warehouse to look at."""
    try:
        with wiring.engine().snapshot() as snapshot:
            found = {item.view: snapshot.columns(item.view) for item in views.objects}
    except EngineFault:
        return None
    return {view: columns for view, columns in found.items() if columns is not None}
