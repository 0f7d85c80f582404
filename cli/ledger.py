"""`trivet ledger`: the audit store, read from outside. This file holds the group, `show` and `verify`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from cli.invocation import Invocation, command
from cli.ledger_checkpoints import checkpoint, consistency, key, prove
from cli.ledger_completeness import complete
from cli.ledger_export import export
from cli.ledger_keys import known_keys
from cli.ledger_redact import redact
from cli.ledger_replay import replay
from cli.ledger_tamper import tamper_demo
from cli.output import Output, visible
from ledger.entries import EntryType, LedgerEntry
from ledger.reading import entries, head
from ledger.verification.files import ExportSource
from ledger.verification.findings import Report
from ledger.verification.notes import NotANote, PublicKey, Witness, read_witness
from ledger.verification.proofs import ProofReport, verify_proof
from ledger.verification.verify import verify as verify_source
from ledger.verification.verify import verify_store
from trivet.errors import CheckFailedError, UsageError
from trivet.exits import Exit
from trivet.verdicts import Verdict
from worker.outcomes import questions_of
from worker.stores import read_only

_PROGRESS_EVERY = 50_000
"""Entries after which is said again how far a verification is."""


@click.group()
def ledger() -> None:
    """The append-only ledger of everything that was done."""


for _command in (checkpoint, key, prove, consistency, replay, complete, export, redact, tamper_demo):
    ledger.add_command(_command)


@ledger.command()
@click.argument("seq", type=click.IntRange(min=1), required=False)
@click.option("--last", type=click.IntRange(min=1), default=20, show_default=True, help="Entries to show.")
@click.option(
    "--type",
    "entry_type",
    type=click.Choice([item.value for item in EntryType]),
    help="Only entries of this type.",
)
@command
def show(invocation: Invocation, seq: int | None, last: int, entry_type: str | None) -> int:
    """Show the entry SEQ, or the last ones (JSON Lines with --json)."""
    engine = read_only(invocation.wiring().store(create=False))
    with engine.connect() as connection:
        after = seq - 1 if seq else 0
        if seq is None and entry_type is None:
            after = max(head(connection).seq - last, 0)
        found = list(
            entries(
                connection,
                after=after,
                limit=1 if seq else None,
                entry_type=EntryType(entry_type) if entry_type else None,
            )
        )
        found = [item for item in found if seq is None or item.seq == seq][-last:]
        asked = [item.subject_id for item in found if item.entry_type is EntryType.OUTCOME]
        questions = questions_of(connection, asked)
    if seq is not None and not found:
        raise UsageError(f"there is no ledger entry {seq}; `trivet ledger show` lists the last ones")
    contents = [_content(item) for item in found]
    if invocation.output.as_json:
        for item, content in zip(found, contents, strict=True):
            about = {"seq": item.seq, "entry_type": item.entry_type, "entry_hash": item.entry_hash.hex()}
            invocation.output.document({**about, "payload": content})
    elif seq is not None:
        invocation.output.raw(visible(json.dumps(contents[0], indent=2, ensure_ascii=False), keep_lines=True))
    else:
        rows = [
            _row(item, content, questions.get(item.subject_id)) for item, content in zip(found, contents, strict=True)
        ]
        invocation.output.table(["seq", "type", "what", "hash"], rows)
    return Exit.FINE


@ledger.command()
@click.option("--key", "keys", multiple=True, metavar="KEY", help="A public key, or a file with some; repeatable.")
@click.option(
    "--against",
    multiple=True,
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="A witness file of checkpoints, besides those of the settings; repeatable.",
)
@click.option(
    "--export",
    "folder",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Verify what `trivet ledger export` wrote there, and no store.",
)
@click.option(
    "--proof",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Verify a proof file, and nothing else.",
)
@command
def verify(
    invocation: Invocation, keys: tuple[str, ...], against: tuple[Path, ...], folder: Path | None, proof: Path | None
) -> int:
    """Recompute every hash of the ledger and of the rows that it binds, and hold it against its checkpoints."""
    known = known_keys(invocation, keys)
    if proof is not None:
        return _verify_proof(invocation.output, proof, known)
    witnesses = _witnesses(invocation, against)
    progress = _Progress(invocation.output)
    if folder is not None:
        report = verify_source(ExportSource(folder), known, witnesses, progress)
    else:
        engine = read_only(invocation.wiring().store(create=False))
        with engine.connect() as connection:
            report = verify_store(connection, known, witnesses, progress)
    if invocation.output.as_json:
        invocation.output.document(_report_json(report))
    if report.ok:
        invocation.output.print(f"fine: {report.entries:,} entries and {report.rows:,} bound rows verified")
    for line in coverage_lines(report):
        invocation.output.print(line)
    for item in report.damage:
        place = f"entry {item.seq}" if item.seq else "the ledger"
        invocation.output.complain(f"damage at {place}: {item.kind}: {item.message}")
    return Exit.FINE if report.ok else Exit.CHECK_FAILED


def coverage_lines(report: Report) -> list[str]:
    """How far checkpoints vouch for a ledger, what was lost and erased, and what else should be known, in words."""
    found, lines = report.coverage, []
    tail = f"{report.uncovered:,} of {report.entries:,} entries"
    if found.checkpoints:
        outside = f", outside the ledger up to entry {found.witnessed:,}" if found.witnessed else ", none outside"
        lines.append(f"checkpoints: {found.checkpoints:,} agree, up to entry {found.size:,}{outside}")
        lines.append(f"uncovered tail: {tail}")
    elif found.unchecked:
        lines.append(
            f"checkpoints: {found.unchecked:,} were not checked, since no public key is known; give it by --key"
        )
    else:
        lines.append(f"no checkpoints: tail uncovered ({tail})")
    for item in report.recoveries:
        lost = "no entry is known to be lost"
        if item.lost is not None:
            first, last = item.lost
            lost = f"entry {first} is" if first == last else f"entries {first} to {last} are"
            lost += " lost of the history before"
        lines.append(f"entry {item.seq}: a backup was restored; {lost}")
    if report.redactions:
        lines.append(f"redacted rows: {report.redactions:,}")
    return [*lines, *report.notices]


def _report_json(report: Report) -> dict[str, Any]:
    return {
        "ok": report.ok,
        "entries": report.entries,
        "rows": report.rows,
        "damage": [{"seq": item.seq, "kind": item.kind, "message": item.message} for item in report.damage],
        "stopped_early": report.stopped_early,
        "checkpoints": asdict(report.coverage),
        "uncovered": report.uncovered,
        "recoveries": [{"seq": item.seq, "lost": item.lost} for item in report.recoveries],
        "redactions": report.redactions,
        "notices": list(report.notices),
    }


def _verify_proof(output: Output, file: Path, keys: Sequence[PublicKey]) -> int:
    try:
        report = verify_proof(file.read_text("utf-8"), keys)
    except (NotANote, UnicodeError) as error:
        raise CheckFailedError(f"{file}: {error}") from None
    if output.as_json:
        output.document({"ok": report.ok, **asdict(report)})
    told = _proof_told(report)
    if report.ok:
        output.print(told)
        return Exit.FINE
    output.complain(told)
    return Exit.CHECK_FAILED


def _proof_told(report: ProofReport) -> str:
    if report.fault is not None:
        return f"it proves nothing: {report.fault}"
    if report.signed is False:
        return "it proves nothing: its checkpoint is signed by no known key"
    signed = "" if report.signed else "; the signature was not checked, since no public key is known"
    if report.kind == "inclusion":
        return f"fine: entry {report.seq} is one of the {report.sizes[0]:,} of the checkpoint{signed}"
    return f"fine: the first {report.sizes[0]:,} of {report.sizes[1]:,} entries are those of the old checkpoint{signed}"


def _witnesses(invocation: Invocation, against: Sequence[Path]) -> list[Witness]:
    settings = invocation.workspace().settings
    configured = invocation.wiring().witness_files() if settings is not None else ()
    files = [*(file for file in configured if file.is_file()), *against]
    return [read_witness(file.read_bytes().decode("utf-8", "replace"), file.name) for file in dict.fromkeys(files)]


class _Progress:
    """Says how far a verification is where someone watches."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._told = 0

    def __call__(self, entries: int, rows: int) -> None:
        if entries - self._told >= _PROGRESS_EVERY:
            self._told = entries
            self._output.progress(f"{entries:,} entries and {rows:,} bound rows verified so far")


def _content(item: LedgerEntry) -> dict[str, Any]:
    try:
        content = item.content()
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise CheckFailedError(f"ledger entry {item.seq} is damaged; run `trivet ledger verify`")
    return content


def _row(item: LedgerEntry, content: dict[str, Any], question: str | None) -> tuple[str, str, str, str]:
    counts = content.get("counts")
    what = str(content.get("monitor_id") or question or content.get("subject_id"))
    match item.entry_type:
        case EntryType.OUTCOME:
            what += f": {content.get('reason_code') or content.get('state')}"
        case EntryType.ALERT_CHANGE:
            what += f": {content.get('event')}, {content.get('kind')}"
        case EntryType.MEMBER_CHANGES:
            moves = content.get("moves")
            told = ", ".join(f"{count} {move}" for move, count in moves.items()) if isinstance(moves, dict) else ""
            what += f": {told}"
        case EntryType.DELIVERY:
            what += f": {content.get('event')}, {content.get('state')} ({content.get('receiver')})"
        case EntryType.CHECKPOINT:
            what = f"over {content.get('size')} entries"
        case EntryType.CONTRACT_PUBLISHED:
            about = content.get("contract")
            what = " ".join(str(about.get(name)) for name in ("id", "version")) if isinstance(about, dict) else what
        case EntryType.PUBLICATION:
            listed, by = content.get("monitors"), content.get("published_by")
            count = len(listed) if isinstance(listed, list) else 0
            what = f"{count} monitor{'' if count == 1 else 's'}, by {by}"
        case EntryType.REPLAY:
            what = f"{content.get('evaluation_id')}: {content.get('result')}"
        case _ if content.get("verdict"):
            what += f": {content['verdict']}"
    if isinstance(counts, dict) and counts.get("population") is not None:
        what += f" ({', '.join(f'{counts.get(verdict)} {verdict}' for verdict in Verdict)})"
    return str(item.seq), item.entry_type, what, item.entry_hash.hex()[:16]
