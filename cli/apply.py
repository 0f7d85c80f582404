"""`trivet apply`: the contract and the monitors of the files are put in force, all at once or not at all."""

from __future__ import annotations

from collections.abc import Iterator

import click

from catalog.verified_queries import referee_findings
from cli.invocation import Invocation, command
from cli.output import visible
from trivet.errors import InputError, UsageError
from trivet.exits import Exit
from worker.applying import Applied, person, workspace_content
from worker.publication import Changes, changes

_LONGEST_NAME = 200


@click.command()
@click.option("--dry-run", is_flag=True, help="Say what would change, and change nothing.")
@click.option("--by", metavar="NAME", help="Who applies it, for the ledger; the user of the system if absent.")
@command
def apply(invocation: Invocation, dry_run: bool, by: str | None) -> int:
    """Put the contract and the monitors of the files in force; a running daemon goes by them from its next tick on."""
    who = person() if by is None else by.strip()
    if not who or len(who) > _LONGEST_NAME or not who.isprintable():
        raise UsageError(f"--by: give a name of at most {_LONGEST_NAME} characters on one line")
    workspace = invocation.workspace()
    _, contract, _ = workspace.require()
    if refused := tuple(referee_findings(contract, workspace.contract_documents)):
        raise InputError(refused)
    wiring = invocation.wiring(workspace)
    if dry_run and wiring.store_is_missing():
        done = Applied(changes(None, workspace_content(workspace)), None, published=False)
    else:
        store = wiring.store()
        try:
            publisher = wiring.publisher(store)
            done = publisher.compare(workspace) if dry_run else publisher.publish(workspace, who)
        finally:
            store.dispose()
    _tell(invocation, done, who if done.published else None)
    return Exit.FINE


def _tell(invocation: Invocation, done: Applied, who: str | None) -> None:
    if invocation.output.as_json:
        about = {"published": done.published, "ledger_seq": done.seq, "published_by": who}
        invocation.output.document({**about, "changes": done.changes.to_json()})
    for line in _lines(done.changes):
        invocation.output.print(visible(line))
    if done.published:
        invocation.output.print(
            f"published as ledger entry {done.seq}; running daemons go by it from their next tick on"
        )
    elif not done.changes:
        invocation.output.print(f"nothing changed: ledger entry {done.seq} is in force")
    else:
        invocation.output.print("nothing was published; without --dry-run it would be")


def _lines(found: Changes) -> Iterator[str]:
    """The diff, one line for each thing that changed."""
    if found.contract_changed:
        before, after = found.contract_before, found.contract_after
        told = f"{after['id']} {after['version']} ({after['hash'][:12]})"
        was = f"{before['id']} {before['version']} ({before['hash'][:12]})" if before is not None else ""
        yield f"~ contract {was} -> {told}" if was else f"+ contract {told}"
    yield from (f"+ {name}" for name in found.added)
    yield from (f"- {name}" for name in found.removed)
    yield from (f"~ {name}: {', '.join(keys)}" for name, keys in found.changed)
