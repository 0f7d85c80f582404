"""No secret of any receiver comes out: not into a log, an error, the ledger, the outbox, or what a command prints."""

from __future__ import annotations

import base64
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from alerts.tables import outbox
from tests.acceptance.command import trivet
from tests.acceptance.daemons import QUICK, all_told, opened, rows, running, stop, wait_for
from tests.acceptance.files import append_to, replace_in
from tests.integration.mail_server import Doing, MailServer, running_mail_server
from tests.integration.receiver import Answer, Receiver, hang_up, malformed, running_receiver, slow, status

# The mail server stands on this machine, where mail may go without TLS.
WITHOUT_TLS = "ignore:Requiring AUTH while not requiring TLS:UserWarning"
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings(WITHOUT_TLS)]

CANARY = "hunter2"
KEYS = tuple(base64.b64encode(f"{CANARY} {number} {'x' * 20}".encode()).decode() for number in range(2))
LOGIN = (f"{CANARY}-user", f"{CANARY}-password")
ELSEWHERE = f"http://{CANARY}.invalid/{CANARY}"
BAD: list[Answer] = [
    status(500),
    hang_up,
    malformed,
    status(307, location=ELSEWHERE),
    status(429, retry_after=CANARY),
    slow(1.5),
    status(410),
]


@dataclass(frozen=True, slots=True)
class Place:
    """A workspace whose receivers are all secrets, and those who answer."""

    workspace: Path
    secrets: dict[str, str]
    web: dict[str, Receiver]
    mail: MailServer


@pytest.fixture
def place(small: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    with ExitStack() as stack:
        web = {name: stack.enter_context(running_receiver()) for name in ("desk", "chat", "beat")}
        mail = stack.enter_context(running_mail_server(login=LOGIN))
        at = {name: f"127.0.0.1:{item.port}" for name, item in web.items()}
        secrets = {
            "DESK_URL": f"http://{CANARY}:{CANARY}@{at['desk']}/{CANARY}?token={CANARY}",
            "DESK_KEY": f"whsec_{KEYS[0]}",
            "DESK_OLD": f"whsec_{KEYS[1]}",
            "CHAT": f"json://{CANARY}:{CANARY}pass@{at['chat']}/{CANARY}?+X-Token={CANARY}",
            "NOWHERE": f"slack://{CANARY}/{CANARY}",
            "BEAT": f"http://{at['beat']}/{CANARY}",
            "MAIL_USER": LOGIN[0],
            "MAIL_PASSWORD": LOGIN[1],
            "WRONG": f"{CANARY}-wrong",
        }
        for name, value in secrets.items():
            monkeypatch.setenv(name, value)
        server = f"host: 127.0.0.1, port: {mail.port}, tls: none, sender: a@example.org, to: [b@example.org]"
        append_to(
            small / "trivet.yaml",
            "receivers:\n"
            "  desk: {webhook: {url: 'env:DESK_URL', secret: 'env:DESK_KEY', previous_secret: 'env:DESK_OLD',"
            " insecure: true}}\n"
            "  chat: {apprise: ['env:CHAT', 'env:NOWHERE'], unknown: resend}\n"
            f"  mail: {{unknown: resend, smtp: {{{server},"
            " username: 'env:MAIL_USER', password: 'env:MAIL_PASSWORD'}}\n"
            f"  lost: {{smtp: {{{server}, username: 'env:MAIL_USER', password: 'env:WRONG'}}}}\n"
            "watch: {heartbeat: 'env:BEAT', every: 1s, insecure: true}\n"
            "delivery: {attempts: 8, first_wait: 1s, longest_wait: 1s, timeout: 1s}\n",
        )
        append_to(small / "monitors" / "example.yaml", "    notify: [desk, chat, mail, lost]\n")
        replace_in(small / "monitors" / "example.yaml", "every: 1h", "every: 1s")
        yield Place(small, secrets, web, mail)


def test_whatever_receivers_answer_no_secret_comes_out(place: Place, tmp_path: Path) -> None:
    for receiver in place.web.values():
        receiver.answers += BAD
    drops: list[str | Doing] = [f"550 {CANARY}", f"451 {CANARY}"]
    hung: list[str | Doing] = [Doing.HANG_UP_AFTER_TAKING, Doing.BE_SLOW_AFTER_TAKING]
    place.mail.answers = {"MAIL": [Doing.HANG_UP_AT_ONCE], "RCPT": [*drops], "DATA": [*drops, *hung]}
    told = list(daemon(place, tmp_path / "daemon.log"))
    assert any("alert for desk" in said for said in told), "what went wrong was logged"
    assert any("the sign of life was not taken" in said for said in told)
    told += commands(place)
    told += stored(place.workspace)
    found = [said for said in told for word in (CANARY, *KEYS) if word in said]
    assert found == []
    assert {row["state"] for row in delivered(place)} >= {"delivered", "failed"}


def daemon(place: Place, log: Path) -> Iterator[str]:
    """What a daemon prints and logs until nobody has anything bad left to answer and nothing waits."""
    environment = {**QUICK, **place.secrets, "TRIVET_LOG": "DEBUG"}
    with (
        opened(f"sqlite:///{place.workspace / 'trivet.db'}") as store,
        log.open("w") as errors,
        running(place.workspace, "run", environment=environment, errors=errors) as process,
    ):
        wait_for(lambda: (place.workspace / "trivet.db").exists() and has_outbox(place.workspace), process)
        # A webhook that is gone is sent nothing more, so its last answer stays where 410 came before it.
        others = [item for name, item in place.web.items() if name != "desk"]
        wait_for(lambda: not any(item.answers for item in others), process)
        wait_for(lambda: not any(place.mail.answers.values()), process)
        wait_for(lambda: rows(store, outbox) and all_told(store), process)
        ended = stop(process)
    yield ended.out
    yield log.read_text("utf-8")


def has_outbox(workspace: Path) -> bool:
    with closing(sqlite3.connect(workspace / "trivet.db")) as store:
        found = store.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'breakdown'").fetchone()
    return bool(found[0])


def commands(place: Place) -> Iterator[str]:
    """What commands say of the receivers, and of what was told."""
    for name in ("desk", "chat", "mail", "lost"):
        for answer in BAD:
            for receiver in place.web.values():
                receiver.answers = [answer]
            yield from printed(place, "alerts", "test", name)
            yield from printed(place, "alerts", "test", name, "--json")
    yield from printed(place, "alerts", "list", "--json")
    yield from printed(place, "alerts", "show", "reading-too-warm", "--last", "100", "--json")
    yield from printed(place, "doctor", "--json")
    yield from printed(place, "settings", "--json")
    yield from printed(place, "check", "--json")
    yield from printed(place, "ledger", "show", "--json")


def printed(place: Place, *arguments: str) -> Iterator[str]:
    ended = trivet(*arguments, at=place.workspace)
    yield f"{' '.join(arguments)}\n{ended.out}\n{ended.err}"


def stored(workspace: Path) -> Iterator[str]:
    """Every row of every table, and every file."""
    with closing(sqlite3.connect(workspace / "trivet.db")) as store:
        yield "\n".join(store.iterdump())
    for path in workspace.rglob("*"):
        if path.is_file():
            yield f"{path.name}\n{path.read_bytes().decode('latin-1')}"


def delivered(place: Place) -> list[sqlite3.Row]:
    with closing(sqlite3.connect(place.workspace / "trivet.db")) as store:
        store.row_factory = sqlite3.Row
        return store.execute("SELECT * FROM outbox").fetchall()
