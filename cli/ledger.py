"""`trivet ledger`: the audit store, read from outside."""

from __future__ import annotations

import json
from typing import Any

import click

from cli.invocation import Invocation, command
from cli.output import visible
from ledger.entries import EntryType, LedgerEntry
from ledger.reading import entries, head
from ledger.verification.verify import verify_store
from trivet.errors import CheckFailedError, UsageError
from trivet.exits import Exit
from trivet.verdicts import Verdict
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
        rows = [_row(item, content) for item, content in zip(found, contents, strict=True)]
        invocation.output.table(["seq", "type", "what", "hash"], rows)
    return Exit.FINE


@ledger.command()
@command
def verify(invocation: Invocation) -> int:
    """Recompute every hash of the ledger and of the rows that it binds."""
    engine = read_only(invocation.wiring().store(create=False))
    with engine.connect() as connection:
        report = verify_store(connection)
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


def _content(item: LedgerEntry) -> dict[str, Any]:
    try:
        content = item.content()
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise CheckFailedError(f"ledger entry {item.seq} is damaged; run `trivet ledger verify`")
    return content


def _row(item: LedgerEntry, content: dict[str, Any]) -> tuple[str, str, str, str]:
    counts = content.get("counts")
    what = str(content.get("monitor_id") or content.get("question") or content.get("subject_id"))
    if content.get("question"):
        what += f": {content.get('reason_code') or content.get('state')}"
    elif item.entry_type == EntryType.ALERT_CHANGE:
        what += f": {content.get('event')}, {content.get('kind')}"
    elif item.entry_type == EntryType.DELIVERY:
        what += f": {content.get('event')}, {content.get('state')} ({content.get('receiver')})"
    elif content.get("verdict"):
        what += f": {content['verdict']}"
    if isinstance(counts, dict) and counts.get("population") is not None:
        what += f" ({', '.join(f'{counts.get(verdict)} {verdict}' for verdict in Verdict)})"
    return str(item.seq), item.entry_type, what, item.entry_hash.hex()[:16]
