"""What `trivet doctor` looks at beside files, warehouse and store: whether the work is done, and can be."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from alerts.breakdowns import breakdowns
from alerts.notifiers.addresses import reach_of
from alerts.notifiers.outgoing import Outgoing
from alerts.notifiers.port import NotSent
from trivet.clock import SystemClock, utc_text
from trivet.errors import TrivetError
from trivet.receiver_settings import ReceiverSettings
from trivet.references import Secret, SecretRef
from trivet.sizes import size_bytes
from worker.bootstrap import Wiring
from worker.in_force import InForce
from worker.overdue import Overdue, late_after, overdue_monitors
from worker.processes import LastTick, last_ticks, stale_after
from worker.reaching import port_of, unreachable
from worker.stack.folder import StackFolder
from worker.stack.supervisor import FINE_STATES
from worker.stores import read_only, store_clock
from worker.tables import SlotState

_LATELY = timedelta(seconds=10)
"""How long it is told as wrong that a part ended, though it runs again: long enough to be seen."""
_LEAST_SPACE = 500 * 10**6
_MOST_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Observation:
    """One thing that was looked at."""

    what: str
    fine: bool
    message: str
    """What was found and, where it is not fine, what to do."""


def observe_work(wiring: Wiring) -> Iterator[Observation]:
    """Whether daemons tick, and what they should have evaluated by now. Says nothing where there is no sound store."""
    scheduler = wiring.settings.scheduler
    try:
        if wiring.store_is_missing():
            return
        store = wiring.store(create=False)
        now = store_clock(store, wiring.clock).now()
        in_force = InForce(store).current()
        grace = late_after(scheduler)
        with read_only(store).connect() as connection:
            ticks = last_ticks(connection)
            overdue = []
            if in_force is not None:
                zone = in_force.contract.calendar.time_zone
                overdue = overdue_monitors(connection, in_force.monitors, zone, now, grace)
    except TrivetError:
        return
    yield _daemon(wiring, ticks[0] if ticks else None, now)
    for item in overdue[:_MOST_SHOWN]:
        yield Observation(f"monitor {item.monitor}", False, _overdue(item))
    if len(overdue) > _MOST_SHOWN:
        yield Observation("monitors", False, f"{len(overdue) - _MOST_SHOWN} more are overdue")


def _daemon(wiring: Wiring, last: LastTick | None, now: datetime) -> Observation:
    if last is None:
        return Observation("daemon", True, f"none has run yet; {_start(wiring)} evaluates what comes due")
    name, age = last.daemon.name, now - last.ticked_at
    if last.ended_at is not None:
        return Observation("daemon", True, f"{name} was stopped at {utc_text(last.ended_at)}")
    told = f"{name} ticked {max(0.0, age.total_seconds()):.0f} s ago"
    if age <= stale_after(wiring.settings.scheduler.tick):
        return Observation("daemon", True, told)
    return Observation("daemon", False, f"{told}: it hangs or was killed; look at its log, and start {_start(wiring)}")


def _start(wiring: Wiring) -> str:
    embedded = wiring.settings.scheduler.mode == "embedded"
    return "`trivet run`" if embedded else "`trivet beat` with `trivet worker`"


def _overdue(item: Overdue) -> str:
    match item.state:
        case None:
            return f"overdue: came due after {item.since} and was not planned; see that a daemon runs"
        case SlotState.PLANNED:
            return f"overdue: nobody began the slot of {item.since}; see that a daemon runs, and is not too busy"
        case _:
            return f"overdue: whoever began the slot of {item.since} is gone; a daemon takes it over once one runs"


def observe_broker(wiring: Wiring) -> Iterator[Observation]:
    """Whether the broker answers, where there is one."""
    if wiring.settings.scheduler.mode != "celery":
        return
    # Celery takes longer to load than most commands run.
    from worker.app import broker_problem, make_app

    try:
        problem = broker_problem(make_app(wiring))
    except TrivetError as error:
        problem = str(error)
    yield Observation("broker", problem is None, problem or "answers")


def observe_stack(workspace: Path) -> Iterator[Observation]:
    """How the parts of a stack stand, where one is up: what was started again so quickly that nobody missed it, too."""
    folder = StackFolder.of(workspace)
    state = folder.state() if folder.is_up() else None
    now = SystemClock().now()
    for item in state["parts"] if state is not None else ():
        yield _part(item, now)


def _part(item: Mapping[str, Any], now: datetime) -> Observation:
    what, told = f"part {item['name']}", item["state"]
    if item["ended_at"] is None:
        return Observation(what, item["state"] in FINE_STATES, told)
    age = now - datetime.fromisoformat(item["ended_at"])
    told = f"{told}; ended {item['last_end']} {max(0.0, age.total_seconds()):.0f} s ago"
    if item["state"] in FINE_STATES and age > _LATELY:
        return Observation(what, True, told)
    return Observation(what, False, f"{told}; look at .stack/logs/{item['name']}.log")


def observe_addresses(wiring: Wiring) -> Iterator[Observation]:
    """Whether receivers, and who is told of each tick, can be connected to."""
    for name, receiver in wiring.settings.receivers.items():
        yield _receiver(wiring, name, receiver)
    heartbeat = wiring.settings.watch.heartbeat
    if heartbeat is not None:
        try:
            wiring.life_sign()
        except TrivetError as error:
            yield Observation("heartbeat", False, str(error))
            return
        yield _address(wiring, "heartbeat", heartbeat, insecure=wiring.settings.watch.insecure)


def observe_breakdowns(wiring: Wiring) -> Iterator[Observation]:
    """The receivers that notices were given up for, and that took none since. Without a sound store, none."""
    try:
        if wiring.store_is_missing():
            return
        with read_only(wiring.store(create=False)).connect() as connection:
            found = breakdowns(connection)
    except TrivetError:
        return
    for item in found:
        told = f"notices were given up since {item.since}: {item.error}" if item.since else "it took a notice again"
        if item.disabled_at is not None:
            told = f"{told}; nothing is sent there until `trivet alerts enable {item.target.receiver}`"
        yield Observation(f"telling {item.target}", False, told)


def _receiver(wiring: Wiring, name: str, receiver: ReceiverSettings) -> Observation:
    what = f"receiver {name}"
    if receiver.webhook is not None:
        return _address(wiring, what, receiver.webhook.url, insecure=receiver.webhook.insecure)
    smtp = receiver.smtp
    needed = (*(receiver.apprise or ()), *((smtp.username, smtp.password) if smtp is not None else ()))
    for item in needed:
        if isinstance(item, SecretRef):
            try:
                wiring.secret(item)
            except TrivetError as error:
                return Observation(what, False, str(error))
    if smtp is not None:
        unanswered = unreachable(smtp.host, smtp.at_port)
        return Observation(what, unanswered is None, unanswered or "can be connected to")
    return Observation(what, True, f"`trivet alerts test {name}` sends it something")


def _address(wiring: Wiring, what: str, url: str | SecretRef, *, insecure: bool) -> Observation:
    try:
        secret = wiring.secret(url) if isinstance(url, SecretRef) else Secret(url)
    except TrivetError as error:
        return Observation(what, False, str(error))
    found = Outgoing(secret, reach_of(wiring.settings.delivery, insecure=insecure)).leads_to()
    port = port_of(secret.reveal())
    if isinstance(found, NotSent):
        return Observation(what, False, found.error)
    problem = "it is no http or https URL" if port is None else unreachable(found[0], port)
    return Observation(what, problem is None, problem or "can be connected to")


def observe_space(wiring: Wiring) -> Iterator[Observation]:
    """Whether there is room for what is written: the store and the warehouse, and what does not fit into memory."""
    # A store whose address cannot be read was told of already.
    with suppress(TrivetError):
        store = wiring.store_url().removeprefix("sqlite:///")
        if store != wiring.store_url():
            yield _space("space for the store", Path(store).parent)
    yield _space("space for the warehouse", wiring.warehouse.parent)
    spill = wiring.spill or Path(tempfile.gettempdir())
    found = _space("space for spilling", spill)
    limit = wiring.settings.warehouse.spill_limit
    if found.fine and shutil.disk_usage(spill).free < size_bytes(limit):
        found = Observation(found.what, True, f"{found.message}, though less than warehouse.spill_limit, {limit}")
    yield found


def _space(what: str, folder: Path) -> Observation:
    try:
        free = shutil.disk_usage(folder).free
    except OSError as error:
        return Observation(what, False, f"{folder}: {error.strerror}; make the folder")
    if not os.access(folder, os.W_OK):
        return Observation(what, True, f"{folder} cannot be written by whoever asks")
    told = f"{_LEAST_SPACE // 10**6} MB"
    if free < _LEAST_SPACE:
        return Observation(what, False, f"{free // 10**6} MB are free at {folder}; make room for {told} at least")
    return Observation(what, True, f"more than {told}")
