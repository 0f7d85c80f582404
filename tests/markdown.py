"""The few parts of Markdown that tests of the documentation read: fenced blocks and tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_FENCE = re.compile(r"(?P<fence>`{3,})(?P<language>[a-z]*)(?P<attributes>.*)")
_TITLE = re.compile(r'title="([^"]+)"')
_HEADING = re.compile(r"(#{1,6}) (.+)")
_CELL_END = re.compile(r"(?<!\\)\|")
_CODE = re.compile(r"`([^`]+)`")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block."""

    language: str
    """Empty where the fence names none."""
    title: str | None
    """Of the attribute `title`: the file that the block is to be saved as."""
    text: str
    line: int
    """Of its first line of text, from 1."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table under its heading."""

    heading: str
    """Of the nearest heading before it, as written."""
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    """Cells as written, without blanks at their ends and with `\\|` as `|`."""


def blocks(page: str) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    lines = page.splitlines()
    number = 0
    while number < len(lines):
        opening = _FENCE.fullmatch(lines[number])
        number += 1
        if opening is None:
            continue
        first = number
        while lines[number] != opening["fence"]:
            number += 1
        title = _TITLE.search(opening["attributes"])
        text = "".join(f"{line}\n" for line in lines[first:number])
        yield Block(opening["language"], title[1] if title else None, text, first + 1)
        number += 1


def prose(page: str) -> list[str]:
    """The lines of a page without its fenced blocks."""
    lines = page.splitlines()
    for block in blocks(page):
        end = block.line + block.text.count("\n")
        lines[block.line - 2 : end] = [""] * (end - block.line + 2)
    return lines


def tables(page: str) -> Iterator[Table]:
    """The tables of a page, in order."""
    heading = ""
    lines = [*prose(page), ""]
    number = 0
    while number < len(lines):
        if found := _HEADING.fullmatch(lines[number]):
            heading = found[2]
        first = number
        while lines[number].startswith("|"):
            number += 1
        if number - first >= 2:
            rows = [_cells(line) for line in lines[first:number]]
            yield Table(heading, rows[0], tuple(rows[2:]))
        number += 1 if number == first else 0


def sections(page: str) -> dict[str, str]:
    """The text under each heading, deeper headings excluded, by the heading as written."""
    found: dict[str, str] = {}
    heading = ""
    for line in prose(page):
        if match := _HEADING.fullmatch(line):
            heading = match[2]
        found[heading] = found.get(heading, "") + line + "\n"
    return found


def code(text: str) -> list[str]:
    """The code spans of a text."""
    return _CODE.findall(text)


def _cells(line: str) -> tuple[str, ...]:
    return tuple(cell.strip().replace("\\|", "|") for cell in _CELL_END.split(line.strip())[1:-1])
