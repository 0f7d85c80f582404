"""What is told is what `tests/snapshots/alerts/` holds: NAME.txt for chat, NAME.html for mail, NAME.json for webhooks.

`python -m tests.snapshots.test_alert_messages` writes the files anew; look at the difference before it is kept.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from alerts.digests import Digest, DigestMonitor, DigestNote, Standing, digest_of
from alerts.gathered import gathered_message
from alerts.groups import GroupAlert
from alerts.members import Flagged
from alerts.message import Message, digest_message, group_message, message_of, outage_message, probe_message
from alerts.outages import outage_of
from alerts.rendering import body, subject
from alerts.rendering_html import html
from alerts.states import AlertEvent, AlertKind, MemberState
from alerts.status import AlertChange, AlertStatus
from alerts.unwatching import REMOVED
from alerts.wording import inactive, visible
from monitors.evaluation import Counts, Member, MissingKey, NotMade, key_text
from tests.alerting import START, a_failure, a_monitor, an_evaluation, breached, undecided
from trivet.verdicts import NotMadeReason, Reason, Severity, SlotCause, Verdict

FOLDER = Path(__file__).parent / "alerts"
RUNBOOK = "https://intranet.example/runbooks/pay-floor"
HOSTILE = "\x1b[31mred\x07\r\n@channel <!here> https://evil.example/x www.evil.example \u202egnp.exe\ud800\0"


def change(event: AlertEvent, kind: AlertKind, was: AlertKind | None = None, ordinal: int = 1) -> AlertChange:
    return AlertChange(event, kind, was, 3, ordinal, START, Severity.CRITICAL)


def fired_breach() -> Message:
    found = (tuple(map(breached, range(4))), (undecided(1),))
    made = an_evaluation(breaches=4, no_data=1, members=found, definition=a_monitor(runbook=RUNBOOK))
    return message_of(change(AlertEvent.FIRED, AlertKind.BREACH), made, 12)


def fired_no_data() -> Message:
    reasons = {Reason.LEFT_NULL: 2, Reason.RIGHT_NULL: 1}
    members = (undecided(1, Reason.LEFT_NULL, hourly_rate=" "), undecided(2, Reason.LEFT_NULL, hourly_rate=None))
    made = an_evaluation(no_data=3, reasons=reasons, members=((), (*members, undecided(3, Reason.RIGHT_NULL))))
    return message_of(change(AlertEvent.FIRED, AlertKind.NO_DATA), made, 12)


def fired_not_made() -> Message:
    made = an_evaluation(not_made=a_failure("IO Error: see https://evil.example/help"))
    return message_of(change(AlertEvent.FIRED, AlertKind.NO_DATA), made, 12)


def fired_missed() -> Message:
    missed = NotMade(NotMadeReason.NOT_EVALUATED, None, SlotCause.MISSED)
    return message_of(change(AlertEvent.FIRED, AlertKind.NO_DATA), an_evaluation(not_made=missed), None)


def many_members() -> Message:
    return message_of(change(AlertEvent.FIRED, AlertKind.BREACH), an_evaluation(breaches=14, no_data=2), 12)


def changed_to_breach() -> Message:
    made = an_evaluation(1, breaches=1)
    return message_of(change(AlertEvent.CHANGED, AlertKind.BREACH, AlertKind.NO_DATA, 2), made, 13)


def changed_to_unjudged() -> Message:
    made = an_evaluation(1, not_made=a_failure())
    return message_of(change(AlertEvent.CHANGED, AlertKind.UNJUDGED, AlertKind.BREACH, 2), made, 13)


def judged_again() -> Message:
    made = an_evaluation(2, breaches=1)
    return message_of(change(AlertEvent.CHANGED, AlertKind.BREACH, AlertKind.UNJUDGED, 3), made, 14)


def resolved_breach() -> Message:
    made = an_evaluation(3)
    return message_of(replace(change(AlertEvent.RESOLVED, AlertKind.BREACH, None, 4), since=made.slot), made, 15)


def resolved_no_data() -> Message:
    made = an_evaluation(3)
    return message_of(replace(change(AlertEvent.RESOLVED, AlertKind.NO_DATA, None, 2), since=made.slot), made, 15)


def hostile_data() -> Message:
    hostile = Member(Verdict.BREACH, {"employee_id": HOSTILE}, {"hourly_rate": "<0.05", "note": "x" * 5_000}, ())
    made = an_evaluation(breaches=1, members=((hostile,), ()))
    return message_of(change(AlertEvent.FIRED, AlertKind.BREACH), made, 12)


def carried() -> Message:
    """A member is gone, one is undecided, and a third breaches."""
    made = an_evaluation(2, breaches=1, no_data=1)
    carrying = replace(change(AlertEvent.CHANGED, AlertKind.BREACH, AlertKind.BREACH, 2), carried=2, gone=1, held=1)
    return message_of(replace(carrying, was_severity=Severity.WARNING), made, 13)


def newly_unjudged() -> Message:
    """Of four members in breach one vanished and one cannot be decided; two go on."""
    found = ((breached(0), breached(3)), (undecided(1),))
    made = an_evaluation(2, breaches=2, no_data=1, members=found)
    lost = replace(change(AlertEvent.CHANGED, AlertKind.BREACH, AlertKind.BREACH, 2), carried=2, gone=1)
    keys = (undecided(1).key_text, key_text({"employee_id": "E9 @channel https://evil.example"}))
    flagged = {keys[0]: Flagged(MemberState.NO_DATA, True, START)}
    return message_of(replace(lost, was_severity=Severity.CRITICAL, unjudged=keys), made, 13, flagged=flagged)


def more_and_louder() -> Message:
    """The same, and the severity rose; of many members the first are named."""
    keys = tuple(undecided(number).key_text for number in range(12))
    lost = replace(change(AlertEvent.CHANGED, AlertKind.BREACH, AlertKind.BREACH, 2), carried=12, unjudged=keys)
    return message_of(replace(lost, was_severity=Severity.WARNING), an_evaluation(2, breaches=1, no_data=12), 13)


def unwatched() -> Message:
    """A monitor was removed while members breached."""
    over = replace(carried(), event=AlertEvent.UNWATCHED, was=None, was_severity=None, detail=REMOVED)
    return replace(over, held=0, gone=0)


def missing_rows() -> Message:
    keys = (
        MissingKey("governed_by", "award_rate", {"classification": "DDSO 7", "pay_point": "1"}, 40),
        MissingKey("governed_by", "award_rate", {"classification": "DDSO 8", "pay_point": None}, 1),
    )
    made = replace(an_evaluation(no_data=41), missing_keys=keys)
    fallen = replace(change(AlertEvent.FIRED, AlertKind.NO_DATA), share=("99.9", "98.1"))
    return message_of(fallen, made, 12)


def escalated() -> Message:
    return message_of(change(AlertEvent.ESCALATED, AlertKind.BREACH, None, 2), an_evaluation(breaches=1), 12)


def flapping() -> Message:
    return message_of(change(AlertEvent.FLAPPING, AlertKind.BREACH, None, 2), an_evaluation(breaches=1), 12)


def repeated() -> Message:
    return message_of(change(AlertEvent.REPEATED, AlertKind.UNJUDGED, None, 2), an_evaluation(not_made=a_failure()), 12)


def outage() -> Message:
    made = an_evaluation(not_made=a_failure("no such file: see https://evil.example/help"))
    found = outage_of(made)
    assert found is not None
    names = [f"pay-{number}" for number in range(12)]
    return outage_message(change(AlertEvent.FIRED, AlertKind.NO_DATA), made, found, names, None)


def outage_ended() -> Message:
    ended = replace(change(AlertEvent.RESOLVED, AlertKind.NO_DATA, None, 2), since=an_evaluation(3).slot)
    return outage_message(ended, an_evaluation(3), None, [], outage().to_json())


def beside_accepted() -> Message:
    """Three of four breaches are accepted: the fourth is what it is about, and is listed first."""
    made = an_evaluation(breaches=4, no_data=1)
    accepted = {item.key_text: f"2027-0{number}-31" for number, item in enumerate(made.breached[:3], start=1)}
    told = replace(change(AlertEvent.FIRED, AlertKind.BREACH), accepted=tuple(sorted(accepted.values())))
    return message_of(told, made, 12, accepted)


def only_accepted() -> Message:
    made = an_evaluation(3, breaches=2)
    accepted = dict.fromkeys((item.key_text for item in made.breached), "2027-01-31")
    ended = replace(change(AlertEvent.RESOLVED, AlertKind.BREACH, None, 4), since=made.slot)
    return message_of(replace(ended, accepted=tuple(accepted.values())), made, 15, accepted)


def daily_digest() -> Message:
    """Nothing in it is fine but one monitor; what engines and people wrote is hostile."""
    at = "2026-12-01 06:00"
    monitors = (
        DigestMonitor("fine", Standing.COMPLIANT, "0 breaches / 0 no-data", "100.0", slot=at),
        DigestMonitor("fine-but-missed", Standing.COMPLIANT, "0 breaches / 0 no-data", "100.0", slot=at, missed=2),
        DigestMonitor(
            "pay-below-floor",
            Standing.BREACH,
            "4 breaches / 1 no-data",
            "98.2",
            slot=at,
            alert="(breach) acknowledged",
            since="2026-11-29 06:00",
            acknowledged_by="ana",
            accepted=3,
            silenced_until="2026-12-02 08:00",
        ),
        DigestMonitor(
            "gone", Standing.FIRING, "0 breaches / 0 no-data", "100.0", slot=at, alert="(breach) firing", since=at
        ),
        DigestMonitor("floorless", Standing.NO_DATA, "0 breaches / 1 no-data", "98.2", slot=at),
        DigestMonitor(
            "dead", Standing.NOT_EVALUATED, not_made="engine_error", slot=at, alert="(no data) firing", since=at
        ),
        DigestMonitor("missed", Standing.NOT_EVALUATED, not_made="not_evaluated", cause="missed", slot=at, missed=3),
        DigestMonitor("late", Standing.OVERDUE, "0 breaches / 0 no-data", "100.0", slot=at, overdue_since=at),
        DigestMonitor("new", Standing.NEVER),
        DigestMonitor("rests", Standing.PAUSED, "0 breaches / 0 no-data", "100.0", slot=at, paused_until=at),
    )
    opening = Digest(
        "2026-12-01", "2026-12-01 07:30", "Australia/Sydney", "2026-12-01 09:12", "2026-11-30 07:30", disabled=1
    )
    outages = (DigestNote("3 monitors not judged", at, f"no such file {HOSTILE}"),)
    ending = (
        DigestNote("pay-below-floor", "2026-12-02 08:00", f"silence of kim: {HOSTILE}"),
        DigestNote("pay-below-floor", "2026-12-05", "3 members accepted by ana: back pay runs in January"),
    )
    made = digest_of(opening, monitors, outages, ending, (DigestNote("desk", at, "the receiver answered 500"),))
    return digest_message("digest/payroll", made, 739951, START)


def quiet_digest() -> Message:
    at = "2026-12-01 06:00"
    opening = Digest("2026-12-01", "2026-12-01 07:30", "Australia/Sydney", None, "2026-11-30 07:30")
    lines = [DigestMonitor(name, Standing.COMPLIANT, "0 breaches / 0 no-data", "100.0", slot=at) for name in ("a", "b")]
    return digest_message("digest/payroll", digest_of(opening, lines, (), (), ()), 739951, START)


def first_digest() -> Message:
    """Of more monitors than anybody reads."""
    lines = [DigestMonitor(f"m{number:03}", Standing.NEVER) for number in range(120)]
    opening = Digest("2026-12-01", "2026-12-01 07:30", "Australia/Sydney")
    return digest_message("digest/payroll", digest_of(opening, lines, (), (), ()), 739951, START)


def fired_group() -> Message:
    member = replace(breached(1, **{"average(turbidity)": "5.31"}), key={"site": "Weir Pool", "year": "2026"})
    whole = an_evaluation(breaches=3, no_data=1)
    part = replace(an_evaluation(breaches=1, members=((member,), ())), outcome=Counts(1, 1, 0, 0, 0, 0, {}))
    alert = GroupAlert(7, member.key_text, AlertStatus())
    return group_message(change(AlertEvent.FIRED, AlertKind.BREACH), part, 12, alert, whole)


def group_gone() -> Message:
    part = replace(an_evaluation(1), outcome=Counts(1, 0, 1, 0, 0, 0, {Reason.LEFT_MISSING: 1}))
    alert = GroupAlert(7, key_text({"site": "https://evil.example/@channel", "year": None}), AlertStatus())
    carried = replace(change(AlertEvent.CHANGED, AlertKind.UNJUDGED, AlertKind.BREACH, 2), carried=1, gone=1)
    return group_message(carried, part, 13, alert, an_evaluation(1, breaches=2))


def gathered() -> Message:
    def named(message: Message, monitor: str, severity: Severity = Severity.CRITICAL) -> Message:
        return replace(message, monitor=monitor, title=f"Monitor of {monitor}", severity=severity)

    notices = [
        named(fired_breach(), "pay"),
        named(fired_no_data(), "hours", Severity.WARNING),
        named(fired_not_made(), "leave"),
        named(resolved_breach(), "tax"),
        named(fired_breach(), "super"),
        named(resolved_breach(), "super"),
        named(carried(), "bonus"),
        named(beside_accepted(), "known"),
        named(newly_unjudged(), "lost"),
        named(unwatched(), "left"),
        fired_group(),
    ]
    return gathered_message({"owner": "payroll-ops", "labels.site": ""}, notices, START)


def gathered_ends() -> Message:
    return gathered_message({}, [resolved_breach(), replace(resolved_no_data(), monitor="hours")], START)


def a_test() -> Message:
    return probe_message("payroll", START)


MESSAGES: dict[str, Callable[[], Message]] = {
    make.__name__: make
    for make in (
        fired_breach,
        fired_no_data,
        fired_not_made,
        fired_missed,
        many_members,
        changed_to_breach,
        changed_to_unjudged,
        judged_again,
        resolved_breach,
        resolved_no_data,
        hostile_data,
        carried,
        newly_unjudged,
        unwatched,
        more_and_louder,
        missing_rows,
        escalated,
        flapping,
        repeated,
        outage,
        outage_ended,
        beside_accepted,
        only_accepted,
        daily_digest,
        quiet_digest,
        first_digest,
        fired_group,
        group_gone,
        gathered,
        gathered_ends,
        a_test,
    )
}


def as_text(message: Message) -> str:
    return f"{subject(message)}\n{body(message, inactive)}\n"


def as_json(message: Message) -> str:
    return json.dumps(json.loads(message.to_json()), indent=1) + "\n"


@pytest.mark.parametrize("name", MESSAGES)
def test_a_message_reads_as_its_snapshot(name: str) -> None:
    message = MESSAGES[name]()
    assert as_text(message) == (FOLDER / f"{name}.txt").read_text("utf-8")
    assert as_json(message) == (FOLDER / f"{name}.json").read_text("utf-8")
    assert html(message) == (FOLDER / f"{name}.html").read_text("utf-8")


def test_every_snapshot_belongs_to_a_message() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == set(MESSAGES)


@pytest.mark.parametrize("name", MESSAGES)
def test_a_message_comes_back_from_the_outbox_as_it_went_in(name: str) -> None:
    message = MESSAGES[name]()
    assert Message.from_json(message.to_json()) == message
    assert message.to_json().isascii()


def test_data_carries_no_control_character_link_or_mention_into_chat() -> None:
    text = as_text(hostile_data())
    assert all(char.isprintable() or char == "\n" for char in text)
    assert text.count("\n") == as_text(replace(hostile_data(), members=())).count("\n") + 1
    for live in ("://evil", "@channel", "<!here", "www.evil", "evil.example"):
        assert live not in text
    assert "<0.05" in text
    assert max(map(len, text.splitlines())) <= 300


class Read(HTMLParser):
    """What a mail program makes of HTML: its elements, their attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.links: list[str] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.links += [
            str(value) for name, value in attrs if name not in ("style", "lang", "charset", "content", "name")
        ]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.mark.parametrize("name", MESSAGES)
def test_mail_says_what_chat_says_and_holds_nothing_that_is_fetched_or_run(name: str) -> None:
    message = MESSAGES[name]()
    read = Read(html(message))
    assert set(read.elements) <= {"html", "head", "meta", "title", "body", "div", "h1", "p", "strong", "ul", "li", "a"}
    assert read.links == ([message.runbook] if message.runbook else [])
    said = [line.removeprefix("- ") for line in as_text(message).splitlines() if line]
    for line in said:
        assert line in "".join(read.texts)


def test_markup_in_data_is_text_in_mail() -> None:
    member = breached(1, note="<img src=x onerror=alert(1)><script>1</script>&amp;")
    made = an_evaluation(breaches=1, members=((member,), ()))
    read = Read(html(message_of(change(AlertEvent.FIRED, AlertKind.BREACH), made, 12)))
    assert "img" not in read.elements
    assert "script" not in read.elements
    assert "<img src=x onerror=alert(1)><script>1</script>&amp;" in "".join(read.texts)


_NUMBER = re.compile(r"\d[\d,.:+\-TZ]*\d|\d")


# What hostile data has of control characters is shown by their numbers.
@pytest.mark.parametrize("name", sorted(MESSAGES.keys() - {"hostile_data", "daily_digest"}))
def test_every_number_that_is_told_stands_in_what_was_recorded(name: str) -> None:
    """In the evaluation, its ledger entry or the alert; but for how many are shown of all, which is counted here."""
    message = MESSAGES[name]()
    known = {found.replace(",", "") for found in _NUMBER.findall(message.to_json())}
    shown = {str(sum(item.verdict == verdict for item in message.members)) for verdict in Verdict}
    shown |= {str(len(message.monitors)), str(len(message.digest.monitors) if message.digest else 0)}
    shown |= {str(number) for number in range(1, len(message.notices) + 1)}
    for text in (subject(message), body(message, visible), html(message).split("<h1", 1)[1].split(">", 1)[1]):
        plain = "".join(Read(text).texts)
        told = {found.replace(",", "") for found in _NUMBER.findall(plain)}
        assert told <= known | shown, told - known - shown


def test_text_that_needs_no_taming_is_left_as_it_is() -> None:
    for text in (
        "27.10",
        "E1012",
        "Zoë O'Brien",
        "<0.05",
        "see note 2.",
        "a.b",
        "sources/pay.csv, row 14",
        "B.13.xlsx",
    ):
        assert inactive(text) == visible(text) == text


@pytest.mark.parametrize(
    ("text", "tamed"),
    [
        ("pay.csv.evil.example", "pay[.]csv[.]evil[.]example"),
        ("pay.csv-evil.example", "pay[.]csv-evil[.]example"),
        ("evil.example/pay.csv", "evil[.]example/pay.csv"),
        ("pay.csvs", "pay[.]csvs"),
        ("run.sh", "run[.]sh"),
        ("all.zip", "all[.]zip"),
    ],
)
def test_only_the_name_of_a_file_of_data_is_left_alone(text: str, tamed: str) -> None:
    assert inactive(text) == tamed


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", '{"type": "alert.fired"}', '{"data": {}, "type": 1}'])
def test_what_is_no_message_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="the outbox holds no message here"):
        Message.from_json(text)


if __name__ == "__main__":
    for name, make in MESSAGES.items():
        (FOLDER / f"{name}.txt").write_text(as_text(make()), "utf-8")
        (FOLDER / f"{name}.json").write_text(as_json(make()), "utf-8")
        (FOLDER / f"{name}.html").write_text(html(make()), "utf-8")
