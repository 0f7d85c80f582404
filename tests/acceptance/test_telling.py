"""`trivet evaluate` tells people what it found; what cannot be sent changes neither the record nor the exit code."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from alerts.tables import outbox
from tests.acceptance.command import trivet
from tests.acceptance.daemons import QUICK, all_told, opened, rows, running, stop, wait_for
from tests.acceptance.files import append_to, replace_in, rows_of
from tests.integration.receiver import Answer, Receiver, hang_up, running_receiver, status

CANARY = "hunter2hunter2"
WAITS = "what is tried again waits in the store for `trivet run`, or for the next `trivet evaluate`\n"
FINE = "reading_id,station,temperature,taken_on\nR1,north,3.8,2026-01-05\n"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with running_receiver() as running:
        yield running


def with_receiver(workspace: Path, settings: str) -> Path:
    """The workspace with a receiver `desk` that its monitor names."""
    append_to(workspace / "trivet.yaml", f"receivers: {{desk: {settings}}}\n")
    append_to(workspace / "monitors" / "example.yaml", "    notify: [desk]\n")
    return workspace


def webhook(receiver: Receiver, path: str = "/hook") -> str:
    return f"{{webhook: {{url: '{receiver.url(path)}', insecure: true}}}}"


def delivery(workspace: Path) -> tuple[str, int, str | None]:
    """State, attempts and last error of the one delivery."""
    document = trivet("alerts", "show", "reading-too-warm", "--json", at=workspace).document
    (found,) = document["deliveries"]
    return found["state"], found["attempts"], found["last_error"]


def make_due(workspace: Path) -> None:
    """Lets the time pass that is waited between two attempts."""
    with closing(sqlite3.connect(workspace / "trivet.db")) as store:
        store.execute("UPDATE outbox SET next_attempt = created_at")
        store.commit()


def test_an_alert_is_printed_below_the_evaluations(small: Path) -> None:
    ended = trivet("evaluate", at=with_receiver(small, "{stdout: true}"))
    assert (ended.code, ended.err) == (1, "")
    evaluation, alert = ended.out.split("[warning] Cold store warmer than 5 degrees: breach\n")
    assert "1 breach / 1 no-data" in evaluation
    assert "- reading_id R2; temperature 6.1" in alert


def test_an_alert_stands_beside_the_documents_where_a_program_reads(small: Path) -> None:
    ended = trivet("evaluate", "--json", at=with_receiver(small, "{stdout: true}"))
    assert (ended.code, ended.document["badge"]) == (1, "1 breach / 1 no-data")
    assert ended.err.startswith("[warning] Cold store warmer than 5 degrees: breach\n")


def test_a_dry_run_tells_nobody(small: Path, receiver: Receiver) -> None:
    ended = trivet("evaluate", "--dry-run", at=with_receiver(small, webhook(receiver)))
    assert (ended.code, ended.err, receiver.requests) == (1, "", [])


def test_nobody_is_told_twice(small: Path, receiver: Receiver) -> None:
    with_receiver(small, webhook(receiver))
    assert [trivet("evaluate", at=small).code for _ in range(2)] == [1, 1]
    (request,) = receiver.requests
    assert json.loads(request.body)["type"] == "alert.fired"


UNSENT: dict[str, tuple[Answer, str, str]] = {
    "a receiver that fails": (status(500), "the receiver answered 500; it is tried again", "pending"),
    "a receiver that hangs up": (
        hang_up,
        "no answer: the receiver hung up, or answered what is no HTTP; it is tried again",
        "pending",
    ),
    "a receiver that is gone": (
        status(410),
        "the receiver answered 410: it is gone for good; it is given up, and nobody else is left to be told of that",
        "failed",
    ),
}


@pytest.mark.parametrize("name", UNSENT)
def test_what_could_not_be_sent_is_told_and_the_exit_code_is_that_of_the_data(
    small: Path, receiver: Receiver, name: str
) -> None:
    answer, problem, state = UNSENT[name]
    receiver.answers.append(answer)
    ended = trivet("evaluate", "--json", at=with_receiver(small, webhook(receiver, f"/{CANARY}")))
    assert (ended.code, ended.document["verdict"]) == (1, "breach")
    assert ended.err == f"alert for desk: reading-too-warm: {problem}\n" + (WAITS if state == "pending" else "")
    assert delivery(small) == (state, 1, problem.rpartition("; ")[0])
    assert trivet("ledger", "verify", at=small).code == 0


def test_a_receiver_that_is_gone_is_told_of_elsewhere_until_it_is_enabled(small: Path, receiver: Receiver) -> None:
    receiver.answers.append(status(410))
    with_receiver(small, f"{webhook(receiver)}, screen: {{stdout: true}}")
    ended = trivet("evaluate", at=small)
    assert (
        ended.err
        == "alert for desk: reading-too-warm: the receiver answered 410: it is gone for good; it is given up\n"
    )
    assert "[critical] Trivet cannot tell the receiver desk\n" in ended.out
    observed = trivet("doctor", "--json", at=small).document["observations"]
    (found,) = (item for item in observed if item["what"] == "telling desk")
    assert not found["fine"]
    assert found["message"].endswith("nothing is sent there until `trivet alerts enable desk`")
    tested = trivet("alerts", "test", "desk", at=small)
    assert (tested.code, tested.out) == (0, "desk: told\n")
    gone_for_good = "no alert is sent there, since it said that it is gone for good"
    assert tested.err == f"desk: {gone_for_good}; run `trivet alerts enable desk`\n"
    enabled = trivet("alerts", "enable", "desk", "--owner", "kim", at=small)
    assert (enabled.code, enabled.out) == (
        0,
        "desk: what is told from now on is sent there; what was given up is not\n",
    )
    assert trivet("alerts", "enable", "desk", "--json", at=small).document == {
        "receiver": "desk",
        "enabled": 0,
        "forgotten": 0,
    }
    assert trivet("alerts", "enable", "desk", at=small).out == "desk: nothing kept notices from it\n"
    (entry,) = trivet("ledger", "show", "--type", "receiver", "--json", at=small).documents
    assert (entry["payload"]["action"], entry["payload"]["addresses"], entry["payload"]["by"]) == ("enabled", 1, "kim")
    unknown = trivet("alerts", "enable", "dsk", at=small)
    assert (unknown.code, "did you mean 'desk'?" in unknown.err) == (64, True)
    (small / "sources" / "readings.csv").write_text(FINE, "utf-8")
    assert trivet("ingest", at=small).code == 0
    ended = trivet("evaluate", at=small)
    assert (ended.code, ended.err) == (0, "")
    assert "[resolved] Trivet tells the receiver desk again\n" in ended.out
    assert trivet("ledger", "verify", at=small).code == 0


def test_the_breakdown_of_a_receiver_that_left_the_settings_can_be_forgotten(small: Path, receiver: Receiver) -> None:
    receiver.answers.append(status(410))
    with_receiver(small, f"{webhook(receiver)}, screen: {{stdout: true}}")
    trivet("evaluate", at=small)
    replace_in(small / "trivet.yaml", "desk:", "bureau:")
    replace_in(small / "monitors" / "example.yaml", "notify: [desk]", "notify: [bureau]")
    told = [trivet("alerts", "enable", "desk", at=small) for _ in range(2)]
    assert told[0].out == "desk: the settings do not name it any more, and its breakdown is forgotten\n"
    assert told[1].code == 64
    observed = trivet("doctor", "--json", at=small).document["observations"]
    assert not any(item["what"].startswith("telling") for item in observed)


def test_the_end_of_an_alert_that_could_not_be_sent_leaves_a_compliant_evaluation_fine(
    small: Path, receiver: Receiver
) -> None:
    with_receiver(small, webhook(receiver))
    assert trivet("evaluate", at=small).code == 1
    (small / "sources" / "readings.csv").write_text(FINE, "utf-8")
    assert trivet("ingest", at=small).code == 0
    receiver.answers.append(status(503))
    ended = trivet("evaluate", at=small)
    assert ended.code == 0
    problem = "the receiver answered 503; it is tried again"
    assert ended.err == f"alert for desk: reading-too-warm: {problem}\n{WAITS}"


def test_a_receiver_whose_secret_is_missing_is_told_with_what_to_do(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_SUCH_VARIABLE", raising=False)
    ended = trivet("evaluate", at=with_receiver(small, "{webhook: {url: 'env:NO_SUCH_VARIABLE'}}"))
    assert ended.code == 1
    missing = "the secret is missing: the variable is not set or is blank; set it, or change the reference"
    assert ended.err.startswith("alert for desk: reading-too-warm: env:NO_SUCH_VARIABLE")
    assert f"{missing}; it is tried again\n{WAITS}" in ended.err


def test_the_next_evaluation_sends_what_waits_once_it_is_due(small: Path, receiver: Receiver) -> None:
    receiver.answers.append(status(500))
    with_receiver(small, webhook(receiver))
    trivet("evaluate", at=small)
    before_it_is_due = trivet("evaluate", at=small)
    assert (before_it_is_due.code, before_it_is_due.err, len(receiver.requests)) == (1, "", 1)
    make_due(small)
    ended = trivet("evaluate", at=small)
    assert (ended.code, ended.err) == (1, "")
    first, second = receiver.requests
    assert (first.key, first.body) == (second.key, second.body)
    assert delivery(small)[:2] == ("delivered", 2)


def test_a_monitor_that_names_nobody_tells_nobody_and_its_alert_is_kept(small: Path, receiver: Receiver) -> None:
    with_receiver(small, webhook(receiver))
    replace_in(small / "monitors" / "example.yaml", "    notify: [desk]\n", "")
    ended = trivet("evaluate", at=small)
    assert (ended.code, ended.err, receiver.requests) == (1, "", [])
    assert (len(rows_of(small)["alert"]), rows_of(small)["outbox"]) == (1, [])


@pytest.mark.slow
def test_a_daemon_that_a_program_reads_prints_alerts_beside_its_documents(small: Path) -> None:
    with_receiver(small, "{stdout: true}")
    replace_in(small / "monitors" / "example.yaml", "every: 1h", "every: 1s")
    assert trivet("db", "upgrade", at=small).code == 0
    with (
        opened(f"sqlite:///{small}/trivet.db") as store,
        running(small, "run", "--json", environment=QUICK) as daemon,
    ):
        wait_for(lambda: rows(store, outbox) and all_told(store), daemon)
        ended = stop(daemon)
    assert {document["monitor"] for document in ended.documents} == {"reading-too-warm"}
    assert "[warning] Cold store warmer than 5 degrees: breach\n" in ended.err
