"""`trivet alerts digest`: what a daily digest would say now, without sending it."""

from __future__ import annotations

import json

import click

from alerts.digesting import DigestSlot
from alerts.message import digest_message
from alerts.rendering import body, subject
from cli.invocation import Invocation, command
from cli.output import visible
from trivet.digest_settings import DigestSettings
from trivet.errors import UsageError
from trivet.exits import Exit
from trivet.findings import did_you_mean
from worker.in_force import InForce
from worker.stores import read_only, store_clock


@click.command()
@click.argument("receiver", required=False)
@command
def digest(invocation: Invocation, receiver: str | None) -> int:
    """Print what the digest for RECEIVER would say now: how every monitor stands. Nothing is sent or recorded."""
    wiring = invocation.wiring()
    asked = wiring.settings.digests
    if receiver is not None and receiver not in {item.receiver for item in asked}:
        known = did_you_mean(receiver, [item.receiver for item in asked])
        raise UsageError(f"the settings have no digest for '{receiver}'{known}")
    wanted = next((item for item in asked if receiver in (None, item.receiver)), None)
    wanted = wanted or DigestSettings(at="00:00", receiver="nobody")
    store = wiring.store(create=False)
    now, in_force = store_clock(store, wiring.clock).now(), InForce(store)
    digester, found = wiring.digester(store, in_force), in_force.current()
    slot = DigestSlot(wanted.receiver, now.astimezone(digester.zone(wanted, found)).date(), now)
    with read_only(store).connect() as connection:
        made = digester.digest(connection, wanted, found, slot, now)
    message = digest_message(slot.name, made, slot.day.toordinal(), now)
    if invocation.output.as_json:
        invocation.output.document(json.loads(message.to_json()))
    invocation.output.print(subject(message))
    invocation.output.print(body(message, visible))
    return Exit.FINE
