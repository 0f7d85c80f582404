"""`trivet ledger tamper-demo`: what the verifier says to damage, shown on copies."""

from __future__ import annotations

import click
from rich.text import Text

from cli.invocation import Invocation, command
from trivet.exits import Exit
from worker.shipped import shipped
from worker.tampering import Tampering, demonstrate


@click.command("tamper-demo")
@command
def tamper_demo(invocation: Invocation) -> int:
    """Damage copies of the store in every way, and show what the verifier says; the store itself is only read."""
    wiring = invocation.wiring()
    store, keys = wiring.store(create=False), wiring.public_keys()
    found = []
    for made in demonstrate(store, shipped("migrations"), invocation.clock, keys):
        found.append(made)
        invocation.output.progress(f"damaged: {made.what}")
    if invocation.output.as_json:
        invocation.output.document({"damaged": [_json(made) for made in found]})
    rows = [(made.what, *_said(made)) for made in found]
    invocation.output.table(["what was done to a copy", "what the verifier says"], rows)
    missed = [made for made in found[1:] if made.report.ok]
    return Exit.CHECK_FAILED if missed or not found[0].report.ok else Exit.FINE


def _said(made: Tampering) -> tuple[Text]:
    if made.report.ok:
        return (Text("fine", style="green"),)
    first, more = made.report.damage[0], len(made.report.damage) - 1
    return (Text(f"{first}{f' (and {more} more)' if more else ''}"),)


def _json(made: Tampering) -> dict[str, object]:
    damage = [{"seq": item.seq, "kind": item.kind, "message": item.message} for item in made.report.damage]
    return {"what": made.what, "ok": made.report.ok, "damage": damage}
