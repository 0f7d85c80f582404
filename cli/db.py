"""`trivet db`: the audit store's schema."""

from __future__ import annotations

import click

from cli.invocation import Invocation, command
from trivet.exits import Exit
from worker.shipped import shipped
from worker.stores import latest_revision, store_revision, upgrade_store


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
    latest = latest_revision(shipped("migrations"))
    if invocation.output.as_json:
        invocation.output.document({"current": found, "latest": latest})
    if found == latest:
        invocation.output.print(f"at revision {found}, which is the latest")
    else:
        invocation.output.print(f"at revision {found or 'none'}; the latest is {latest}: run `trivet db upgrade`")
    return Exit.FINE
