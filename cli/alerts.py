"""`trivet alerts`: what fires, who was told, and whether a receiver can be reached."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import Any

import click
from rich.text import Text

from alerts.accepting import acceptances_of
from alerts.breakdowns import disabled_addresses, forget
from alerts.breakdowns import enable as enable_receiver
from alerts.delivery import DeliveryReport
from alerts.groups import MARK
from alerts.message import probe_message
from alerts.notifiers.port import Notice, Sent
from alerts.outages import PREFIX
from alerts.reading import Delivery, NamedAlert, alerts_of, deliveries, open_groups, required_alert
from alerts.reminders import acknowledge_alert, release_members
from alerts.routing import Target
from alerts.states import AlertKind, DeliveryState
from alerts.status import AlertStatus
from alerts.wording import shortened
from cli.alerts_accept import accept, unaccept
from cli.alerts_digest import digest
from cli.alerts_silence import silence, unsilence
from cli.given import said
from cli.invocation import Invocation, command
from cli.output import Output, visible
from trivet.clock import utc_text
from trivet.errors import TrivetError, UsageError
from trivet.exits import Exit
from trivet.findings import did_you_mean
from worker.applying import person
from worker.bootstrap import Wiring
from worker.stores import read_only, store_clock

_LONGEST_ABOUT = 100
_MOST_GROUPS = 20
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
            invocation.output.document(_alert_json(item))
    elif not found:
        invocation.output.print("no evaluation has moved an alert yet; `trivet evaluate` makes one")
    else:
        rows = [_row(item) for item in found]
        invocation.output.table(["monitor", "state", "severity", "about", "since", "latest slot"], rows)
    return Exit.FINE


@alerts.command()
@click.argument("monitor")
@click.option("--last", type=click.IntRange(min=1), default=20, show_default=True, help="Deliveries to show.")
@command
def show(invocation: Invocation, monitor: str, last: int) -> int:
    """How the alert of MONITOR stands, and who was told what."""
    wiring = invocation.wiring()
    store = wiring.store(create=False)
    now = store_clock(store, wiring.clock).now()
    with read_only(store).connect() as connection:
        found = required_alert(connection, monitor)
        told = deliveries(connection, monitor, last)
        groups = open_groups(connection, monitor)
        accepted = acceptances_of(connection, {monitor.partition(MARK)[0]}, now)
    if found.group is not None:
        accepted = [item for item in accepted if item.to_json()["key"] == found.group]
    if invocation.output.as_json:
        listed = {
            "groups": groups,
            "acceptances": [item.to_json() for item in accepted],
            "deliveries": [_delivery_json(item) for item in told],
        }
        invocation.output.document({**_alert_json(found), **listed})
        return Exit.FINE
    status = found.status
    since, slot = _slots(status)
    invocation.output.print(f"{monitor}: {status.state}, about: {_about(found)}")
    invocation.output.print(f"since {since}, latest slot {slot}, episode {status.episode}")
    for line in _more(found):
        invocation.output.print(visible(line))
    for item in accepted:
        invocation.output.print(Text(visible(f"{item.key_words()} is {item.words()}")))
    if groups:
        names = ", ".join(groups[:_MOST_GROUPS]) + (", …" if len(groups) > _MOST_GROUPS else "")
        invocation.output.print(f"{len(groups):,} of its groups fire by themselves: {names}")
    if told:
        columns = ["what", "receiver", "state", "attempts", "next attempt", "last error"]
        invocation.output.table(columns, [_delivery_row(item) for item in told], title="deliveries")
    else:
        invocation.output.print("nobody was told anything")
    return Exit.FINE


@alerts.command()
@click.argument("monitor")
@click.option("--owner", required=True, help="Who takes it on; the ledger says so for ever.")
@command
def ack(invocation: Invocation, monitor: str, owner: str) -> int:
    """Take on the alert of MONITOR: it is not repeated, and nobody else is called, unless it becomes worse.

    MONITOR takes on the alerts of its groups as well, if they have their own; MONITOR#NUMBER takes on one of them.
    """
    by = said("--owner", owner)
    wiring = invocation.wiring()
    store = wiring.store(create=False)
    now = store_clock(store, wiring.clock).now()
    with store.begin() as connection:
        required_alert(connection, monitor)
        changes = acknowledge_alert(connection, monitor, by, now)
    for name, change in changes.items():
        if invocation.output.as_json:
            document = {"monitor": name, "episode": change.episode, "acknowledged_by": by, "at": utc_text(now)}
            invocation.output.document(document)
        invocation.output.print(visible(f"{name} is acknowledged by {by}"))
    return Exit.FINE


@alerts.command()
@click.argument("monitor")
@click.option("--owner", required=True, help="Who answers for it; the ledger says so for ever.")
@click.option("--reason", required=True, help="Why; the ledger says so for ever.")
@command
def release(invocation: Invocation, monitor: str, owner: str, reason: str) -> int:
    """Let go of members of MONITOR that breached and are not there any more, which no evaluation can judge."""
    by, why = said("--owner", owner), said("--reason", reason)
    wiring = invocation.wiring()
    store = wiring.store(create=False)
    now = store_clock(store, wiring.clock).now()
    with store.begin() as connection:
        required_alert(connection, monitor)
        change = release_members(connection, monitor, by, why, now)
    if invocation.output.as_json:
        document = {
            "monitor": monitor,
            "episode": change.episode,
            "released": change.gone,
            "by": by,
            "at": utc_text(now),
        }
        invocation.output.document(document)
    invocation.output.print(f"{monitor}: {change.gone:,} released; the next evaluation judges without them")
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
@click.option("--owner", help="Who says so, for the ledger; whoever runs the command if absent.")
@command
def enable(invocation: Invocation, receiver: str, owner: str | None) -> int:
    """Send to RECEIVER again, which had said that it is gone for good; forget one that left the settings."""
    wiring = invocation.wiring()
    known = wiring.settings.receivers
    by = person() if owner is None else said("--owner", owner)
    store = wiring.store(create=False)
    now = store_clock(store, wiring.clock).now()
    with store.begin() as connection:
        enabled = enable_receiver(connection, receiver, by, now) if receiver in known else 0
        forgotten = 0 if receiver in known else forget(connection, receiver, by, now)
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


alerts.add_command(accept)
alerts.add_command(unaccept)
alerts.add_command(digest)
alerts.add_command(silence)
alerts.add_command(unsilence)


def complain_of_delivery(output: Output, report: DeliveryReport) -> None:
    """Says what could not be sent, and where it waits."""
    for problem in report.problems:
        output.complain(f"alert for {problem}")
    if report.retrying:
        output.complain("what is tried again waits in the store for `trivet run`, or for the next `trivet evaluate`")


def _about(item: NamedAlert) -> str:
    if item.monitor.startswith(PREFIX) and item.message is not None:
        count = item.message.monitor_count
        what = item.message.detail or item.message.cause or item.message.not_made or ""
        return visible(shortened(f"{count} monitors cannot be judged: {what}", _LONGEST_ABOUT))
    kind = _ABOUT.get(item.status.kind) or str(item.status.kind)
    if item.group is None:
        return kind
    group = ", ".join(f"{name} {value or '—'}" for name, value in item.group.items()) or "erased"
    return visible(shortened(f"{kind}; {group}", _LONGEST_ABOUT))


def _row(item: NamedAlert) -> tuple[str, ...]:
    return item.monitor, item.status.state, item.status.severity or "—", _about(item), *_slots(item.status)


def _more(item: NamedAlert) -> Iterator[str]:
    """What is to be said of an alert only where there is something to say."""
    if item.message is not None:
        if item.message.badge is not None:
            yield f"badge: {item.message.badge}"
        if item.message.accepted:
            yield f"of the breaches {item.message.accepted} accepted"
        if item.message.carried:
            gone = f", {item.message.gone} of them not there any more" if item.message.gone else ""
            yield f"{item.message.carried} was breach, now unjudged{gone}"
        if item.message.held:
            yield f"{item.message.held} was breach, and has not recovered as far as the monitor asks"
    if item.status.acknowledged_by:
        yield f"acknowledged by {item.status.acknowledged_by}"
    if item.status.flapping:
        yield "it comes and goes; nothing is told until it is steady"
    if item.outage is not None:
        yield f"told as part of {item.outage}"


def _slots(status: AlertStatus) -> tuple[str, str]:
    since, slot = (utc_text(item) if item else "—" for item in (status.since, status.slot))
    return since, slot


def _alert_json(item: NamedAlert) -> dict[str, Any]:
    status, message = item.status, item.message
    return {
        "monitor": item.monitor,
        "state": status.state,
        "kind": status.kind,
        "since": utc_text(status.since) if status.since else None,
        "slot": utc_text(status.slot) if status.slot else None,
        "pending": status.pending,
        "episode": status.episode,
        "evaluation_id": status.evaluation_id,
        "severity": status.severity,
        "badge": message.badge if message is not None else None,
        "carried": message.carried if message is not None else 0,
        "gone": message.gone if message is not None else 0,
        "held": message.held if message is not None else 0,
        "accepted": message.accepted if message is not None else 0,
        "flapping": status.flapping,
        "acknowledged_by": status.acknowledged_by,
        "outage": item.outage,
        "monitors": message.monitor_count if message is not None else 0,
        "group": dict(item.group) if item.group is not None else None,
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
        "gathered_in": item.gathered_in,
    }


def _delivery_row(item: Delivery) -> tuple[str, ...]:
    what = f"{item.event} ({item.episode}.{item.ordinal})"
    error = visible(item.last_error) if item.last_error else ""
    state = "delivery unknown" if item.state is DeliveryState.UNKNOWN else item.state
    return what, str(item.target), state, str(item.attempts), item.next_attempt or "—", error
