"""Each way to tell someone, against a real receiver: what arrives, what counts as taken, and what stays secret."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import logging
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from alerts.changes import AlertChange
from alerts.message import message_of, probe_message
from alerts.notifiers.apprise_notifier import AppriseNotifier
from alerts.notifiers.build import build_notifiers
from alerts.notifiers.port import Ending, MaybeSent, Notice, NotSent, Sent, Unusable
from alerts.notifiers.stdout import StdoutNotifier
from alerts.notifiers.webhook import WebhookNotifier, signing_key
from alerts.routing import Target, targets_of
from alerts.states import AlertEvent, AlertKind
from tests.alerting import START, an_evaluation
from tests.integration.receiver import Answer, Receiver, endless, hang_up, running_receiver, slow, status
from trivet.clock import FixedClock
from trivet.documents import read_yaml
from trivet.errors import InputError
from trivet.findings import Finding
from trivet.references import Secret, SecretRef, refused_webhook_url
from trivet.settings import ReceiverSettings, load_settings
from trivet.verdicts import Severity

CANARY = "hunter2hunter2"
KEY = bytes(range(32))
SECRET = f"whsec_{base64.b64encode(KEY).decode()}"
NOTICE = Notice("k" * 64, probe_message("payroll", START).to_json())


def a_breach() -> Notice:
    change = AlertChange(AlertEvent.FIRED, AlertKind.BREACH, None, 1, 1, START, Severity.CRITICAL)
    return Notice("b" * 64, message_of(change, an_evaluation(breaches=1), 7).to_json())


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with running_receiver() as running:
        yield running


def webhook(receiver: Receiver, *, key: bytes | None = KEY, path: str = "/hook", seconds: float = 5) -> WebhookNotifier:
    return WebhookNotifier(Secret(receiver.url(path)), key, FixedClock(START), timedelta(seconds=seconds))


def receivers(text: str) -> dict[str, ReceiverSettings]:
    document = read_yaml(f"receivers: {text}", file="trivet.yaml").document
    result = load_settings(document, {})
    assert result.settings is not None, result.findings
    return dict(result.settings.receivers)


# --- Webhooks


def test_a_webhook_gets_the_very_bytes_of_the_outbox_signed(receiver: Receiver) -> None:
    assert webhook(receiver).send(a_breach()) == Sent()
    (request,) = receiver.requests
    assert request.body == a_breach().payload.encode()
    assert request.headers["content-type"] == "application/json"
    assert request.headers["webhook-id"] == a_breach().key
    assert request.headers["webhook-timestamp"] == str(int(START.timestamp()))
    signed = f"{request.key}.{request.headers['webhook-timestamp']}.".encode() + request.body
    expected = base64.b64encode(hmac.new(KEY, signed, hashlib.sha256).digest()).decode()
    assert request.headers["webhook-signature"] == f"v1,{expected}"


def test_the_signature_is_that_of_the_standard(receiver: Receiver) -> None:
    """The test vector of the reference libraries of Standard Webhooks."""
    key = signing_key(Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
    vector = WebhookNotifier(Secret(receiver.url()), key, FixedClock(START.fromtimestamp(1614265330, START.tzinfo)))
    assert vector.send(Notice("msg_p5jXN8AQM9LWM0D4loKWxJek", '{"test": 2432232314}')) == Sent()
    signature = receiver.requests[0].headers["webhook-signature"]
    assert signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_without_a_secret_nothing_is_signed(receiver: Receiver) -> None:
    assert webhook(receiver, key=None).send(NOTICE) == Sent()
    assert "webhook-signature" not in receiver.requests[0].headers


ENDINGS: list[tuple[str, Answer, Ending]] = [
    ("200", status(200), Sent()),
    ("202", status(202), Sent()),
    ("an endless body", endless, Sent()),
    ("400", status(400), NotSent("the receiver answered 400")),
    ("500", status(500), NotSent("the receiver answered 500")),
    ("410", status(410), NotSent("the receiver answered 410: it is gone for good", final=True)),
    ("429", status(429, retry_after="7"), NotSent("the receiver answered 429", wait=timedelta(seconds=7))),
    ("503", status(503, retry_after="999999"), NotSent("the receiver answered 503", wait=timedelta(hours=1))),
    (
        "503 with a date",
        status(503, retry_after="Mon, 30 Nov 2026 06:01:00 GMT"),
        NotSent("the receiver answered 503", wait=timedelta(minutes=1)),
    ),
    ("503 with nonsense", status(503, retry_after="soon"), NotSent("the receiver answered 503")),
    ("hanging up", hang_up, MaybeSent("no answer: the receiver hung up, or answered what is no HTTP")),
    ("being slow", slow(1.0), MaybeSent("no answer: timed out")),
]


@pytest.mark.parametrize(("name", "answer", "ending"), ENDINGS, ids=[item[0] for item in ENDINGS])
def test_only_an_answer_of_2xx_counts_as_taken(receiver: Receiver, name: str, answer: Answer, ending: Ending) -> None:
    receiver.answers.append(answer)
    assert webhook(receiver, seconds=0.4).send(NOTICE) == ending, name
    assert len(receiver.requests) == 1


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_a_redirect_is_a_failure_and_is_not_followed(receiver: Receiver, code: int) -> None:
    with running_receiver() as inside:
        receiver.answers.append(status(code, location=inside.url("/metadata")))
        ending = webhook(receiver).send(NOTICE)
        assert inside.requests == []
    assert isinstance(ending, NotSent)
    assert "redirects are not followed" in ending.error


def test_a_receiver_that_is_not_there_was_not_told() -> None:
    with running_receiver() as gone:
        notifier = webhook(gone, seconds=2)
    assert isinstance(notifier.send(NOTICE), NotSent)


def test_proxies_of_the_environment_are_not_used(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    with running_receiver() as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url(""))
        monkeypatch.delenv("NO_PROXY", raising=False)
        assert webhook(receiver).send(NOTICE) == Sent()
        assert (len(receiver.requests), len(proxy.requests)) == (1, 0)


REFUSED_URLS = [
    "http://example.org/",
    "http://10.0.0.1/",
    "http://127.0.0.1.example.org/",
    "http://localhost.example.org/",
    "http://127.0.0.1@example.org/",
    "http://[::ffff:10.0.0.1]/",
    "ftp://127.0.0.1/",
    "https://",
    "https:///x",
    "http://[::1",
    "https://exa mple.org/",
    "https://example.org/\r\nx: y",
    "",
]


@pytest.mark.parametrize("url", REFUSED_URLS)
def test_a_url_that_is_not_encrypted_or_no_url_is_refused(url: str) -> None:
    assert refused_webhook_url(url, insecure=True)
    assert refused_webhook_url(url, insecure=False)


@pytest.mark.parametrize("host", ["127.0.0.1:80", "127.9.9.9", "localhost", "[::1]:8080"])
def test_http_goes_to_this_machine_only_where_that_is_allowed(host: str) -> None:
    assert refused_webhook_url(f"http://{host}/hook", insecure=True) is None
    assert refused_webhook_url(f"http://{host}/hook", insecure=False)
    assert refused_webhook_url(f"https://{host}/hook", insecure=False) is None


@pytest.mark.parametrize("text", ["", "whsec_", "whsec_AAAA", "hunter2", f"whsec_{'A' * 100}", SECRET[6:], "whsec_é"])
def test_what_is_no_signing_key_is_none(text: str) -> None:
    assert signing_key(Secret(text)) is None


# --- Apprise


def apprise(receiver: Receiver, path: str = f"/{CANARY}", seconds: float = 5) -> AppriseNotifier:
    return AppriseNotifier(Secret(receiver.url(path, "json")), timedelta(seconds=seconds))


def test_apprise_carries_subject_and_body_as_text(receiver: Receiver) -> None:
    assert apprise(receiver).send(a_breach()) == Sent()
    (request,) = receiver.requests
    content = json.loads(request.body)
    assert content["title"] == "[critical] Paid below the agreement's floor: breach"
    assert "- employee_id E1000; hourly_rate 27.10" in content["message"]
    assert content["type"] == "failure"
    assert content["attachments"] == []


@pytest.mark.parametrize("code", [400, 500])
def test_a_service_that_refuses_was_not_told(receiver: Receiver, code: int) -> None:
    receiver.answers.append(status(code))
    ending = apprise(receiver).send(NOTICE)
    assert isinstance(ending, NotSent)
    assert CANARY not in ending.error


@pytest.mark.parametrize("path", ["/x", "/x?redirect=yes"])
def test_apprise_follows_no_redirect_even_where_its_url_asks_for_it(receiver: Receiver, path: str) -> None:
    with running_receiver() as inside:
        receiver.answers.append(status(307, location=inside.url("/metadata")))
        assert isinstance(apprise(receiver, path).send(NOTICE), NotSent)
        assert inside.requests == []


def test_a_service_that_does_not_answer_in_time_may_have_been_told(receiver: Receiver) -> None:
    receiver.answers.append(slow(1.5))
    assert isinstance(apprise(receiver, seconds=0.3).send(NOTICE), MaybeSent)
    assert len(receiver.requests) == 1


@pytest.mark.parametrize("url", ["nosuchservice://x", "slack://", "not a url"])
def test_a_url_that_apprise_does_not_know_is_said_to_be_so(url: str) -> None:
    ending = AppriseNotifier(Secret(url)).send(NOTICE)
    assert isinstance(ending, NotSent)
    assert "names no service" in ending.error


@pytest.mark.parametrize("answer", [status(204), status(500), hang_up, status(307, location="/elsewhere")])
def test_no_log_shows_an_address(receiver: Receiver, answer: Answer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    path = f"/{CANARY}?+X-Token={CANARY}token"
    receiver.answers += [answer, answer]
    apprise(receiver, path).send(NOTICE)
    webhook(receiver, path=f"/{CANARY}").send(NOTICE)
    assert len(receiver.requests) == 2
    assert CANARY not in caplog.text


# --- Standard output


def test_stdout_writes_one_text_in_which_control_characters_are_visible() -> None:
    written: list[str] = []
    notifier = StdoutNotifier(written.append)
    assert notifier.send(a_breach()) == Sent()
    (text,) = written
    assert text.startswith("[critical] Paid below the agreement's floor: breach\n  1 breach / 0 no-data\n")
    assert all(char.isprintable() or char == "\n" for char in text)


def test_an_output_that_is_closed_may_have_been_read() -> None:
    def closed(text: str) -> None:
        raise BrokenPipeError(32, "Broken pipe")

    assert StdoutNotifier(closed).send(NOTICE) == MaybeSent("the output cannot be written: Broken pipe")


# --- Building


def test_every_address_of_the_settings_gets_a_notifier(receiver: Receiver, tmp_path: Path) -> None:
    known = receivers(
        f"{{chat: {{apprise: ['env:A', 'env:B']}}, screen: {{stdout: true}}, desk: {{webhook:"
        f" {{url: '{receiver.url()}', secret: 'env:KEY', insecure: true}}}}}}"
    )
    values = {"A": receiver.url("/a", "json"), "B": receiver.url("/b", "json"), "KEY": SECRET}
    written: list[str] = []
    built = build_notifiers(known, lambda ref: Secret(values[ref.name]), FixedClock(START), written.append)
    assert set(built) == {Target("chat"), Target("chat", 2), Target("screen"), Target("desk")}
    assert set(built) == {target for name, item in known.items() for target in targets_of(name, item)}
    assert [notifier.send(NOTICE) for notifier in built.values()] == [Sent()] * 4
    assert [request.path for request in receiver.requests] == ["/a", "/b", "/hook"]
    assert len(written) == 1
    assert {target.receiver: notifier.dedupes for target, notifier in built.items()} == {
        "chat": False,
        "screen": False,
        "desk": True,
    }


PROBLEMS = [
    ("{x: {apprise: ['env:GONE']}}", "the secret is missing"),
    ("{x: {webhook: {url: 'env:GONE'}}}", "the secret is missing"),
    ("{x: {webhook: {url: 'https://example.org', secret: 'env:GONE'}}}", "the secret is missing"),
    ("{x: {webhook: {url: 'https://example.org', secret: 'env:CANARY'}}}", "env:CANARY holds no webhook secret"),
    ("{x: {webhook: {url: 'env:PLAIN'}}}", "must begin with https://"),
    ("{x: {webhook: {url: 'env:PLAIN', insecure: true}}}", "to this machine only"),
    ("{x: {webhook: {url: 'env:CANARY'}}}", "no http or https URL"),
]


@pytest.mark.parametrize(("text", "problem"), PROBLEMS)
def test_a_receiver_that_cannot_be_built_says_why_when_it_is_told(text: str, problem: str) -> None:
    values = {"PLAIN": f"http://example.org/{CANARY}", "CANARY": CANARY}

    def resolve(reference: SecretRef) -> Secret:
        if reference.name not in values:
            raise InputError([Finding(str(reference), None, "", "the secret is missing")])
        return Secret(values[reference.name])

    (notifier,) = build_notifiers(receivers(text), resolve, FixedClock(START), print).values()
    assert isinstance(notifier, Unusable)
    ending = notifier.send(NOTICE)
    assert isinstance(ending, NotSent)
    assert problem in ending.error
    assert CANARY not in ending.error
