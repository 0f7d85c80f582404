"""Mail goes to a real server: what arrives, over which connection, and what counts as taken."""

from __future__ import annotations

import logging
import ssl
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest

from alerts.changes import AlertChange
from alerts.message import message_of, probe_message
from alerts.notifiers.build import Means, build_notifiers
from alerts.notifiers.port import Ending, MaybeSent, Notice, NotSent, Sent
from alerts.notifiers.smtp import Credentials, SmtpNotifier
from alerts.routing import Target, targets_of
from alerts.states import AlertEvent, AlertKind
from monitors.evaluation import Member
from tests.alerting import START, an_evaluation
from tests.integration.certificates import Authority
from tests.integration.mail_server import Doing, MailServer, running_mail_server
from trivet.clock import FixedClock
from trivet.receiver_settings import ReceiverSettings, SmtpSettings
from trivet.references import Secret, SecretRef
from trivet.verdicts import Severity, Verdict

CANARY = "hunter2hunter2"
NOTICE = Notice("k" * 64, probe_message("payroll", START).to_json())
LOGIN = Credentials(Secret("watch"), Secret(CANARY))
HOST = "127.0.0.1"


def a_breach(member: Member | None = None, title: str | None = None) -> Notice:
    change = AlertChange(AlertEvent.FIRED, AlertKind.BREACH, None, 1, 1, START, Severity.CRITICAL)
    made = an_evaluation(breaches=1, members=((member,), ()) if member else None)
    if title is not None:
        made = replace(made, definition=replace(made.definition, title=title))
    return Notice("b" * 64, message_of(change, made, 7).to_json())


@pytest.fixture
def server() -> Iterator[MailServer]:
    with running_mail_server() as running:
        yield running


def smtp(port: int, **settings: Any) -> SmtpSettings:
    plain = {"host": HOST, "port": port, "tls": "none", "sender": "trivet@example.org", "to": ("ops@example.org",)}
    return SmtpSettings.model_validate(plain | settings)


def notifier(server: MailServer, *, seconds: float = 5, **settings: Any) -> SmtpNotifier:
    return SmtpNotifier(
        smtp(server.port, **settings), "ops@example.org", None, FixedClock(START), timedelta(seconds=seconds)
    )


def text_of(mail: EmailMessage, kind: str = "plain") -> str:
    """One of the forms of a mail, of which its reader shows one."""
    part = mail.get_body((kind,))
    assert part is not None
    return str(part.get_content())


def test_a_mail_carries_subject_and_body_and_says_who_and_when(server: MailServer) -> None:
    assert notifier(server).send(a_breach()) == Sent()
    (mail,) = server.mails
    assert server.recipients == [["ops@example.org"]]
    assert mail["Subject"] == "[critical] Paid below the agreement's floor: breach"
    assert (mail["From"], mail["To"]) == ("trivet@example.org", "ops@example.org")
    assert mail["Message-ID"] == f"<{'b' * 64}@example.org>"
    assert mail["Auto-Submitted"] == "auto-generated"
    assert mail["Date"].datetime == START
    assert [part.get_content_type() for part in mail.iter_parts()] == ["text/plain", "text/html"]
    assert "<li>employee_id E1000; hourly_rate 27.10" in text_of(mail, "html")
    assert "- employee_id E1000; hourly_rate 27.10" in text_of(mail)


def test_text_from_data_stays_text_and_adds_no_header_and_no_recipient(server: MailServer) -> None:
    hostile = "x\r\n.\r\nMAIL FROM:<evil@example.org>\r\nBcc: evil@example.org\u202e"
    member = Member(Verdict.BREACH, {"employee_id": hostile}, {"hourly_rate": "1"}, ())
    title = "Paid below\r\nBcc: evil@example.org\r\n\r\nthe floor — Zoë"
    assert notifier(server).send(a_breach(member, title)) == Sent()
    (mail,) = server.mails
    assert server.recipients == [["ops@example.org"]]
    assert set(mail) >= {"From", "To", "Subject"}
    assert "Bcc" not in mail
    assert mail["Subject"].startswith("[critical] Paid below\\r\\nBcc: evil@example.org")
    assert "Zoë" in mail["Subject"]
    assert "MAIL FROM" in text_of(mail)
    assert "\u202e" not in text_of(mail)


def test_the_id_of_a_mail_is_the_same_on_every_attempt(server: MailServer) -> None:
    server.answers["DATA"] = [Doing.HANG_UP_AFTER_TAKING]
    assert [type(notifier(server).send(NOTICE)) for _ in range(2)] == [MaybeSent, Sent]
    assert {mail["Message-ID"] for mail in server.mails} == {f"<{NOTICE.key}@example.org>"}


HUNG_UP = "the mail server did not take it: it hung up"
SILENT = "no answer of the mail server"
ENDINGS: list[tuple[str, dict[str, list[str | Doing]], Ending]] = [
    ("a full mailbox", {"RCPT": ["452 full"]}, NotSent("the mail server answered 452 to the recipient")),
    ("an unknown recipient", {"RCPT": ["550 who?"]}, NotSent("the mail server answered 550 to the recipient")),
    ("a sender that may not", {"MAIL": ["550 no"]}, NotSent("the mail server answered 550 to the sender")),
    ("a message that is refused", {"DATA": ["554 no"]}, NotSent("the mail server answered 554 to the message")),
    ("a server that is busy", {"DATA": ["451 later"]}, NotSent("the mail server answered 451 to the message")),
    ("hanging up before the message", {"MAIL": [Doing.HANG_UP_AT_ONCE]}, NotSent(HUNG_UP)),
    ("hanging up after it", {"DATA": [Doing.HANG_UP_AFTER_TAKING]}, MaybeSent(f"{SILENT}: it hung up")),
    ("being slow after it", {"DATA": [Doing.BE_SLOW_AFTER_TAKING]}, MaybeSent(f"{SILENT}: timed out")),
]


@pytest.mark.parametrize(("name", "answers", "ending"), ENDINGS, ids=[item[0] for item in ENDINGS])
def test_only_the_answer_to_the_whole_message_counts_as_taken(
    server: MailServer, name: str, answers: dict[str, list[str | Doing]], ending: Ending
) -> None:
    server.answers = {verb: list(given) for verb, given in answers.items()}
    assert notifier(server, seconds=1).send(NOTICE) == ending, name
    assert len(server.mails) == isinstance(ending, MaybeSent)


def test_a_server_that_is_not_there_was_not_told() -> None:
    with running_mail_server() as gone:
        told = notifier(gone, seconds=2)
    ending = told.send(NOTICE)
    assert isinstance(ending, NotSent)
    assert ending.error.startswith("cannot connect to the mail server: ")


def test_a_greeting_that_trickles_is_cut_off_in_time() -> None:
    from tests.integration.test_addresses import dripping

    with dripping(b"", b"220-x") as port:
        settings = smtp(port)
        began = time.monotonic()
        ending = SmtpNotifier(settings, "ops@example.org", None, FixedClock(START), timedelta(seconds=0.6)).send(NOTICE)
        assert time.monotonic() - began < 5
    assert isinstance(ending, NotSent)


# --- Encryption and log-in


@pytest.mark.parametrize("kind", ["starttls", "implicit"])
def test_mail_goes_over_tls_to_a_server_whose_certificate_is_checked(tmp_path: Path, kind: str) -> None:
    authority = Authority(tmp_path)
    with running_mail_server(
        **{kind: authority.server(HOST)}, login=("watch", CANARY) if kind == "starttls" else None
    ) as server:  # type: ignore[arg-type]
        settings, credentials = smtp(server.port, tls=kind), LOGIN if kind == "starttls" else None

        def send(trust: ssl.SSLContext | None) -> Ending:
            told = SmtpNotifier(
                settings, "ops@example.org", credentials, FixedClock(START), timedelta(seconds=5), trust=trust
            )
            return told.send(NOTICE)

        assert send(authority.trust(HOST)) == Sent()
        assert (server.encrypted, len(server.logins)) == ([True], kind == "starttls")
        authority.server("mail.example.org")
        for trust in (None, authority.trust("mail.example.org")):
            refused = send(trust)
            assert isinstance(refused, NotSent)
            assert "its certificate is not trusted" in refused.error
        assert (len(server.mails), len(server.logins)) == (1, kind == "starttls")


def test_a_server_without_tls_gets_neither_mail_nor_password() -> None:
    with running_mail_server() as server:
        told = SmtpNotifier(smtp(server.port, tls="starttls"), "ops@example.org", LOGIN, FixedClock(START))
        ending = told.send(NOTICE)
        assert isinstance(ending, NotSent)
        assert "it offers no TLS" in ending.error
        assert (server.mails, server.logins) == ([], [])


def test_a_password_that_is_wrong_is_not_shown(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    authority = Authority(tmp_path)
    with running_mail_server(starttls=authority.server(HOST), login=("watch", CANARY)) as server:
        wrong = Credentials(Secret("watch"), Secret(f"{CANARY}wrong"))
        settings, trust = smtp(server.port, tls="starttls"), authority.trust(HOST)
        told = SmtpNotifier(settings, "ops@example.org", wrong, FixedClock(START), trust=trust)
        ending = told.send(NOTICE)
        assert ending == NotSent("the mail server did not take it: it answered 535 to username and password")
        assert server.mails == []
    ours = [record.getMessage() for record in caplog.records if not record.name.startswith(("mail", "asyncio"))]
    assert CANARY not in "".join(ours)


# --- Settings


def test_each_address_of_a_receiver_gets_a_mail_of_its_own(server: MailServer) -> None:
    known = {
        "ops": ReceiverSettings.model_validate(
            {"smtp": smtp(server.port, to=("a@example.org", "b@example.org")).model_dump(mode="json")}
        )
    }
    means = Means(lambda reference: Secret(CANARY), FixedClock(START), print)
    built = build_notifiers(known, means)
    assert set(built) == {Target("ops", 1), Target("ops", 2)} == set(targets_of("ops", known["ops"]))
    server.answers["RCPT"] = ["550 who?"]
    endings = [type(item.send(NOTICE)) for item in built.values()]
    assert endings == [NotSent, Sent]
    assert server.recipients == [["b@example.org"]]
    assert not any(item.resends for item in built.values())


def test_credentials_are_read_where_they_are_kept() -> None:
    asked: list[str] = []

    def resolve(reference: SecretRef) -> Secret:
        asked.append(str(reference))
        return Secret(CANARY)

    references = {"username": "env:MAIL_USER", "password": "file:mail.key"}
    settings = {"smtp": smtp(25, **references).model_dump(mode="json")}
    build_notifiers({"ops": ReceiverSettings.model_validate(settings)}, Means(resolve, FixedClock(START), print))
    assert asked == ["env:MAIL_USER", "file:mail.key"]


@pytest.mark.parametrize(("tls", "port"), [("starttls", 587), ("implicit", 465), ("none", 25)])
def test_a_port_belongs_to_each_way(tls: str, port: int) -> None:
    settings = {"host": "localhost", "tls": tls, "sender": "a@example.org", "to": ["b@example.org"]}
    assert SmtpSettings.model_validate(settings).at_port == port
