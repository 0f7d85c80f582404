"""`trivet alerts`: what fires, who was told, and whether a receiver can be reached."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from alerts.delivery import deliver_due
from alerts.notifiers.fake import FakeNotifier
from alerts.notifiers.port import NotSent
from alerts.recording import apply, apply_all
from alerts.routing import Routing, Target
from monitors.alerting import AlertPolicy, Lasting
from monitors.evaluation import Followed, NotMade
from tests.acceptance.command import Ended, trivet
from tests.acceptance.files import append_to
from tests.alerting import a_failure, a_monitor, an_evaluation, breached
from tests.integration.receiver import Receiver, running_receiver, status
from tests.integration.store import migrated_store
from trivet.clock import FixedClock
from trivet.verdicts import NotMadeReason
from worker.recording import record, record_all
from worker.stores import open_store

CANARY = "hunter2hunter2"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with running_receiver() as running:
        yield running


SLOW = NotMade(NotMadeReason.TIMEOUT, "the queries took longer than they may")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A workspace with a store in which three monitors were evaluated, and one receiver that failed."""
    (tmp_path / "trivet.yaml").write_text("receivers: {desk: {stdout: true}}\n", "utf-8")
    engine = migrated_store(tmp_path)
    quiet, broken = a_monitor(id="quiet", notify=()), a_monitor(id="broken", notify=("desk",))
    made = (
        an_evaluation(0, definition=quiet),
        an_evaluation(1, breaches=1, definition=broken),
        an_evaluation(2, not_made=SLOW, definition=broken),
        an_evaluation(3, no_data=1, definition=a_monitor(id="waits", alerting=AlertPolicy(fires_after=Lasting(2)))),
    )
    with engine.begin() as connection:
        for item in made:
            record(connection, item)
            apply(connection, item, Routing({"desk": (Target("desk"),)}))
    failing = FakeNotifier([NotSent("the receiver\x1b[31m answered 500")])
    deliver_due(engine, {Target("desk"): failing}, FixedClock(made[2].finished_at))
    engine.dispose()
    return tmp_path


def settings(folder: Path, receivers: str) -> Path:
    (folder / "trivet.yaml").write_text(f"receivers: {{desk: {receivers}}}\n", "utf-8")
    return folder


def test_list_shows_what_fires_first(workspace: Path) -> None:
    ended = trivet("alerts", "list", at=workspace)
    assert ended.code == 0
    lines = [line for line in ended.out.splitlines() if any(name in line for name in ("broken", "waits", "quiet"))]
    assert [line.split()[0] for line in lines] == ["broken", "waits", "quiet"]
    assert "was breach, now unjudged" in lines[0]
    documents = trivet("alerts", "list", "--json", at=workspace).documents
    assert [(item["monitor"], item["state"], item["kind"]) for item in documents] == [
        ("broken", "firing", "unjudged"),
        ("waits", "pending", "no_data"),
        ("quiet", "quiet", None),
    ]
    assert documents[0]["since"] == "2026-11-30T07:00:00.000000Z"
    assert documents[0]["slot"] == "2026-11-30T08:00:00.000000Z"


def test_list_of_nothing_says_so(tmp_path: Path) -> None:
    migrated_store(tmp_path).dispose()
    assert trivet("alerts", "list", at=tmp_path).out.startswith("no evaluation has moved an alert yet")
    assert trivet("alerts", "list", "--json", at=tmp_path).out == ""


def test_show_tells_who_was_told_what_with_control_characters_visible(workspace: Path) -> None:
    ended = trivet("alerts", "show", "broken", at=workspace)
    assert ended.code == 0
    assert "broken: firing, about: was breach, now unjudged" in ended.out
    assert "\x1b" not in ended.out
    assert "answered 500" in ended.out
    document = trivet("alerts", "show", "broken", "--json", at=workspace).document
    assert [(item["event"], item["state"], item["attempts"]) for item in document["deliveries"]] == [
        ("changed", "pending", 0),
        ("fired", "pending", 1),
    ]
    last = trivet("alerts", "show", "broken", "--last", "1", "--json", at=workspace).document
    assert [item["event"] for item in last["deliveries"]] == ["changed"]


def test_an_outage_is_listed_with_what_failed_and_for_how_many(workspace: Path) -> None:
    engine = open_store(f"sqlite:///{workspace / 'trivet.db'}", create=False)
    made = [an_evaluation(9, not_made=a_failure(), definition=a_monitor(id=f"m{number}")) for number in range(3)]
    made = [replace(item, evaluation_id=f"{number:064x}") for number, item in enumerate(made, start=500)]
    with engine.begin() as connection:
        record_all(connection, made)
        apply_all(connection, made, Routing({}))
    engine.dispose()
    lines = trivet("alerts", "list", at=workspace).out.splitlines()
    assert any("outage/" in line for line in lines)
    documents = trivet("alerts", "list", "--json", at=workspace).documents
    (listed,) = [item for item in documents if item["monitor"].startswith("outage/")]
    assert (listed["state"], listed["kind"], listed["monitors"]) == ("firing", "no_data", 3)
    ended = trivet("alerts", "show", listed["monitor"], at=workspace)
    assert "3 monitors cannot be judged: the engine said no" in ended.out
    assert f"told as part of {listed['monitor']}" in trivet("alerts", "show", "m1", at=workspace).out
    assert trivet("alerts", "ack", listed["monitor"], "--owner", "ana", at=workspace).code == 0
    shown = trivet("alerts", "show", listed["monitor"], "--json", at=workspace).document
    assert (shown["state"], shown["acknowledged_by"]) == ("acknowledged", "ana")


def test_show_says_whom_it_waits_for(workspace: Path) -> None:
    document = trivet("alerts", "show", "broken", "--json", at=workspace).document
    assert (document["carried"], document["gone"], document["severity"]) == (1, 0, "critical")
    assert "1 was breach, now unjudged" in trivet("alerts", "show", "broken", at=workspace).out


def test_who_takes_an_alert_on_is_named_by_the_ledger(workspace: Path) -> None:
    ended = trivet("alerts", "ack", "broken", "--owner", "ana", at=workspace)
    assert (ended.code, ended.out) == (0, "broken is acknowledged by ana\n")
    shown = trivet("alerts", "show", "broken", "--json", at=workspace).document
    assert (shown["state"], shown["acknowledged_by"]) == ("acknowledged", "ana")
    last = trivet("ledger", "show", "--last", "1", "--json", at=workspace).document["payload"]
    assert (last["event"], last["by"], last["alert_keys"]) == ("acknowledged", "ana", [])
    again = trivet("alerts", "ack", "broken", "--owner", "bob", at=workspace)
    assert (again.code, "is acknowledged; only one that fires" in again.err) == (64, True)


def test_who_has_gone_for_good_is_released_under_a_name(workspace: Path) -> None:
    refused = trivet("alerts", "release", "broken", "--owner", "ana", "--reason", "left", at=workspace)
    assert (refused.code, "waits for no member that is gone" in refused.err) == (64, True)
    engine = open_store(f"sqlite:///{workspace / 'trivet.db'}", create=False)
    gone = an_evaluation(10, definition=a_monitor(id="broken", notify=("desk",)))
    gone = replace(gone, evaluation_id=f"{10:064x}", followed=Followed(frozenset({breached(0).key_text})))
    with engine.begin() as connection:
        record(connection, gone)
        apply(connection, gone, Routing({"desk": (Target("desk"),)}))
    engine.dispose()
    ended = trivet("alerts", "release", "broken", "--owner", "ana", "--reason", "left", "--json", at=workspace)
    assert (ended.code, ended.document["released"], ended.document["by"]) == (0, 1, "ana")
    last = trivet("ledger", "show", "--last", "1", "--json", at=workspace).document["payload"]
    assert (last["event"], last["by"], last["reason"], last["gone"]) == ("released", "ana", "left", 1)
    assert trivet("ledger", "verify", at=workspace).code == 0


@pytest.mark.parametrize(
    ("monitor", "owner", "says"), [("brokn", "ana", "did you mean 'broken'?"), ("broken", " ", "--owner")]
)
def test_what_cannot_be_acknowledged_is_refused(workspace: Path, monitor: str, owner: str, says: str) -> None:
    ended = trivet("alerts", "ack", monitor, "--owner", owner, at=workspace)
    assert (ended.code, says in ended.err) == (64, True)


def test_show_of_a_monitor_that_nobody_was_told_of(workspace: Path) -> None:
    assert "nobody was told anything" in trivet("alerts", "show", "quiet", at=workspace).out


def test_show_of_an_unknown_monitor_names_the_nearest(workspace: Path) -> None:
    ended = trivet("alerts", "show", "brokn", at=workspace)
    assert (ended.code, "did you mean 'broken'?" in ended.err) == (64, True)


def test_a_test_reaches_a_webhook_and_leaves_no_trace(workspace: Path, receiver: Receiver) -> None:
    settings(workspace, f"{{webhook: {{url: '{receiver.url()}', insecure: true}}}}")
    before = trivet("ledger", "show", "--json", at=workspace).out
    ended = trivet("alerts", "test", "desk", at=workspace)
    assert (ended.code, ended.out) == (0, "desk: told\n")
    (request,) = receiver.requests
    assert json.loads(request.body)["type"] == "alert.test"
    assert request.key.startswith("test-")
    assert trivet("ledger", "show", "--json", at=workspace).out == before


def test_a_test_that_fails_says_so_and_shows_no_address(workspace: Path, receiver: Receiver) -> None:
    receiver.answers.append(status(500))
    settings(workspace, f"{{webhook: {{url: '{receiver.url(f'/{CANARY}')}', insecure: true}}}}")
    ended = trivet("alerts", "test", "desk", at=workspace)
    assert (ended.code, ended.err) == (69, "desk: the receiver answered 500\n")
    assert CANARY not in ended.out + ended.err


def test_every_address_is_tested_and_told_of(
    workspace: Path, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workspace / "chat.txt").write_text(receiver.url(f"/{CANARY}", "json") + "\n", "utf-8")
    monkeypatch.delenv("NO_SUCH_VARIABLE", raising=False)
    settings(workspace, "{apprise: ['file:chat.txt', 'env:NO_SUCH_VARIABLE']}")
    ended = trivet("alerts", "test", "desk", "--json", at=workspace)
    assert ended.code == 69
    assert ended.document["ok"] is False
    first, second = ended.document["targets"]
    assert (first["target"], first["ok"], first["error"]) == (1, True, None)
    assert (second["target"], second["ok"]) == (2, False)
    assert "the secret is missing" in second["error"]
    assert len(receiver.requests) == 1
    assert CANARY not in ended.out + ended.err


def test_a_test_of_stdout_prints_it_and_leaves_json_alone(workspace: Path) -> None:
    words = trivet("alerts", "test", "desk", at=workspace)
    assert words.out.startswith("[test] Trivet reaches the receiver desk\n")
    program = trivet("alerts", "test", "desk", "--json", at=workspace)
    assert program.document == {
        "ok": True,
        "targets": [{"receiver": "desk", "target": 1, "ok": True, "error": None}],
    }
    assert "[test] Trivet reaches the receiver desk" in program.err


def test_a_test_of_an_unknown_receiver_names_the_nearest(workspace: Path) -> None:
    ended = trivet("alerts", "test", "dsk", at=workspace)
    assert (ended.code, "did you mean 'desk'?" in ended.err) == (64, True)


GROUPED = """\
monitors:
  - id: warm
    title: Too warm
    object: reading
    group_by: [reading_id]
    breach_when: max(temperature) > 5
    alert_per: group
    notify: [screen]
"""
BY = ("--owner", "kim", "--reason", "the export is rebuilt")


def silence(workspace: Path, *options: str) -> Ended:
    return trivet("alerts", "silence", "reading-too-warm", *options, at=workspace)


def test_of_a_silenced_monitor_nobody_is_told_until_somebody_ends_it(small: Path) -> None:
    append_to(small / "trivet.yaml", "receivers: {screen: {stdout: true}}\nroutes: [{receiver: screen}]\n")
    (made,) = silence(small, *BY, "--until", "8h", "--json").document["silences"]
    assert (made["monitor"], made["owner"], made["reason"]) == ("reading-too-warm", "kim", "the export is rebuilt")
    told = trivet("evaluate", at=small)
    assert (told.code, "[warning]" in told.out) == (1, False)
    assert trivet("alerts", "show", "reading-too-warm", "--json", at=small).document["deliveries"] == []
    ended = trivet("alerts", "unsilence", "reading-too-warm", *BY, "--json", at=small).document["ended"]
    assert ended == [made]
    entries = trivet("ledger", "show", "--type", "silence", "--json", at=small).documents
    assert [item["payload"]["subject_id"] for item in entries] == [made["silence_id"], f"{made['silence_id']}/end"]
    assert trivet("ledger", "verify", at=small).code == 0
    again = trivet("alerts", "unsilence", "reading-too-warm", *BY, at=small)
    assert (again.code, again.err) == (64, "no silence holds or is to come for reading-too-warm\n")


def test_a_group_is_named_where_its_alert_is_told_listed_taken_on_and_silenced(small: Path) -> None:
    append_to(small / "trivet.yaml", "receivers: {screen: {stdout: true}}\n")
    (small / "monitors" / "example.yaml").write_text(GROUPED, "utf-8")
    told = trivet("evaluate", at=small).out
    assert "[warning] Too warm (reading_id R2): breach" in told
    assert "Take it on: trivet alerts ack 'warm#1' --owner NAME" in told
    listed = {item["monitor"]: item for item in trivet("alerts", "list", "--json", at=small).documents}
    assert {name: (item["state"], item["group"]) for name, item in listed.items()} == {
        "warm": ("quiet", None),
        "warm#1": ("firing", {"reading_id": "R2"}),
        "warm#2": ("firing", {"reading_id": "R3"}),
    }
    assert "2 of its groups fire by themselves: warm#1, warm#2" in trivet("alerts", "show", "warm", at=small).out
    (made,) = trivet("alerts", "silence", "warm#2", *BY, "--until", "8h", "--json", at=small).document["silences"]
    assert made["monitor"] == "warm#2"
    assert trivet("alerts", "silence", "warm#3", *BY, "--until", "8h", at=small).code == 64
    taken = trivet("alerts", "ack", "warm#1", "--owner", "kim", "--json", at=small).document
    assert (taken["monitor"], taken["acknowledged_by"]) == ("warm#1", "kim")
    assert "about: breach; reading_id R2" in trivet("alerts", "show", "warm#1", at=small).out


def test_a_maintenance_window_that_is_to_come_silences_nothing_yet(small: Path) -> None:
    append_to(small / "trivet.yaml", "receivers: {screen: {stdout: true}}\nroutes: [{receiver: screen}]\n")
    ended = silence(small, *BY, "--from", "2999-01-01T22:00", "--until", "2999-01-02T02:00")
    said = "reading-too-warm is silenced by kim from 2999-01-01 22:00Z until 2999-01-02 02:00Z: the export is rebuilt\n"
    assert (ended.code, ended.out) == (0, said)
    assert "[warning]" in trivet("evaluate", at=small).out


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--until", "2020-01-01"), "--until: is not after the begin"),
        (("--from", "2020-01-01", "--until", "8h"), "--from: has passed already; what was told is told"),
        (("--from", "2999-01-01", "--until", "2998-01-01"), "--until: is not after the begin"),
        (("--until", "never"), "--until: "),
    ],
)
def test_a_silence_that_would_silence_nothing_is_refused(small: Path, options: tuple[str, ...], told: str) -> None:
    ended = silence(small, *BY, *options)
    assert ended.code == 64
    assert ended.err.startswith(told)
    assert not (small / "trivet.db").exists() or trivet("ledger", "show", "--json", at=small).documents == []


def accept(workspace: Path, *options: str) -> Ended:
    return trivet("alerts", "accept", "reading-too-warm", *options, at=workspace)


def test_an_accepted_breach_is_counted_and_alerts_nobody_until_somebody_ends_that(small: Path) -> None:
    append_to(small / "trivet.yaml", "receivers: {screen: {stdout: true}}\nroutes: [{receiver: screen}]\n")
    assert "[warning]" in trivet("evaluate", at=small).out
    (made,) = accept(small, *BY, "--key", "R2", "--until", "2999-01-31", "--json").document["accepted"]
    assert (made["key"], made["owner"], made["last_day"]) == ({"reading_id": "R2"}, "kim", "2999-01-31")
    told = trivet("evaluate", at=small)
    assert (told.code, "1 breach / 1 no-data" in told.out) == (1, True)
    assert (
        "[warning] Cold store warmer than 5 degrees: no breach is left but accepted ones, and there is no" in told.out
    )
    assert "of the breaches 1 accepted until 2999-01-31" in told.out
    shown = trivet("alerts", "show", "reading-too-warm", at=small).out
    assert "reading_id R2 is accepted by kim until 2999-01-31: the export is rebuilt" in shown
    document = trivet("alerts", "show", "reading-too-warm", "--json", at=small).document
    assert (document["kind"], document["accepted"], document["acceptances"]) == ("no_data", 1, [made])
    ended = trivet("alerts", "unaccept", "reading-too-warm", *BY, "--key", "reading_id=R2", "--json", at=small)
    assert ended.document["ended"] == [made]
    assert "[warning] Cold store warmer than 5 degrees: was no data, now breach" in trivet("evaluate", at=small).out
    entries = trivet("ledger", "show", "--type", "acceptance", "--json", at=small).documents
    assert [item["payload"]["subject_id"] for item in entries] == [
        made["acceptance_id"],
        f"{made['acceptance_id']}/end",
    ]
    assert "R2" not in json.dumps(entries)
    assert trivet("ledger", "verify", at=small).code == 0
    again = trivet("alerts", "unaccept", "reading-too-warm", *BY, at=small)
    assert (again.code, again.err) == (64, "no member of 'reading-too-warm' is accepted\n")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--key", "R2", "--until", "2020-01-01"), "--until: 2020-01-01 has passed already\n"),
        (("--key", "R2", "--until", "31.1.2999"), "--until: '31.1.2999' is no date; write 2027-01-31\n"),
        (("--key", "R2", "--until", "8h"), "--until: '8h' is no date; write 2027-01-31\n"),
        (
            ("--key", "R1", "--until", "2999-01-31"),
            "--key: no member reading_id R1 is in breach by the latest evaluation; did you mean 'reading_id R2'?\n",
        ),
        (
            ("--key", "station=R2", "--until", "2999-01-31"),
            "--key: a member of reading-too-warm has no key 'station'; known: reading_id\n",
        ),
    ],
)
def test_what_cannot_be_accepted_is_refused_in_one_sentence(small: Path, options: tuple[str, ...], told: str) -> None:
    trivet("evaluate", at=small)
    ended = accept(small, *BY, *options)
    assert (ended.code, ended.err) == (64, told)
    assert trivet("ledger", "show", "--type", "acceptance", "--json", at=small).documents == []


def test_nobody_ends_what_nobody_accepted(small: Path) -> None:
    trivet("evaluate", at=small)
    accept(small, *BY, "--key", "R2", "--until", "2999-01-31")
    ended = trivet("alerts", "unaccept", "reading-too-warm", *BY, "--key", "R1", at=small)
    told = "--key: no member R1 of reading-too-warm is accepted; `trivet alerts show` lists them\n"
    assert (ended.code, ended.err) == (64, told)


def test_a_digest_is_printed_without_being_sent(small: Path) -> None:
    append_to(
        small / "trivet.yaml", "receivers: {screen: {stdout: true}}\ndigests: [{at: '07:30', receiver: screen}]\n"
    )
    assert trivet("apply", at=small).code == 0
    trivet("evaluate", at=small)
    before = trivet("ledger", "show", "--json", at=small).out
    told = trivet("alerts", "digest", at=small)
    assert (told.code, told.err) == (0, "")
    assert "0 of 1 monitor is compliant." in told.out
    assert "- reading-too-warm: in breach, 1 breach / 1 no-data, judged 75.0%" in told.out
    document = trivet("alerts", "digest", "screen", "--json", at=small).document
    assert document["data"]["digest"]["counts"] == {"breach": 1}
    assert trivet("ledger", "show", "--json", at=small).out == before
    refused = trivet("alerts", "digest", "desk", at=small)
    assert (refused.code, refused.err) == (64, "the settings have no digest for 'desk'; known: screen\n")
