"""`trivet alerts accept` and `unaccept`: breaches that somebody knows of, and answers for until a date."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import click
from rich.text import Text

from alerts.accepting import Acceptance, Term, accept_members, acceptances_of, end_acceptances
from cli.given import said
from cli.invocation import Invocation, command, find_monitors
from cli.output import visible
from monitors.member_keys import parse_member_key, read_member_key
from trivet.errors import UsageError
from trivet.exits import Exit
from worker.stores import store_clock

_KEY = "NAME=VALUE, or a JSON object where the key has several parts; as often as there are members."


@click.command()
@click.argument("monitor")
@click.option("--key", "keys", multiple=True, required=True, metavar="KEY", help=_KEY)
@click.option("--until", required=True, metavar="DATE", help="The last day for which it holds, as 2027-01-31.")
@click.option("--owner", required=True, help="Who answers for it; the ledger says so for ever.")
@click.option("--reason", required=True, help="Why; the ledger says so for ever.")
@command
def accept(invocation: Invocation, monitor: str, keys: tuple[str, ...], until: str, owner: str, reason: str) -> int:
    """Accept members of MONITOR that are in breach, until a date. They are counted and shown, and alert nobody."""
    workspace = invocation.workspace()
    _, contract, known = workspace.require()
    (definition,) = find_monitors(known, (monitor,))
    wanted = [read_member_key("--key", key, definition, contract) for key in keys]
    by, why, last_day = said("--owner", owner), said("--reason", reason), _day("--until", until)
    wiring = invocation.wiring(workspace)
    store = wiring.store(create=False)
    now = store_clock(store, wiring.clock).now()
    end = datetime.combine(last_day + timedelta(days=1), time(), ZoneInfo(contract.calendar.time_zone))
    if end <= now:
        raise UsageError(f"--until: {last_day} has passed already")
    with store.begin() as connection:
        term = Term(by, why, now, end.astimezone(UTC), last_day)
        made = accept_members(connection, definition.id, wanted, term)
    if invocation.output.as_json:
        invocation.output.document({"accepted": [item.to_json() for item in made]})
    for item in made:
        invocation.output.print(Text(visible(f"{monitor}: {item.key_words()} is {item.words()}")))
    invocation.output.print("the next evaluation heeds it; they stay in breach in verdict, counts and samples")
    return Exit.FINE


@click.command()
@click.argument("monitor")
@click.option("--key", "keys", multiple=True, metavar="KEY", help=f"{_KEY} All of the monitor if absent.")
@click.option("--owner", required=True, help="Who ends it; the ledger says so for ever.")
@click.option("--reason", required=True, help="Why; the ledger says so for ever.")
@command
def unaccept(invocation: Invocation, monitor: str, keys: tuple[str, ...], owner: str, reason: str) -> int:
    """End acceptances of MONITOR before their date. What is in breach then alerts with the next evaluation."""
    by, why = said("--owner", owner), said("--reason", reason)
    wiring = invocation.wiring()
    store = wiring.store(create=False)
    now = store_clock(store, wiring.clock).now()
    with store.begin() as connection:
        known = acceptances_of(connection, {monitor}, now)
        wanted = {key: [item.member_key for item in known if _means(key, item)] for key in keys}
        for key, found in wanted.items():
            if not found:
                raise UsageError(f"--key: no member {key} of {monitor} is accepted; `trivet alerts show` lists them")
        chosen = {name for found in wanted.values() for name in found} if keys else None
        ended = end_acceptances(connection, monitor, chosen, by, why, now)
        if not ended:
            raise UsageError(f"no member of '{monitor}' is accepted")
    if invocation.output.as_json:
        invocation.output.document({"ended": [item.to_json() for item in ended]})
    for item in ended:
        invocation.output.print(Text(visible(f"{monitor}: {item.key_words()} is not accepted any more")))
    return Exit.FINE


def _means(key: str, item: Acceptance) -> bool:
    """Whether `--key` names that member; its monitor may have left the files, so nothing else is asked."""
    found = item.to_json()["key"]
    if not isinstance(found, dict):
        return False
    return parse_member_key("--key", key, list(found)) == found


def _day(option: str, text: str) -> date:
    try:
        # Before the last years of the calendar, whose next day no time zone can write.
        found = date.fromisoformat(text) if len(text) == len("2027-01-31") else None
    except ValueError:
        found = None
    if found is None or not 1 < found.year < 9999:
        raise UsageError(f"{option}: '{text}' is no date; write 2027-01-31")
    return found
