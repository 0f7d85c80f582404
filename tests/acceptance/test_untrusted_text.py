"""Text from data is shown as data: it cannot colour, erase, reorder or imitate what the command says."""

from __future__ import annotations

import csv
import io
import os
import pty
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from cli.output import visible
from tests.acceptance.command import ROOT, trivet
from tests.acceptance.files import replace_in

HOSTILE = {
    "clears the screen": "\x1b[2J\x1b[H",
    "colours": "\x1b[31mred\x1b[0m",
    "a terminal's title": "\x1b]0;title\x07",
    "a link": "\x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\",
    "one-byte control": "a\x9b31mb\x85c",
    "markup": "[red]x[/red] [link=https://evil.example]y[/link]",
    "broken markup": "[/] [bold",
    "emoji code": ":warning:",
    "new lines": "R9\n  compliant  0 breaches / 0 no-data\r\nR10",
    "overprinting": "compliant\r  breach \b\b\b",
    "tabs": "a\tb",
    "right to left": "\u202ecompliant\u202c \u2066x\u2069 \u200f",
    "invisible": "a\u200bb\ufeffc\u00add",
    "line separators": "a\u2028b\u2029c",
    "odd blanks": "\u00a0\u3000x",
    "private use": "\ue000",
    "a delete": "a\x7fb",
    "much": "m" * 5000,
    "wide": "界" * 500,
}


def reading(key: str, value: str) -> str:
    """A reading whose key and value are hostile, as a line of the file."""
    line = io.StringIO()
    csv.writer(line).writerow([key, "north", value, "2026-01-05"])
    return line.getvalue()


@pytest.fixture(params=HOSTILE)
def hostile(request: pytest.FixtureRequest) -> str:
    return HOSTILE[request.param]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace whose readings each test writes anew."""
    workspace = tmp_path_factory.mktemp("hostile") / "hostile"
    assert trivet("init", workspace).code == 0
    return workspace


def write(base: Path, *lines: str) -> None:
    head = "reading_id,station,temperature,taken_on\r\n"
    (base / "sources" / "readings.csv").write_bytes((head + "".join(lines)).encode())
    ended = trivet("ingest", at=base)
    assert ended.code == 0, ended.err


def is_harmless(text: str) -> bool:
    return all(char.isprintable() or char == "\n" for char in text)


def test_a_hostile_key_and_value_are_shown_escaped(base: Path, hostile: str) -> None:
    write(base, reading(hostile, "9.5"), reading("R2", hostile))
    ended = trivet("evaluate", "--dry-run", at=base)
    assert (ended.code, ended.err) == (1, "")
    assert is_harmless(ended.out)
    shown = visible(hostile)
    lines = [line.strip() for line in ended.out.splitlines()]
    breached = lines[lines.index("breached") + 2]
    undecided = next(line for line in lines if line.startswith("R2"))
    for line in (breached, undecided):
        assert shown[:25] in line
    assert breached.endswith("9.5")
    assert undecided.split()[-3:] == ["left_null", "temperature:", "not_castable"]


def test_long_text_takes_one_line_and_shows_that_it_goes_on(base: Path) -> None:
    write(base, reading("m" * 5000, "9.5"), reading("R2", "9.6"))
    lines = trivet("evaluate", "--dry-run", at=base).out.splitlines()
    long = next(line for line in lines if "mmm" in line)
    assert long.split() == ["m" * 59 + "…", "9.5"]
    assert max(map(len, lines)) <= 120
    assert len(lines) < 20


def test_a_json_document_holds_hostile_text_whole(base: Path) -> None:
    keys = {f"K{number}": text for number, text in enumerate(HOSTILE.values())}
    write(base, *(reading(text, "9.5") for text in keys.values()), *(reading(*item) for item in keys.items()))
    ended = trivet("evaluate", "--dry-run", "--json", at=base)
    assert ended.out.isascii()
    samples = ended.document["samples"]
    assert {member["key"]["reading_id"] for member in samples["breach"]} == set(HOSTILE.values())
    assert {member["key"]["reading_id"]: member["operands"]["temperature"] for member in samples["no_data"]} == keys


def test_hostile_text_is_recorded_and_verifies(base: Path) -> None:
    write(base, *(reading(text, "9.5") for text in HOSTILE.values()), reading("cafe\u0301", "9.5"))
    assert trivet("evaluate", at=base).code == 1
    assert trivet("ledger", "verify", at=base).code == 0
    with closing(sqlite3.connect(base / "trivet.db")) as store:
        (count,) = store.execute("SELECT count(*) FROM member").fetchone()
    assert count == len(HOSTILE) + 1


def test_hostile_words_of_a_definition_are_shown_escaped(small: Path) -> None:
    replace_in(
        small / "monitors" / "example.yaml",
        "title: Cold store warmer than 5 degrees",
        r'title: "[red]x[/red] :warning:"',
    )
    for command in ("evaluate --dry-run", "monitors list", "monitors show reading-too-warm"):
        ended = trivet(*command.split(), at=small)
        assert ended.code in (0, 1)
        assert "[red]x[/red] :warning:" in ended.out
        assert is_harmless(ended.out)


@pytest.mark.parametrize("arguments", [["evaluate", "{}"], ["-C", "{}", "check"], ["{}"], ["evaluate", "--at", "{}"]])
def test_a_hostile_argument_is_repeated_escaped(base: Path, arguments: list[str], hostile: str) -> None:
    ended = trivet(*(part.replace("{}", hostile) for part in arguments), at=base)
    assert ended.code in (64, 69)
    assert is_harmless(ended.err)


def test_a_hostile_file_name_is_shown_escaped(small: Path) -> None:
    (small / "monitors" / "a\x1b[31m\u202e.yaml").write_text("monitors: [\n")
    ended = trivet("check", at=small)
    assert ended.code == 65
    assert ended.err.startswith(r"monitors/a\x1b[31m\u202e.yaml:")
    assert is_harmless(ended.err)


def test_a_file_name_that_is_no_utf_8_is_told_and_not_tripped_over(small: Path) -> None:
    name = os.fsdecode(b"monitors/caf\xe9.yaml")
    (small / name).write_text("monitors: [\n")
    for arguments in (["check"], ["check", "--json"]):
        ended = trivet(*arguments, at=small)
        assert ended.code == 65
        assert ended.out.isascii()
        assert is_harmless(ended.err)


def test_a_message_of_the_engine_that_repeats_data_is_shown_escaped(small: Path) -> None:
    file = small / "warehouse.duckdb"
    content = file.read_bytes()
    file.unlink()
    file.write_bytes(content)
    with duckdb.connect(str(file)) as warehouse:
        warehouse.execute("DROP VIEW ontology.reading")
        warehouse.execute(
            "CREATE VIEW ontology.reading AS SELECT * REPLACE "
            "(CAST(error(chr(27) || '[2J' || chr(8238) || '[red]boom') AS VARCHAR) AS temperature) FROM raw.readings"
        )
    ended = trivet("evaluate", at=small)
    assert ended.code == 2
    assert is_harmless(ended.out)
    assert r"\x1b[2J\u202e[red]boom" in ended.out
    assert trivet("ledger", "verify", at=small).code == 0


def test_a_ledger_that_holds_hostile_text_is_shown_escaped(small: Path) -> None:
    assert trivet("evaluate", at=small).code == 1
    with closing(sqlite3.connect(small / "trivet.db")) as store:
        payload = '{"monitor_id":"a\\u001b[2J\\u202e[red]\x9b31m","verdict":"\\u200bcompliant"}'
        store.execute("DROP TRIGGER ledger_entry_update")
        store.execute("UPDATE ledger_entry SET payload = ?", (payload,))
        store.commit()
    for arguments in (["show"], ["show", "1"]):
        ended = trivet("ledger", *arguments, at=small)
        assert ended.code == 0
        assert is_harmless(ended.out)
        assert r"\u202e[red]\x9b31m" in ended.out
    damaged = trivet("ledger", "verify", at=small)
    assert damaged.code == 4
    assert is_harmless(damaged.err)


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    """A terminal: the end that a program writes to, and the end that a person reads."""
    reader, writer = pty.openpty()
    yield writer, reader
    os.close(reader)


def test_on_a_terminal_colours_are_our_own(base: Path, terminal: tuple[int, int]) -> None:
    write(base, reading("\x1b[32mR1", "9.5"))
    writer, reader = terminal
    code = "import sys; from cli.main import run; sys.exit(run(['evaluate', '--dry-run']))"
    environment = {"PATH": os.environ.get("PATH", ""), "PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "120"}
    process = subprocess.Popen([sys.executable, "-c", code], cwd=base, env=environment, stdout=writer, stderr=writer)
    os.close(writer)
    seen = b""
    while True:
        try:
            part = os.read(reader, 65536)
        except OSError:
            # Linux ends a terminal whose other side is closed with EIO.
            break
        if not part:
            break
        seen += part
    assert process.wait(timeout=60) == 1
    text = seen.decode()
    assert r"\x1b[32mR1" in text
    assert "\x1b[1;31mbreach\x1b[0m" in text
    assert "\x1b[32mR1" not in text
