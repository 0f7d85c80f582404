"""`trivet ledger`: the audit store, read from outside."""

from __future__ import annotations

import json

import click

from cli.invocation import Invocation, command
from ledger.entries import EntryType
from ledger.reading import entries, head
from ledger.verify import verify as verify_ledger
from trivet.exits import Exit
from worker.binding import EVALUATION_BINDING
from worker.stores import read_only


@click.group()
def ledger() -> None:
    """The append-only ledger of everything that was done."""


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
    for item in found:
        if invocation.output.as_json:
            invocation.output.document(
                {
                    "seq": item.seq,
                    "entry_type": item.entry_type,
                    "entry_hash": item.entry_hash.hex(),
                    "payload": json.loads(item.payload),
                }
            )
    if seq is not None and found:
        invocation.output.print(json.dumps(json.loads(found[0].payload), indent=2, ensure_ascii=False))
    else:
        invocation.output.table(
            ["seq", "type", "what", "hash"],
            [_row(item.seq, item.entry_type, item.payload, item.entry_hash) for item in found],
        )
    return Exit.FINE


@ledger.command()
@command
def verify(invocation: Invocation) -> int:
    """Recompute every hash of the ledger and of the rows that it binds."""
    engine = read_only(invocation.wiring().store(create=False))
    with engine.connect() as connection:
        report = verify_ledger(connection, [EVALUATION_BINDING])
    if invocation.output.as_json:
        damage = [{"seq": item.seq, "kind": item.kind, "message": item.message} for item in report.damage]
        invocation.output.document({"ok": report.ok, "entries": report.entries, "rows": report.rows, "damage": damage})
    if report.ok:
        invocation.output.print(f"fine: {report.entries:,} entries and {report.rows:,} bound rows verified")
        return Exit.FINE
    for item in report.damage:
        invocation.output.complain(
            f"damage at {f'entry {item.seq}' if item.seq else 'the ledger'}: {item.kind}: {item.message}"
        )
    return Exit.CHECK_FAILED


def _row(seq: int, entry_type: str, payload: str, entry_hash: bytes) -> tuple[str, str, str, str]:
    content = json.loads(payload)
    counts = content.get("counts") or {}
    what = str(content.get("monitor_id") or content.get("subject_id"))
    if content.get("verdict"):
        what += f": {content['verdict']}"
    if counts.get("population") is not None:
        what += f" ({counts['breach']} breach, {counts['no_data']} no_data, {counts['compliant']} compliant)"
    return str(seq), entry_type, what, entry_hash.hex()[:16]
