"""YAML text in, a tree of text with positions out: the one door for every YAML file of Trivet.

The idea is StrictYAML's (Colm O'Connor, hitchdev.com/strictyaml): YAML's own types are never
guessed, so `no`, `012`, `12:30`, `1_000` and `2024-02-30` stay the text that was written, and the
schema decides what a text means. Aliases, anchors, tags, merge keys and duplicate keys are refused:
each can make a file mean something else than it shows. The parser's events are read one by one, so
that a hostile file is refused before a tree of it exists.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeAlias

import yaml

from trivet.findings import Finding, Position, key_path

LARGEST_FILE = 256 * 1024
"""Bytes."""
DEEPEST = 20
"""Mappings and lists inside one another, the root included."""
MOST_FINDINGS = 100
"""Findings reported of one file; a hostile file could have one per byte."""
TOO_MANY_FINDINGS = f"only the first {MOST_FINDINGS} faults are shown"


class Scalar(str):
    """A text as the file has it. `quoted` is false only for a plain scalar (`5`, not `"5"` and not `|`)."""

    __slots__ = ("quoted",)
    quoted: bool

    def __new__(cls, text: str, quoted: bool = False) -> Scalar:
        """Args: the text without its quotes, and whether it had any."""
        scalar = super().__new__(cls, text)
        scalar.quoted = quoted
        return scalar


class Empty(Enum):
    """What stands after `key:` when nothing does. It is not None: an optional key must not accept it."""

    EMPTY = "empty"


EMPTY = Empty.EMPTY

Value: TypeAlias = "Empty | Scalar | list[Value] | dict[str, Value]"
Path: TypeAlias = "tuple[str | int, ...]"


@dataclass(frozen=True, slots=True)
class Place:
    """Where one value stands in its file."""

    position: Position
    """Of the first character of the value: for a quoted scalar, of the quote."""
    key: Position | None = None
    """Of the key that the value belongs to; None in a list and at the root."""
    style: str | None = None
    """`''` plain, or the indicator `'`, `"`, `|`, `>`; None for mappings and lists."""
    one_line: bool = False
    """The scalar begins and ends on the same line."""
    children: Mapping[str | int, Place] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Document:
    """A YAML file that was read: a tree of text, and the place of every key and value in it."""

    file: str
    """As the user would name it."""
    root: dict[str, Value]
    lines: tuple[str, ...] = field(repr=False)
    """The text, without line ends."""
    places: Place = field(repr=False)
    """The root's place, which holds all others."""

    def has(self, path: Path) -> bool:
        """Whether the file holds a value at `path`."""
        return self._nearest(path)[1]

    def position(self, path: Path, *, key: bool = False) -> Position:
        """Where the value at `path` begins, or its key; what is absent stands where its parent does."""
        place, found = self._nearest(path)
        return place.key if key and found and place.key else place.position

    def position_in(self, path: Path, offset: int) -> Position:
        """Where the character `offset` (from 0) of the scalar at `path` stands.

        Exact for one-line scalars and for `|` blocks; elsewhere (`>` blocks, scalars broken over
        lines) the start of the scalar, since their line ends were folded away.
        """
        place, _ = self._nearest(path)
        start = place.position
        if place.style == "|":
            return self._position_in_block(path, start, offset)
        if place.style is None or not place.one_line:
            return start
        source = self.lines[start.line - 1][start.column - 1 :]
        return Position(start.line, start.column + _source_width(source, place.style, offset))

    def finding(self, path: Path, message: str, *, key: bool = False, offset: int | None = None) -> Finding:
        """A finding at `path`: at its value, at its key, or at the character `offset` of its scalar."""
        position = self.position(path, key=key) if offset is None else self.position_in(path, offset)
        return Finding(self.file, position, shown_path(path), message)

    def _nearest(self, path: Path) -> tuple[Place, bool]:
        place = self.places
        for part in path:
            child = place.children.get(part)
            if child is None:
                return place, False
            place = child
        return place, True

    def _position_in_block(self, path: Path, start: Position, offset: int) -> Position:
        value: Any = self.root
        for part in path:
            value = value[part]
        before = value[: min(offset, len(value.rstrip("\n")))]
        row, column = before.count("\n"), len(before) - (before.rfind("\n") + 1)
        # Each line of a `|` block is a source line less its indentation.
        source, content = self.lines[start.line + row], value.split("\n")[row]
        return Position(start.line + row + 1, len(source) - len(content) + column + 1)


@dataclass(frozen=True, slots=True)
class ReadResult:
    """What came of reading a file: a document, or the findings that refuse it."""

    document: Document | None
    findings: tuple[Finding, ...] = ()


def read_yaml(text: str | bytes, *, file: str) -> ReadResult:
    """Reads one YAML file, all of it or nothing, and never raises.

    Args:
        text: the file's content; bytes must be UTF-8, with or without a byte order mark.
        file: how findings name it.
    """
    source, refusal = _source_text(text)
    if refusal is not None:
        position, message = refusal
        return ReadResult(None, (Finding(file, position, "", message),))
    builder = _Builder(file, tuple(_LINE_END.split(source)))
    with suppress(_EnoughError):
        try:
            builder.read(yaml.parse(source, Loader=_LOADER))
        except yaml.YAMLError as error:
            builder.refuse(*_syntax_error(error, builder.lines), ())
    if builder.findings or not isinstance(builder.root, dict):
        return ReadResult(None, in_order(builder.findings))
    return ReadResult(Document(file, builder.root, builder.lines, builder.places))


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings as a reader meets their places in the file; those without a place come last."""

    def place(finding: Finding) -> tuple[float, int]:
        at = finding.position
        return (at.line, at.column) if at else (math.inf, 0)

    return tuple(sorted(findings, key=place))


def shown(text: str) -> str:
    """`text` fit for a message: on one line, without control characters, and short."""
    start = text[:_LONGEST_SHOWN]
    printable = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in start)
    return printable if start == text else printable + "..."


def shown_path(path: Path) -> str:
    """`key_path` of keys that may hold anything."""
    return key_path([shown(part) if isinstance(part, str) else part for part in path])


# The C parser is many times faster. Without it texts read the same, but tabs between words are refused.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_LONGEST_SHOWN = 60
_LINE_END = re.compile(r"\r\n|\r|\n")
# Beside what YAML refuses (production 1 of YAML 1.1): its exotic line ends, which editors do not
# count as lines; byte order marks; and the direction marks that make a file read otherwise than
# it is ("Trojan Source", CVE-2021-42574).
_REFUSED_CHARACTER = re.compile(
    r"[^\t\n\r\x20-\x7e\xa0-\u2027\u202f-\u2065\u206a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)


def _source_text(text: str | bytes) -> tuple[str, tuple[Position | None, str] | None]:
    """The text without its byte order mark, or why it cannot be read at all."""
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    if len(data) > LARGEST_FILE:
        return "", (None, f"the file has {len(data)} bytes, more than {LARGEST_FILE}; split it into several")
    try:
        text = data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8").removeprefix("\ufeff")
        return "", (_position_at(before, len(before)), "the file is not UTF-8 text; save it as UTF-8")
    refused = _REFUSED_CHARACTER.search(text)
    if refused:
        message = f"the character U+{ord(refused[0]):04X} is not accepted; remove it"
        return "", (_position_at(text, refused.start()), message)
    return text, None


def _position_at(text: str, index: int) -> Position:
    lines = _LINE_END.split(text[:index])
    return Position(len(lines), len(lines[-1]) + 1)


def _position(mark: Any) -> Position:
    return Position(mark.line + 1, mark.column + 1)


def _source_width(source: str, style: str, offset: int) -> int:
    """How many characters of `source`, which begins at a scalar, come before its character `offset`."""
    if style == "":
        return offset
    width = 1
    for _ in range(offset):
        rest = source[width : width + 2]
        if style == '"' and rest.startswith("\\"):
            width += {"\\x": 4, "\\u": 6, "\\U": 10}.get(rest, 2)
        else:
            width += 2 if style == "'" and rest == "''" else 1
    return width


class _EnoughError(Exception):
    """Reading on would be pointless or unsafe; the findings say why."""


class _Builder:
    """Builds the tree from parser events and collects what is refused on the way."""

    def __init__(self, file: str, lines: tuple[str, ...]) -> None:
        self.file = file
        self.lines = lines
        self.root: Value = EMPTY
        self.places = Place(Position(1, 1))
        self.findings: list[Finding] = []
        self._events: Iterator[Any] = iter(())

    def refuse(self, position: Position | None, message: str, path: Path) -> None:
        if len(self.findings) == MOST_FINDINGS:
            self.findings.append(Finding(self.file, None, "", TOO_MANY_FINDINGS))
            raise _EnoughError
        self.findings.append(Finding(self.file, position, shown_path(path), message))

    def read(self, events: Iterator[Any]) -> None:
        self._events = events
        roots = [self._document(event) for event in events if isinstance(event, yaml.DocumentStartEvent)]
        if len(roots) > 1:
            self.refuse(roots[1][0], "a second document ('---') begins here; move it to a file of its own", ())
        if roots:
            _, self.root, self.places = roots[0]
        if self.root is EMPTY and not self.findings:
            self.refuse(None, "the file is empty", ())
        elif not isinstance(self.root, dict) and not self.findings:
            self.refuse(self.places.position, "expected a mapping of keys at the top of the file", ())

    def _document(self, start: Any) -> tuple[Position, Value, Place]:
        position = _position(start.start_mark)
        if start.version or start.tags:
            self.refuse(position, _DIRECTIVES, ())
        return position, *self._node(next(self._events), (), None)

    def _node(self, event: Any, path: Path, key: Position | None) -> tuple[Value, Place]:
        position = _position(event.start_mark)
        self._refuse_properties(event, position, path)
        if isinstance(event, yaml.CollectionStartEvent) and len(path) >= DEEPEST:
            self.refuse(position, _TOO_DEEP, path[:3])
            raise _EnoughError
        match event:
            case yaml.ScalarEvent():
                one_line = position.line == _position(event.end_mark).line
                place = Place(position, key, style=event.style or "", one_line=one_line)
                return self._scalar(event, position, path), place
            case yaml.SequenceStartEvent():
                return self._sequence(position, path, key)
            case yaml.MappingStartEvent():
                return self._mapping(position, path, key)
            case _:
                return EMPTY, Place(position, key)

    def _refuse_properties(self, event: Any, position: Position, path: Path) -> None:
        if isinstance(event, yaml.AliasEvent):
            words = f"aliases are not accepted; write out what '*{shown(event.anchor or '')}' stands for"
            self.refuse(position, words, path)
            return
        if event.anchor is not None:
            self.refuse(position, f"anchors are not accepted; remove '&{shown(event.anchor)}'", path)
        if event.tag is not None:
            tag = shown(event.tag.replace("tag:yaml.org,2002:", "!!"))
            self.refuse(position, f"tags are not accepted; remove '{tag}', or quote the text", path)

    def _scalar(self, event: Any, position: Position, path: Path) -> Value:
        plain = not event.style
        if plain and not event.value:
            return EMPTY
        if any("\ud800" <= char <= "\udfff" for char in event.value):
            self.refuse(position, "half of a surrogate pair is not a character", path)
        return Scalar(event.value, quoted=not plain)

    def _sequence(self, position: Position, path: Path, key: Position | None) -> tuple[Value, Place]:
        values: list[Value] = []
        places: dict[str | int, Place] = {}
        for event in self._events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            value, place = self._node(event, (*path, len(values)), None)
            places[len(values)] = place
            values.append(value)
        return values, Place(position, key, children=places)

    def _mapping(self, position: Position, path: Path, key: Position | None) -> tuple[Value, Place]:
        values: dict[str, Value] = {}
        places: dict[str | int, Place] = {}
        for event in self._events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            name, at = self._key(event, path, places)
            value, place = self._node(next(self._events), (*path, name), at)
            if name not in values:
                values[name], places[name] = value, place
        return values, Place(position, key, children=places)

    def _key(self, event: Any, path: Path, siblings: Mapping[str | int, Place]) -> tuple[str, Position]:
        before = len(self.findings)
        # The "?" counts as a level: mappings as keys of mappings nest like any others.
        name, place = self._node(event, (*path, "?"), None)
        at = place.position
        if len(self.findings) > before:
            return "?", at
        if not isinstance(name, Scalar) or not name or not name.isprintable():
            self.refuse(at, "a key must be printable text on one line", path)
            return "?", at
        if name == "<<" and not name.quoted:
            self.refuse(at, "merge keys ('<<') are not accepted; write the keys out", path)
        elif name in siblings:
            first = siblings[name].key
            line = f"; the first is on line {first.line}" if first else ""
            self.refuse(at, f"duplicate key '{shown(name)}'{line}", (*path, name))
        return str(name), at


def _syntax_error(error: yaml.YAMLError, lines: tuple[str, ...]) -> tuple[Position | None, str]:
    """Where the parser stopped, and why in words of ours (libyaml's and PyYAML's differ from each other)."""
    problem = getattr(error, "problem", None) or ""
    context = getattr(error, "context", None) or ""
    mark = getattr(error, "problem_mark", None)
    begun = getattr(error, "context_mark", None) or mark
    if mark is None:
        return None, "the file is not valid YAML"
    line = lines[mark.line] if mark.line < len(lines) else ""
    char = line[mark.column : mark.column + 1]
    if char == "\t" or "tab character" in problem:
        return _position(mark), "a tab cannot indent; use spaces"
    for words, at_begin, message in _SYNTAX_MESSAGES:
        if re.search(words, f"{context}: {problem} at '{char}'"):
            return _position(begun if at_begin else mark), message.format(char=char)
    return _position(mark), "this is not valid YAML here; look for a missing quote, ':' or indentation"


_TOO_DEEP = f"lists and mappings are nested more than {DEEPEST} deep"
_DIRECTIVES = "directives ('%...') are not accepted; remove them"
_SYNTAX_MESSAGES: tuple[tuple[str, bool, str], ...] = (
    ("maximum nesting depth", False, _TOO_DEEP),
    ("cannot start any token", False, "a text cannot begin with '{char}'; put it in quotes"),
    ("values are not allowed", False, "a ':' cannot stand here; quote the text, or mend the indentation"),
    ("keys are not allowed", False, "a '?' cannot stand here; put the text in quotes"),
    ("entries are not allowed", False, "a '-' cannot stand here; begin the list on its own line"),
    ("could not find expected ':'", True, "expected ':' after this key"),
    ("flow sequence", True, "the list that begins here is not closed; expected ',' or ']'"),
    ("flow mapping", True, "the mapping that begins here is not closed; expected ',' or '}}'"),
    ("unexpected (end of stream|document)", True, "the quoted text that begins here is not closed"),
    ("escape|hexdecimal", False, "unknown escape in double quotes; use single quotes, or double the '\\'"),
    ("alias", True, "a text cannot begin with '*' (and aliases are not accepted); put it in quotes"),
    ("anchor", True, "a text cannot begin with '&' (and anchors are not accepted); put it in quotes"),
    ("tag", True, "a text cannot begin with '!' (and tags are not accepted); put it in quotes"),
    ("directive|incompatible YAML", True, _DIRECTIVES),
    ("block scalar", False, "after '|' or '>' the text begins on the next line"),
    ("node content.* at ''", False, "expected a value, or the closing ']' or '}}'"),
    ("node content", False, "expected a value; put a text that begins with '{char}' in quotes"),
    ("document start", False, "expected the end of the file after the closing bracket"),
    ("block mapping", False, "expected a key in line with the others; mend the indentation or the quotes"),
    ("block collection", False, "expected '-' in line with the others; mend the indentation"),
)
