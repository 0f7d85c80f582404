"""Monitors with a history of their own, from the command line: judged, dry, asked about, checked and erased."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.command import trivet
from tests.acceptance.files import files_of, rows_of

MONITORS = """\
monitors:
  - id: readings-arrive
    title: Stations that went quiet
    object: reading
    group_by: [station]
    where: age(taken_on) = 1d
    breach_when: count() < 0.5 * baseline.usual
    baselines:
      usual: {of: count(), statistic: median, last: 14, min_history: 2}
"""
COUNTS = {5: {"north": 3, "south": 2}, 6: {"north": 4, "south": 2}, 7: {"north": 1, "south": 2}}
"""Readings of January, by day and station."""
READINGS = "reading_id,station,temperature,taken_on\n" + "".join(
    f"{station}-{day}-{number},{station},4.0,2026-01-{day:02}\n"
    for day, counts in COUNTS.items()
    for station, count in counts.items()
    for number in range(count)
)


def evaluate(at: Path, day: int, *more: str) -> tuple[int, dict[str, int]]:
    """Exit code, and how many groups have each verdict."""
    ended = trivet("evaluate", "readings-arrive", "--at", f"2026-01-{day:02}T09:00", "--json", *more, at=at)
    return ended.code, {name: ended.document[name] for name in ("breach", "no_data", "compliant")}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three days of readings, and no evaluation yet."""
    at = tmp_path_factory.mktemp("history") / "cold-store"
    assert trivet("init", at).code == 0
    (at / "monitors" / "example.yaml").write_text(MONITORS, "utf-8")
    (at / "sources" / "readings.csv").write_text(READINGS, "utf-8")
    assert trivet("ingest", at=at).code == 0
    return at


def test_a_monitor_learns_decides_and_tells(workspace: Path) -> None:
    before = files_of(workspace)
    assert evaluate(workspace, 8, "--dry-run") == (2, {"breach": 0, "no_data": 2, "compliant": 0})
    assert files_of(workspace) == before, "a dry run made a store"
    assert evaluate(workspace, 6) == (2, {"breach": 0, "no_data": 2, "compliant": 0})
    assert evaluate(workspace, 7) == (2, {"breach": 0, "no_data": 2, "compliant": 0})
    assert evaluate(workspace, 8) == (1, {"breach": 1, "no_data": 0, "compliant": 1})
    assert trivet("ledger", "verify", at=workspace).code == 0

    recorded = rows_of(workspace)
    assert evaluate(workspace, 8, "--dry-run") == (1, {"breach": 1, "no_data": 0, "compliant": 1})
    assert rows_of(workspace) == recorded

    shown = trivet("monitors", "show", "readings-arrive", "--json", at=workspace).document
    rule = {"of": "count()", "statistic": "median", "last": 14, "weekday": "any", "min_history": 2}
    assert shown["baselines"] == {"usual": rule}
    entry = trivet("ledger", "show", "--type", "evaluation", "--last", "1", "--json", at=workspace).document
    used = entry["payload"]["baselines"]["usual"]
    assert {name: used[name] for name in rule} == rule
    assert len(used["evaluations"]) == 2

    replayed = trivet("ledger", "replay", str(entry["seq"]), "--json", at=workspace).document
    assert (replayed["result"], replayed["rerun"]["result"]) == ("reproduced", "reproduced")

    erasing = ("ledger", "redact", str(entry["seq"]), "--by", "data officer", "--reason", "asked for", "--yes")
    assert trivet(*erasing, at=workspace).code == 64
    assert trivet(*erasing, "--member", "1", "--group", "2", at=workspace).code == 64
    assert trivet(*erasing, "--group", "2", at=workspace).code == 0
    assert [row[4] for row in rows_of(workspace)["measure"][-2:]] == ['{"station":"north"}', "{}"]
    assert trivet("ledger", "verify", at=workspace).code == 0


def test_a_monitor_that_only_lacks_a_history_is_warned_of(tmp_path: Path) -> None:
    at = tmp_path / "cold-store"
    assert trivet("init", at).code == 0
    anywhen = MONITORS.replace("    where: age(taken_on) = 1d\n", "")
    (at / "monitors" / "example.yaml").write_text(anywhen, "utf-8")
    assert trivet("ingest", at=at).code == 0
    told = trivet("check", "--live", at=at)
    place = "monitors/example.yaml:6:18: monitors[0].breach_when"
    message = "decides nothing: all 2 members are no_data: 2 insufficient (there are too few values)"
    assert (told.code, told.err) == (0, f"warning: {place}: monitor readings-arrive: {message}\n")
    for day in (6, 7):
        assert evaluate(at, day)[0] == 2
    told = trivet("check", "--live", at=at)
    assert (told.code, told.err) == (0, "")
    asked = trivet("ask", "Which reading rows: Stations that went quiet?", at=at)
    assert (asked.code, "insufficient" in asked.out) == (0, False), asked.out
