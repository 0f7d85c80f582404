"""`trivet alerts`: what fires, who was told, and whether a receiver can be reached."""

from __future__ import annotations

import secrets
from typing import Any

import click

from alerts.breakdowns import disabled_addresses, forget
from alerts.breakdowns import enable as enable_receiver
from alerts.changes import AlertStatus
from alerts.delivery import DeliveryReport
from alerts.message import probe_message
from alerts.notifiers.port import Notice, Sent
from alerts.reading import Delivery, alerts_of, deliveries
from alerts.recording import status_of
from alerts.routing import Target
from alerts.states import AlertKind, DeliveryState
from cli.invocation import Invocation, command
from cli.output import Output, visible
from trivet.clock import utc_text
from trivet.errors import TrivetError, UsageError
from trivet.exits import Exit
from trivet.findings import did_you_mean
from worker.bootstrap import Wiring
from worker.stores import read_only

_ABOUT = {None: "—", AlertKind.UNJUDGED: "was breach, now unjudged"}


@click.group()
def alerts() -> None:
    """What fires, who was told, and whether a receiver can be reached."""


@alerts.command(name="list")
@command
def list_(invocation: Invocation) -> int:
    """How the alert of each evaluated monitor stands, firing ones first (JSON Lines with --json)."""
    with read_only(invocation.wiring().store(create=False)).connect() as connection:
        found = alerts_of(connection)
    if invocation.output.as_json:
        for item in found:
            invocation.output.document(_status_json(item.monitor, item.status))
    elif not found:
        invocation.output.print("no evaluation has moved an alert yet; `trivet evaluate` makes one")
    else:
        rows = [(item.monitor, item.status.state, _about(item.status), *_slots(item.status)) for item in found]
        invocation.output.table(["monitor", "state", "about", "since", "latest slot"], rows)
    return Exit.FINE


@alerts.command()
@click.argument("monitor")
@click.option("--last", type=click.IntRange(min=1), default=20, show_default=True, help="Deliveries to show.")
@command
def show(invocation: Invocation, monitor: str, last: int) -> int:
    """How the alert of MONITOR stands, and who was told what."""
    with read_only(invocation.wiring().store(create=False)).connect() as connection:
        status = status_of(connection, monitor)
        if status is None:
            known = [item.monitor for item in alerts_of(connection)]
            raise UsageError(f"no evaluation of '{monitor}' moved an alert yet{did_you_mean(monitor, known)}")
        told = deliveries(connection, monitor, last)
    if invocation.output.as_json:
        listed = [_delivery_json(item) for item in told]
        invocation.output.document({**_status_json(monitor, status), "deliveries": listed})
        return Exit.FINE
    since, slot = _slots(status)
    invocation.output.print(f"{monitor}: {status.state}, about: {_about(status)}")
    invocation.output.print(f"since {since}, latest slot {slot}, episode {status.episode}")
    if told:
        columns = ["what", "receiver", "state", "attempts", "next attempt", "last error"]
        invocation.output.table(columns, [_delivery_row(item) for item in told], title="deliveries")
    else:
        invocation.output.print("nobody was told anything")
    return Exit.FINE


@alerts.command()
@click.argument("receiver")
@command
def test(invocation: Invocation, receiver: str) -> int:
    """Send a test to every address of RECEIVER, at once and past the outbox."""
    wiring = invocation.wiring()
    known = wiring.settings.receivers
    if receiver not in known:
        raise UsageError(f"the settings have no receiver '{receiver}'{did_you_mean(receiver, known)}")
    write = invocation.output.complain if invocation.output.as_json else invocation.output.raw
    built = wiring.deliverer.notifiers(write, only=receiver)
    payload = probe_message(receiver, invocation.clock.now()).to_json()
    errors: dict[Target, str | None] = {}
    for target, notifier in built.items():
        ending = notifier.send(Notice(f"test-{secrets.token_hex(16)}", payload))
        errors[target] = None if isinstance(ending, Sent) else ending.error
    if invocation.output.as_json:
        results = [
            {"receiver": target.receiver, "target": target.number, "ok": error is None, "error": error}
            for target, error in errors.items()
        ]
        invocation.output.document({"ok": not any(errors.values()), "targets": results})
    for target, error in errors.items():
        if error is None:
            invocation.output.print(f"{target}: told")
        else:
            invocation.output.complain(f"{target}: {error}")
    for target in _not_sent_to(wiring, receiver):
        advice = f"run `trivet alerts enable {receiver}`"
        invocation.output.complain(
            f"{target}: no alert is sent there, since it said that it is gone for good; {advice}"
        )
    return Exit.UNAVAILABLE if any(errors.values()) else Exit.FINE


def _not_sent_to(wiring: Wiring, receiver: str) -> list[Target]:
    """The addresses of a receiver that alerts are not sent to. Where there is no sound store, none."""
    try:
        if wiring.store_is_missing():
            return []
        with read_only(wiring.store(create=False)).connect() as connection:
            return [target for target in disabled_addresses(connection) if target.receiver == receiver]
    except TrivetError:
        return []


@alerts.command()
@click.argument("receiver")
@command
def enable(invocation: Invocation, receiver: str) -> int:
    """Send to RECEIVER again, which had said that it is gone for good; forget one that left the settings."""
    wiring = invocation.wiring()
    known = wiring.settings.receivers
    with wiring.store(create=False).begin() as connection:
        enabled = enable_receiver(connection, receiver) if receiver in known else 0
        forgotten = 0 if receiver in known else forget(connection, receiver)
    if receiver not in known and not forgotten:
        raise UsageError(f"the settings have no receiver '{receiver}'{did_you_mean(receiver, known)}")
    if invocation.output.as_json:
        invocation.output.document({"receiver": receiver, "enabled": enabled, "forgotten": forgotten})
    elif forgotten:
        invocation.output.print(f"{receiver}: the settings do not name it any more, and its breakdown is forgotten")
    elif enabled:
        invocation.output.print(f"{receiver}: what is told from now on is sent there; what was given up is not")
    else:
        invocation.output.print(f"{receiver}: nothing kept notices from it")
    return Exit.FINE


def complain_of_delivery(output: Output, report: DeliveryReport) -> None:
    """Says what could not be sent, and where it waits."""
    for problem in report.problems:
        output.complain(f"alert for {problem}")
    if report.retrying:
        output.complain("what is tried again waits in the store for `trivet run`, or for the next `trivet evaluate`")


def _about(status: AlertStatus) -> str:
    return _ABOUT.get(status.kind) or str(status.kind)


def _slots(status: AlertStatus) -> tuple[str, str]:
    since, slot = (utc_text(item) if item else "—" for item in (status.since, status.slot))
    return since, slot


def _status_json(monitor: str, status: AlertStatus) -> dict[str, Any]:
    return {
        "monitor": monitor,
        "state": status.state,
        "kind": status.kind,
        "since": utc_text(status.since) if status.since else None,
        "slot": utc_text(status.slot) if status.slot else None,
        "pending": status.pending,
        "episode": status.episode,
        "evaluation_id": status.evaluation_id,
    }


def _delivery_json(item: Delivery) -> dict[str, Any]:
    return {
        "alert_key": item.alert_key,
        "episode": item.episode,
        "ordinal": item.ordinal,
        "event": item.event,
        "receiver": item.target.receiver,
        "target": item.target.number,
        "state": item.state,
        "attempts": item.attempts,
        "next_attempt": item.next_attempt,
        "created_at": item.created_at,
        "ended_at": item.ended_at,
        "last_error": item.last_error,
    }


def _delivery_row(item: Delivery) -> tuple[str, ...]:
    what = f"{item.event} ({item.episode}.{item.ordinal})"
    error = visible(item.last_error) if item.last_error else ""
    state = "delivery unknown" if item.state is DeliveryState.UNKNOWN else item.state
    return what, str(item.target), state, str(item.attempts), item.next_attempt or "—", error
