"""`trivet apply` puts the files in force, all or nothing; `trivet ledger completeness` holds slots against results."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from ledger.reading import entries
from tests.acceptance.command import finish, start, trivet
from tests.acceptance.daemons import QUICK, evaluated, kill, opened, running, stop, wait_for
from tests.acceptance.files import append_to, files_of, last_entry, replace_in
from tests.integration.servers import PostgresServer, postgres, running_redis
from trivet.clock import utc_text
from worker.completeness import Entry, Period
from worker.completeness import completeness as evaluate_completeness
from worker.stores import read_only

__all__ = ["postgres"]

MONITORS = "monitors/example.yaml"


@pytest.fixture
def applied(small: Path) -> Path:
    """The small workspace, in force."""
    assert trivet("apply", at=small).code == 0
    return small


def second_monitor(workspace: Path) -> None:
    text = "monitors: [{id: second, object: reading, breach_when: temperature < 0, schedule: {every: 1h}}]\n"
    (workspace / "monitors" / "second.yaml").write_text(text, "utf-8")


def test_a_dry_run_shows_what_would_change_and_makes_no_store(small: Path) -> None:
    before = files_of(small)
    ended = trivet("apply", "--dry-run", at=small)
    assert ended.code == 0
    contract, monitor, told = ended.out.splitlines()
    assert contract.startswith("+ contract example 0.1.0 (")
    assert monitor == "+ reading-too-warm"
    assert told == "nothing was published; without --dry-run it would be"
    assert files_of(small) == before


def test_what_changed_is_shown_and_published_as_one_entry(applied: Path) -> None:
    second_monitor(applied)
    replace_in(applied / MONITORS, "severity: warning", "severity: critical")
    replace_in(applied / "contract.yaml", "version: 0.1.0", "version: 0.2.0")
    before = last_entry(applied)
    dry = trivet("apply", "--dry-run", at=applied)
    assert last_entry(applied) == before
    ended = trivet("apply", "--by", "A. Person", at=applied)
    assert ended.out.splitlines()[:-1] == dry.out.splitlines()[:-1]
    changed, added, edited = ended.out.splitlines()[:-1]
    assert changed.startswith("~ contract example 0.1.0 (")
    assert ") -> example 0.2.0 (" in changed
    assert (added, edited) == ("+ second", "~ reading-too-warm: severity")
    (entry,) = trivet("ledger", "show", str(last_entry(applied)), "--json", at=applied).documents
    assert (entry["entry_type"], entry["payload"]["published_by"]) == ("publication", "A. Person")
    assert ended.out.splitlines()[-1].startswith(f"published as ledger entry {entry['seq']};")
    assert f"{entry['seq']}     publication" in trivet("ledger", "show", at=applied).out
    assert trivet("ledger", "verify", at=applied).code == 0


def test_nothing_changed_is_said_and_not_published(applied: Path) -> None:
    before = last_entry(applied)
    append_to(applied / MONITORS, "# A comment.\n")
    ended = trivet("apply", at=applied)
    assert (ended.code, ended.out) == (0, f"nothing changed: ledger entry {before} is in force\n")
    assert last_entry(applied) == before


def test_a_bad_file_changes_nothing_and_every_fault_is_told(applied: Path) -> None:
    second_monitor(applied)
    replace_in(applied / MONITORS, "temperature > 5", "temprature > 5")
    append_to(applied / "trivet.yaml", "stor: {}\n")
    before = files_of(applied)
    for arguments in (["apply"], ["apply", "--dry-run"]):
        ended = trivet(*arguments, "--json", at=applied)
        assert ended.code == 65
        assert [item["file"] for item in ended.document["error"]["findings"]] == ["trivet.yaml", MONITORS]
        assert files_of(applied) == before


def test_as_json_it_tells_the_changes(small: Path) -> None:
    first = trivet("apply", "--json", "--by", "somebody", at=small).document
    assert (first["published"], first["ledger_seq"], first["published_by"]) == (True, last_entry(small), "somebody")
    assert first["changes"]["added"] == ["reading-too-warm"]
    (small / MONITORS).unlink()
    second_monitor(small)
    dry = trivet("apply", "--json", "--dry-run", at=small).document
    assert (dry["published"], dry["ledger_seq"], dry["published_by"]) == (False, first["ledger_seq"], None)
    assert dry["changes"] == {"contract": None, "added": ["second"], "removed": ["reading-too-warm"], "changed": []}


@pytest.mark.parametrize("name", ["", "  ", "two\nlines", "x" * 201])
def test_a_name_must_be_one(small: Path, name: str) -> None:
    ended = trivet("apply", "--by", name, at=small)
    assert ended.code == 64
    assert "--by: give a name" in ended.err
    assert not (small / "trivet.db").exists()


def test_the_doctor_says_where_files_differ_from_what_is_in_force(small: Path) -> None:
    def in_force() -> tuple[int, list[tuple[bool, str]]]:
        ended = trivet("doctor", "--json", at=small)
        found = ended.document["observations"]
        return ended.code, [(item["fine"], item["message"]) for item in found if item["what"] == "in force"]

    assert in_force() == (0, [])
    assert trivet("evaluate", at=small).code == 1
    assert in_force() == (0, [(True, "nothing was published yet; `trivet run` or `trivet apply` does it")])
    assert trivet("apply", at=small).code == 0
    assert in_force() == (0, [(True, f"1 monitor, as the files have them (ledger entry {last_entry(small)})")])
    replace_in(small / MONITORS, "every: 1h", "every: 2h")
    told = "the files differ from what is in force (changed reading-too-warm (schedule)); run `trivet apply`"
    assert in_force() == (4, [(False, told)])


def test_an_evaluation_by_hand_goes_by_the_files(applied: Path) -> None:
    replace_in(applied / MONITORS, "temperature > 5", "temperature > 50")
    assert trivet("evaluate", "--json", at=applied).document["breach"] == 0


def test_completeness_speaks_of_what_was_published(small: Path) -> None:
    assert trivet("evaluate", at=small).code == 1
    ended = trivet("ledger", "completeness", at=small)
    assert (ended.code, ended.out) == (0, "nothing was published, so nothing came due\n")
    assert trivet("apply", at=small).code == 0
    later = utc_text(datetime.now(UTC) + timedelta(hours=9))
    assert trivet("ledger", "completeness", "--until", later, at=small).code == 0
    found = trivet("ledger", "completeness", "--json", at=small).document
    assert (found["complete"], found["faults"]) == (True, [])


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--grace", "soon"], "--grace: 'soon' is no duration"),
        (["--since", "noon"], "--since: 'noon' is no time"),
        (["--since", "2026-11-30T06:00", "--until", "2026-11-30T05:00"], "--until: it lies before --since"),
    ],
)
def test_a_period_must_be_one(applied: Path, arguments: list[str], told: str) -> None:
    ended = trivet("ledger", "completeness", *arguments, at=applied)
    assert ended.code == 64
    assert told in ended.err


def test_a_file_that_is_no_export_is_refused(small: Path) -> None:
    for file in (small, small / MONITORS):
        ended = trivet("ledger", "completeness", "--export", file, at=small)
        assert ended.code == 65, ended.err


@pytest.fixture(params=["sqlite", "postgresql"])
def environment(request: pytest.FixtureRequest, small: Path) -> dict[str, str]:
    """A store of either kind, for daemons whose monitor comes due every second."""
    replace_in(small / MONITORS, "every: 1h", "every: 1s")
    url = f"sqlite:///{small / 'trivet.db'}"
    if request.param == "postgresql":
        server: PostgresServer = request.getfixturevalue("postgres")
        url = server.new_database()
    found = QUICK | {"TRIVET_STORE__URL": url}
    assert finish(start("db", "upgrade", at=small, environment=found)).code == 0
    return found


def completeness(workspace: Path, environment: dict[str, str], *arguments: str | Path) -> tuple[int, dict[str, object]]:
    ended = finish(
        start("ledger", "completeness", "--json", *arguments, at=workspace, environment=environment),
    )
    return ended.code, ended.document


def is_complete(store: sa.Engine, until: str) -> bool:
    """Whether each slot up to an instant has its result."""
    with read_only(store).connect() as connection:
        found = [Entry(item.seq, item.entry_type, item.payload) for item in entries(connection)]
    last = datetime.fromisoformat(until)
    return evaluate_completeness(found, Period(None, last, last, timedelta())).is_clean


@pytest.mark.slow
def test_a_daemon_that_is_killed_three_times_with_changes_in_between_leaves_a_complete_ledger(
    small: Path, environment: dict[str, str]
) -> None:
    with opened(environment["TRIVET_STORE__URL"]) as store:
        for number, every in enumerate(("2s", "1s", "3s")):
            with running(small, "run", environment=environment) as daemon:
                made = evaluated(store)
                wait_for(lambda made=made: evaluated(store) > made + 1, daemon)
                replace_in(small / MONITORS, "schedule: {every: ", f"schedule: {{every: {every}}} # {number} ")
                if number == 1:
                    second_monitor(small)
                assert finish(start("apply", at=small, environment=environment)).code == 0
                made = evaluated(store)
                wait_for(lambda made=made: evaluated(store) > made + 1, daemon)
                kill(daemon)
        replace_in(small / MONITORS, "severity: warning", "severity: critical")
        with running(small, "run", environment=environment) as daemon:
            made = evaluated(store)
            wait_for(lambda: evaluated(store) > made + 1, daemon)
            until = utc_text(datetime.now(UTC))
            wait_for(lambda: is_complete(store, until), daemon)
            told = stop(daemon).out.splitlines()[0]
    assert told.startswith("published as ledger entry ")
    assert told.endswith(": changed reading-too-warm (severity)")
    code, found = completeness(small, environment, "--grace", "0s", "--until", until)
    assert (code, found["complete"], found["faults"]) == (0, True, [])
    (first, *_) = found["monitors"]
    assert first["monitor"] == "reading-too-warm"
    assert first["due"] == first["ended"] > 8
    assert_an_export_says_the_same(small, environment, until, found)


def assert_an_export_says_the_same(
    workspace: Path, environment: dict[str, str], until: str, found: dict[str, object]
) -> None:
    folder = workspace / "exported"
    assert finish(start("ledger", "export", folder, at=workspace, environment=environment)).code == 0
    period = ("--grace", "0s", "--until", until, "--export")
    assert completeness(workspace, environment, *period, folder) == (0, found)
    lines = (folder / "entries.jsonl").read_text("utf-8").splitlines()
    results = [number for number, line in enumerate(lines) if json.loads(line)["entry_type"] == "evaluation"]
    taken, repeated = (json.loads(json.loads(lines[results[number]])["payload"]) for number in (3, 5))
    lines.append(lines[results[5]])
    del lines[results[3]]
    alone = workspace / "changed.jsonl"
    alone.write_text("\n".join(lines), "utf-8")
    code, changed = completeness(workspace, environment, *period, alone)
    assert code == 4
    monitors = changed["monitors"]
    assert [item["missing"] for item in monitors if item["missing"]] == [[taken["scheduled_for"]]]
    assert [item["doubled"] for item in monitors if item["doubled"]] == [[repeated["scheduled_for"]]]


@pytest.mark.slow
def test_workers_elsewhere_go_by_what_is_published(small: Path, tmp_path: Path, postgres: PostgresServer) -> None:
    """Beat publishes the files where nothing was published; the worker's own machine has the settings alone."""
    replace_in(small / MONITORS, "every: 1h", "every: 1s")
    elsewhere = Path(shutil.copytree(small, tmp_path / "elsewhere"))
    shutil.rmtree(elsewhere / "monitors")
    (elsewhere / "contract.yaml").unlink()
    url = postgres.new_database()
    with running_redis() as broker, opened(url) as store:
        celery = {"TRIVET_SCHEDULER__MODE": "celery", "TRIVET_SCHEDULER__BROKER": broker}
        environment = QUICK | celery | {"TRIVET_STORE__URL": url}
        assert finish(start("db", "upgrade", at=small, environment=environment)).code == 0
        with (
            running(small, "beat", environment=environment) as beat,
            running(elsewhere, "worker", environment=environment) as worker,
        ):
            wait_for(lambda: evaluated(store) > 2, worker)
            replace_in(small / MONITORS, "temperature > 5", "temperature > 50")
            made = evaluated(store)
            wait_for(lambda: evaluated(store) > made + 2, worker)
            assert finish(start("apply", at=small, environment=environment)).code == 0
            published = evaluated(store)
            wait_for(lambda: evaluated(store) > published + 3, worker)
            stop(beat)
            stop(worker)
        assert completeness(small, environment)[0] == 0
        told = ("ledger", "show", "--type", "evaluation", "--last", "1000", "--json")
        documents = finish(start(*told, at=small, environment=environment)).documents
    counts = [item["payload"]["counts"]["breach"] for item in documents]
    breaches = [count for count in counts if count is not None]
    assert (breaches[made], breaches[-1]) == (1, 0)
