"""`trivet ledger completeness`: whether every slot that came due has exactly one result."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path

import click

from cli.invocation import Invocation, command
from cli.output import Output, visible
from ledger.entries import LedgerEntry
from ledger.reading import entries
from ledger.verification.files import ENTRIES, MANIFEST
from trivet.clock import utc_text
from trivet.durations import duration_text, parse_duration
from trivet.errors import InputError, UsageError
from trivet.exits import Exit
from trivet.findings import Finding
from worker.completeness import GRACE, Entry, MonitorReport, Period, Report, completeness
from worker.stores import read_only, store_clock

_MOST_SHOWN = 10
"""Slots of one kind that are listed of one monitor; `--json` has them all."""
_FAULTS = (
    ("missing", "without a result"),
    ("doubled", "with more than one result"),
    ("unexpected", "with a result though they were not due"),
)
_NOTES = (
    ("ahead", "ended by a clock that ran ahead, and not due any more once it was right"),
    ("unjudged", "from before the first publication, or of refreshes: nothing tells whether they were due"),
)


@click.command("completeness")
@click.option("--since", metavar="TIME", help="The first instant; the first publication if absent.")
@click.option("--until", metavar="TIME", help="The last instant; the present, or that of the export, if absent.")
@click.option(
    "--grace",
    metavar="DURATION",
    default=duration_text(GRACE),
    show_default=True,
    help="How long before the present a slot may be without a result and is open still.",
)
@click.option(
    "--export",
    "exported",
    type=click.Path(path_type=Path, exists=True),
    help="What `trivet ledger export` wrote, its folder or its entries.jsonl, and no store.",
)
@command
def complete(invocation: Invocation, since: str | None, until: str | None, grace: str, exported: Path | None) -> int:
    """Compare the slots that came due with their results: each must have exactly one.

    What was due follows from what `trivet apply` and `trivet run` published. Times without an offset are in UTC.
    """
    allowed = parse_duration(grace)
    if allowed is None:
        raise UsageError(f"--grace: '{grace}' is no duration; write 90s, 5m or 1h")
    first = invocation.instant(since, "UTC", "--since") if since is not None else None
    last = invocation.instant(until, "UTC", "--until") if until is not None else None
    if first is not None and last is not None and last < first:
        raise UsageError("--until: it lies before --since")
    if exported is not None:
        report = completeness(_exported_entries(exported), Period(first, last, _exported_at(exported), allowed))
    else:
        store = invocation.wiring().store(create=False)
        as_of = store_clock(store, invocation.clock).now()
        with read_only(store).connect() as connection:
            report = completeness(_stored_entries(entries(connection)), Period(first, last, as_of, allowed))
    if invocation.output.as_json:
        invocation.output.document(_document(report))
    _print(invocation.output, report)
    return Exit.FINE if report.is_clean else Exit.CHECK_FAILED


def _stored_entries(found: Iterable[LedgerEntry]) -> Iterator[Entry]:
    return (Entry(item.seq, item.entry_type, item.payload) for item in found)


def _exported_entries(place: Path) -> Iterator[Entry]:
    file = place / ENTRIES if place.is_dir() else place
    if not file.is_file():
        raise InputError(
            [Finding(str(file), None, "", "there is no such file; name what `trivet ledger export` wrote")]
        )
    with file.open(encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                item = json.loads(line)
                yield Entry(int(item["seq"]), str(item["entry_type"]), str(item["payload"]))
            except (ValueError, KeyError, TypeError, RecursionError):
                message = f"line {number} is no entry of an export"
                raise InputError([Finding(str(file), None, "", message)]) from None


def _exported_at(place: Path) -> datetime | None:
    """When an export was made; None where its manifest does not say so."""
    try:
        manifest = json.loads((place / MANIFEST if place.is_dir() else place.with_name(MANIFEST)).read_bytes())
        return datetime.fromisoformat(manifest["exported_at"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _document(report: Report) -> dict[str, object]:
    return {
        "complete": report.is_clean,
        "since": utc_text(report.since) if report.since else None,
        "until": utc_text(report.until) if report.until else None,
        "faults": list(report.faults),
        "monitors": [item.to_json() for item in report.monitors],
    }


def _print(output: Output, report: Report) -> None:
    if report.since is None or report.until is None:
        output.print("nothing was published, so nothing came due")
    else:
        names = ("due", "ended", "covered", "open", "missing", "doubled", "unexpected")
        rows = [(item.monitor, *(_count(item, name) for name in names)) for item in report.monitors]
        output.table(["monitor", *names], rows, title=f"{_shown(report.since)} to {_shown(report.until)}")
    for fault in report.faults:
        output.complain(visible(fault))
    for item in report.monitors:
        for name, told in _FAULTS:
            if found := getattr(item, name):
                output.complain(f"{visible(item.monitor)}: {len(found)} {told}: {_listed(found)}")
    for name, told in _NOTES:
        if number := sum(getattr(item, name) for item in report.monitors):
            output.print(f"{number:,} {told}")
    late = [at for item in report.monitors for at in item.missing]
    if late and report.last_result is not None and min(late) > report.last_result:
        last = _shown(report.last_result)
        output.complain(f"no slot after {last} has a result: whatever evaluates was stopped then, or never began")
    elif report.is_clean and report.monitors:
        output.print(f"fine: each of {sum(item.due for item in report.monitors):,} slots has one result, or is open")


def _count(report: MonitorReport, name: str) -> str:
    found = getattr(report, name)
    return f"{found if isinstance(found, int) else len(found):,}"


def _listed(slots: Sequence[datetime]) -> str:
    rest = f" and {len(slots) - _MOST_SHOWN} more" if len(slots) > _MOST_SHOWN else ""
    return ", ".join(_shown(at) for at in slots[:_MOST_SHOWN]) + rest


def _shown(instant: datetime) -> str:
    return utc_text(instant).replace(".000000Z", "Z")
