"""`trivet db`: the audit store's schema, its backups, and who may write to it."""

from __future__ import annotations

from pathlib import Path

import click

from cli.invocation import Invocation, command
from cli.ledger_checkpoints import seal_if_due
from cli.run import lock_file
from trivet.exits import Exit
from worker.backup import back_up
from worker.backup import restore as restore_backup
from worker.embedded import only_daemon
from worker.grants import grants
from worker.migrating import LATEST, store_revision, upgrade_store
from worker.shipped import shipped


@click.group()
def db() -> None:
    """The audit store."""


@db.command()
@command
def upgrade(invocation: Invocation) -> int:
    """Bring the store to this version's schema."""
    engine = invocation.wiring().unchecked_store()
    before = store_revision(engine)
    upgrade_store(engine, shipped("migrations"))
    after = store_revision(engine)
    if invocation.output.as_json:
        invocation.output.document({"before": before, "after": after})
    invocation.output.print(f"at revision {after}" if before == after else f"from {before or 'nothing'} to {after}")
    return Exit.FINE


@db.command()
@command
def current(invocation: Invocation) -> int:
    """Say at which schema revision the store is."""
    wiring = invocation.wiring()
    engine = wiring.unchecked_store() if not wiring.store_is_missing() else None
    found = store_revision(engine) if engine is not None else None
    if invocation.output.as_json:
        invocation.output.document({"current": found, "latest": LATEST})
    if found == LATEST:
        invocation.output.print(f"at revision {found}, which is the latest")
    else:
        invocation.output.print(f"at revision {found or 'none'}; the latest is {LATEST}: run `trivet db upgrade`")
    return Exit.FINE


@db.command("grants")
@click.argument("role")
@command
def show_grants(invocation: Invocation, role: str) -> int:
    """Print the SQL by which the owner of a PostgreSQL store lets ROLE run Trivet, and change nothing recorded."""
    statements = list(grants(role))
    if invocation.output.as_json:
        invocation.output.document({"role": role, "statements": statements})
    else:
        invocation.output.raw("\n".join(statements))
    return Exit.FINE


@db.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@command
def backup(invocation: Invocation, file: Path) -> int:
    """Copy the store, as it stands at one moment, to FILE, a SQLite file; whatever writes to it may go on."""
    made = back_up(invocation.wiring().store(create=False), file, shipped("migrations"))
    report = made.report
    if invocation.output.as_json:
        about = {"file": str(file), "ok": report.ok, "entries": report.entries, "rows": report.rows}
        invocation.output.document(about)
    invocation.output.print(f"{file}: {report.entries:,} entries and {report.rows:,} bound rows")
    for item in report.damage:
        invocation.output.complain(f"the store that was copied is damaged: {item}")
    return Exit.FINE if report.ok else Exit.CHECK_FAILED


@db.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--replace", is_flag=True, help="Put a SQLite store that is there aside.")
@command
def restore(invocation: Invocation, file: Path, replace: bool) -> int:
    """Make the backup FILE the store, and say so in its ledger for ever. Stop whatever uses the store first."""
    wiring = invocation.wiring()
    url, now = wiring.store_url(), invocation.clock.now()
    # A key that is named and cannot be read is said before anything is done.
    wiring.signing_key()
    with only_daemon(lock_file(wiring)):
        made = restore_backup(file, url, shipped("migrations"), wiring.witness_files(), now, replace=replace)
        seal_if_due(invocation.output, wiring.sealer(wiring.store(create=False)))
    if invocation.output.as_json:
        aside = str(made.aside) if made.aside else None
        about = {"seq": made.entry.seq, "restored": made.size, "seen": made.seen, "aside": aside}
        invocation.output.document(about)
    invocation.output.print(f"restored {made.size:,} entries; entry {made.entry.seq} tells of it")
    if made.seen is not None and made.seen > made.size:
        invocation.output.print(f"a checkpoint over {made.seen:,} entries was seen: what came behind is lost")
    if made.aside is not None:
        invocation.output.print(f"what was there lies in {made.aside}")
    return Exit.FINE
