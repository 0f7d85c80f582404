"""Log lines: what they concern, and that no record can look like two."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from io import StringIO
from typing import Any

import pytest

from trivet.logs import JsonFormatter, LogForm, TextFormatter, concerning, set_up_logs

SLOT = datetime(2026, 11, 30, 6, tzinfo=UTC)
SLOT_TEXT = "2026-11-30T06:00:00.000000Z"
NASTY = "a\nb\r\x1b[31m\u2028c\u202e"


@contextmanager
def a_new_process() -> Iterator[None]:
    """The root logger without handlers, as a process begins; afterwards as it was."""
    logger = logging.getLogger()
    handlers, level = logger.handlers[:], logger.level
    logger.handlers[:] = []
    try:
        yield
    finally:
        logger.handlers[:] = handlers
        logger.setLevel(level)


def record(message: str, *arguments: Any, error: BaseException | None = None) -> logging.LogRecord:
    info = (type(error), error, error.__traceback__) if error is not None else None
    return logging.LogRecord("worker.x", logging.WARNING, __file__, 1, message, arguments, info)


def raised(text: str) -> ValueError:
    try:
        raise ValueError(text)
    except ValueError as error:
        return error


def test_a_line_of_json_says_what_it_concerns() -> None:
    with concerning(monitor="m", slot=SLOT, evaluation_id="e1"):
        told = json.loads(JsonFormatter().format(record("%s of %d", "one", 3)))
    assert datetime.fromisoformat(told["time"]).tzinfo is not None
    assert isinstance(told["process"], int)
    assert {key: told[key] for key in ("level", "logger", "message", "monitor", "slot", "evaluation_id")} == {
        "level": "WARNING",
        "logger": "worker.x",
        "message": "one of 3",
        "monitor": "m",
        "slot": SLOT_TEXT,
        "evaluation_id": "e1",
    }


def test_what_it_concerns_ends_with_the_block_and_stays_in_its_thread() -> None:
    formatter, elsewhere = JsonFormatter(), []
    with concerning(monitor="outer", slot="s"):
        with concerning(monitor="inner", slot=SLOT, evaluation_id="e"):
            pass
        assert json.loads(formatter.format(record("x")))["monitor"] == "outer"
        thread = threading.Thread(target=lambda: elsewhere.append(formatter.format(record("x"))))
        thread.start()
        thread.join()
    assert "monitor" not in json.loads(elsewhere[0])
    assert "monitor" not in json.loads(formatter.format(record("x")))


@pytest.mark.parametrize("formatter", [JsonFormatter(), TextFormatter()])
def test_no_record_looks_like_two(formatter: logging.Formatter) -> None:
    with concerning(monitor=NASTY, slot=NASTY):
        text = formatter.format(record("%s", NASTY))
    assert text.isascii()
    assert text.isprintable()


def test_a_traceback_is_part_of_its_line() -> None:
    told = json.loads(JsonFormatter().format(record("failed", error=raised(NASTY))))
    assert told["exception"].startswith("Traceback (most recent call last):\n")
    assert f"ValueError: {NASTY}" in told["exception"]


def test_a_traceback_as_text_is_indented_below_its_line() -> None:
    first, *others = TextFormatter().format(record("failed", error=raised("a\n2026-11-30 ERROR forged"))).split("\n")
    assert first.endswith("WARNING worker.x: failed")
    assert others
    assert all(line.startswith("  ") and line.isprintable() for line in others)


@pytest.mark.parametrize(("form", "is_json"), [(None, True), (LogForm.JSON, True), (LogForm.TEXT, False)])
def test_a_stream_that_is_no_terminal_gets_json_unless_text_is_wanted(form: LogForm | None, is_json: bool) -> None:
    stream = StringIO()
    with a_new_process():
        set_up_logs(stream, "INFO", form)
        logging.getLogger("some.library").info("told")
        logging.getLogger("some.library").debug("untold")
    (line,) = stream.getvalue().splitlines()
    assert "told" in line
    assert line.startswith("{") is is_json


def test_a_terminal_gets_text(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: True)
    with a_new_process():
        set_up_logs(stream, "INFO")
        logging.getLogger("x").info("told")
    assert stream.getvalue().endswith(" INFO x: told\n")


def test_logs_are_set_up_once() -> None:
    first, second = StringIO(), StringIO()
    with a_new_process():
        set_up_logs(first, "INFO")
        set_up_logs(second, "DEBUG")
        logging.getLogger("x").info("told")
    assert (len(first.getvalue().splitlines()), second.getvalue()) == (1, "")
