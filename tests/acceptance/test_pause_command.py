"""`trivet monitors pause` and `resume`: in the list, in the doctor's report, and in the ledger."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.command import Ended, trivet

NAME = "reading-too-warm"
BY = ("--owner", "kim", "--reason", "the sensors are replaced")


def paused(workspace: Path) -> Any:
    (monitor,) = trivet("monitors", "list", "--json", at=workspace).document["monitors"]
    return monitor["paused"]


def pause(workspace: Path, *options: str) -> Ended:
    return trivet("monitors", "pause", NAME, *options, at=workspace)


def test_a_pause_is_shown_until_it_is_ended(small: Path) -> None:
    assert paused(small) is None
    made = trivet("monitors", "pause", NAME, *BY, "--until", "8h", "--json", at=small).document
    assert (made["monitor"], made["owner"], made["reason"]) == (NAME, "kim", "the sensors are replaced")
    assert made["since"] < made["until"]
    assert paused(small) == made
    assert "paused by kim until" in trivet("monitors", "list", at=small).out
    (told,) = (
        item
        for item in trivet("doctor", "--json", at=small).document["observations"]
        if item["what"] == f"monitor {NAME}"
    )
    assert told["fine"]
    assert told["message"].endswith("the sensors are replaced")
    ended = trivet("monitors", "resume", NAME, "--owner", "lee", "--reason", "done", "--json", at=small).document
    assert ended == {"monitor": NAME, "ended": [made]}
    assert paused(small) is None
    entries = trivet("ledger", "show", "--json", at=small).documents
    told_of = [item for item in entries if item["payload"]["subject_id"] == made["pause_id"]]
    assert sorted(item["entry_type"] for item in told_of) == ["pause", "resume"]
    assert trivet("ledger", "verify", at=small).code == 0


def test_an_end_is_read_in_the_zone_of_the_contract(small: Path) -> None:
    made = trivet("monitors", "pause", NAME, *BY, "--until", "2999-01-01T12:00", "--json", at=small).document
    assert made["until"] == "2999-01-01T12:00:00.000000Z"


def test_a_person_may_still_evaluate_a_paused_monitor(small: Path) -> None:
    assert pause(small, *BY, "--until", "8h").code == 0
    assert trivet("evaluate", NAME, at=small).code == 1


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ((*BY, "--until", "tomorrow"), "--until: 'tomorrow' is no time"),
        ((*BY, "--until", "2020-01-01"), "has passed already"),
        ((*BY, "--until", "0s"), "has passed already"),
        ((*BY, "--until", "999999w"), "--until: 999999w is too long"),
        ((*BY,), "Missing option '--until'"),
        (("--owner", " ", "--reason", "x", "--until", "8h"), "--owner: expected a text"),
        (("--owner", "kim", "--reason", "x" * 501, "--until", "8h"), "--reason: expected a text"),
    ],
)
def test_a_pause_that_says_too_little_is_refused(small: Path, options: tuple[str, ...], told: str) -> None:
    ended = pause(small, *options)
    assert ended.code == 64
    assert told in ended.err
    assert paused(small) is None


def test_only_a_known_monitor_is_paused_and_only_a_paused_one_resumed(small: Path) -> None:
    unknown = trivet("monitors", "pause", "reading-to-warm", *BY, "--until", "8h", at=small)
    assert (unknown.code, "did you mean" in unknown.err) == (64, True)
    assert trivet("evaluate", at=small).code == 1
    ended = trivet("monitors", "resume", NAME, at=small)
    assert (ended.code, f"the monitor '{NAME}' is not paused" in ended.err) == (64, True)


def test_a_list_whose_pauses_cannot_be_read_says_so(small: Path) -> None:
    (small / "trivet.db").write_bytes(b"no database, whatever it may be called" * 40)
    ended = trivet("monitors", "list", "--json", at=small)
    (monitor,) = ended.document["monitors"]
    assert (ended.code, "paused" in monitor) == (0, False)
    assert "which monitors are paused is not known" in ended.err
