"""`trivet ledger redact`: erasing what was recorded of a person."""

from __future__ import annotations

import click

from cli.invocation import Invocation, command
from ledger.entries import EntryType
from ledger.reading import entry, entry_about
from trivet.errors import UsageError
from trivet.exits import Exit
from worker.redacting import redact_group, redact_member, redact_outcome
from worker.stores import read_only


@click.command()
@click.argument("subject", metavar="ID")
@click.option("--member", type=click.IntRange(min=1), help="Of an evaluation: which of its recorded members.")
@click.option("--group", type=click.IntRange(min=1), help="Of an evaluation: which of its measured groups.")
@click.option("--by", required=True, help="Who erases it; the ledger says so for ever.")
@click.option("--reason", required=True, help="Why; the ledger says so for ever.")
@click.option("--yes", is_flag=True, help="Really erase it: it cannot be undone.")
@command
def redact(
    invocation: Invocation, subject: str, member: int | None, group: int | None, by: str, reason: str, yes: bool
) -> int:
    """Erase the text of a question, or of one member or measured group of an evaluation, and tell of it in the ledger.

    ID is a request id, an evaluation id, or the number of its ledger entry. The ledger stays valid: it holds a salted
    hash of what was erased.
    """
    wiring = invocation.wiring()
    store = wiring.store(create=False)
    with read_only(store).connect() as connection:
        found = entry(connection, int(subject)) if subject.isdecimal() and len(subject) <= 18 else None
        found = found or entry_about(connection, EntryType.OUTCOME, subject)
        found = found or entry_about(connection, EntryType.EVALUATION, subject)
    if found is None or found.entry_type not in (EntryType.OUTCOME, EntryType.EVALUATION):
        raise UsageError(
            f"'{subject}' is neither a question nor an evaluation; `trivet ledger show` lists the last ones"
        )
    parts = [part for part in (member, group) if part is not None]
    if len(parts) != (found.entry_type is EntryType.EVALUATION):
        hint = "name it by --member, or by --group if it is compliant; a question has none"
        raise UsageError(f"of an evaluation one member is erased: {hint}")
    if not yes:
        raise UsageError("what is erased cannot be had back; say --yes if that is meant")
    now = wiring.clock.now()
    if group is not None:
        made = redact_group(store, found.subject_id, group, by, reason, now)
    elif member is None:
        made = redact_outcome(store, found.subject_id, by, reason, now)
    else:
        made = redact_member(store, found.subject_id, member, by, reason, now)
    if invocation.output.as_json:
        about = {"seq": made.entry.seq, "subject": made.entry.subject_id, "messages": made.messages}
        invocation.output.document(about)
    invocation.output.print(f"erased; ledger entry {made.entry.seq} tells of it")
    if made.messages:
        invocation.output.print(f"{made.messages} messages in the outbox were emptied with it")
    return Exit.FINE
