"""How an evaluation looks to a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from cli.output import STYLES, Output, verdict_text, visible
from monitors.evaluation import Evaluation, Member, NotMade
from trivet.exits import Exit
from trivet.verdicts import Verdict

SHOWN = 10
"""Members of each kind in a table; `--json` and the store hold them all."""
_WIDEST = 60
"""Columns of the terminal that one value may take; `--json` and the store hold the whole of it."""


def show_evaluation(output: Output, made: Evaluation, ledger_seq: int | None) -> None:
    """Prints one evaluation: the badge, the partition, and the members that want attention."""
    definition = made.definition
    output.print("")
    output.print(Text.assemble((visible(definition.title), "bold"), ("  " + definition.id, "dim")))
    outcome = made.outcome
    if isinstance(outcome, NotMade):
        output.print(Text.assemble(("  no_data", STYLES[Verdict.NO_DATA]), f"  not evaluated: {outcome.reason}"))
        if outcome.message:
            output.print(Text("  " + visible(outcome.message)))
        _show_entry(output, ledger_seq)
        return
    parts = f"{outcome.breach} breach + {outcome.no_data} no_data + {outcome.compliant} compliant"
    partition = f"{outcome.population} members = {parts}"
    output.print(Text.assemble("  ", verdict_text(made.verdict), "  ", (made.badge or "", "bold"), "  ", partition))
    notes = [f"{count} {reason}" for reason, count in outcome.no_data_reasons.items()]
    notes += [f"{outcome.partial} partial"] if outcome.partial else []
    notes += [f"{outcome.duplicate_keys} duplicate keys"] if outcome.duplicate_keys else []
    if notes:
        output.print(Text("  " + ", ".join(notes), style="dim"))
    _show_members(output, made.breached, "breached")
    _show_members(output, made.undecided, "not decided")
    _show_entry(output, ledger_seq)


def _show_entry(output: Output, ledger_seq: int | None) -> None:
    if ledger_seq is not None:
        output.print(Text(f"  ledger entry {ledger_seq}", style="dim"))


def _show_members(output: Output, members: Sequence[Member], title: str) -> None:
    if not members:
        return
    shown = members[:SHOWN]
    heads = [*shown[0].key, *_other_operands(shown[0])] + (["reason", "causes"] if shown[0].reason else [])
    rows = [[_shown(cell) for cell in _cells(member)] for member in shown]
    widths = [max(cell_len(row[index]) for row in [heads, *rows]) for index in range(len(heads))]
    output.print(Text(f"\n  {title}", style="bold"))
    output.print(Text("    " + _aligned(heads, widths), style="dim"))
    for member, row in zip(shown, rows, strict=True):
        output.print(Text("    " + _aligned(row, widths)))
        places = "; ".join(place for item in member.provenance if (place := _place(item)))
        if places:
            output.print(Text(f"      read from {visible(places)}", style="dim"))
    if len(members) > SHOWN:
        output.print(Text(f"    … and {len(members) - SHOWN:,} more: --json shows them, the store has them all"))


def _other_operands(member: Member) -> dict[str, str | None]:
    """The operands that the key does not show already."""
    return {name: value for name, value in member.operands.items() if name not in member.key}


def _cells(member: Member) -> list[str | None]:
    cells = [*member.key.values(), *_other_operands(member).values()]
    if member.reason:
        causes = "; ".join(f"{name}: {', '.join(found)}" for name, found in member.causes.items())
        cells += [member.reason.value, causes or None]
    return cells


def _shown(cell: str | None) -> str:
    if cell is None:
        return "—"
    text = visible(cell[:_WIDEST]) if cell.strip() else "(blank)"
    too_wide = len(cell) > _WIDEST or cell_len(text) > _WIDEST
    return f"{set_cell_size(text, _WIDEST - 1).rstrip()}…" if too_wide else text


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "   ".join(set_cell_size(cell, width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def _place(row: Mapping[str, str | int | None]) -> str:
    parts = [str(row["document"])] if row.get("document") else []
    parts += [f"{part} {row[part]}" for part in ("page", "row") if row.get(part) is not None]
    return ", ".join(parts)


def exit_code(evaluations: Sequence[Evaluation]) -> Exit:
    """The worst verdict of all, as an exit code."""
    verdicts = {made.verdict for made in evaluations}
    if Verdict.BREACH in verdicts:
        return Exit.BREACH
    return Exit.NO_DATA if Verdict.NO_DATA in verdicts else Exit.FINE
