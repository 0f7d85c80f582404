"""Clause `text`: what cannot be seen cannot be reviewed."""

from __future__ import annotations

import re

from catalog.referee.certified import Clause, Purpose
from catalog.referee.statement import Objection

LONGEST_QUESTION = 20_000
"""Characters of a statement that someone proposed; a longer one was made to wear down whoever reads it."""

# All but line feed and tab.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# Whatever hides quotes and comment marks from a reader, each kind skipped as a whole.
_PARTS = re.compile(
    r"""(?P<literal>'(?:[^']|'')*'|\$(?P<tag>[A-Za-z_]*)\$.*?\$(?P=tag)\$)"""
    r"""|"(?:[^"]|"")*"|--[^\n]*|(?P<comment>/\*.*?\*/)""",
    re.DOTALL,
)


def plain_text(text: str, purpose: Purpose) -> Objection | None:
    """No control characters anywhere; nothing but ASCII outside string literals; no comment inside a comment."""
    if purpose is Purpose.QUESTION and len(text) > LONGEST_QUESTION:
        message = f"it has {len(text)} characters; at most {LONGEST_QUESTION} are read"
        return Objection(Clause.TEXT, message)
    if (control := _CONTROL.search(text)) is not None:
        offset = control.start()
        message = f"control character U+{ord(control[0]):04X} at offset {offset}"
        return Objection(Clause.TEXT, message, span=(offset, offset + 1))
    for part in _PARTS.finditer(text):
        comment = part["comment"]
        if comment and "/*" in comment[2:]:
            # Engines differ on where it ends, and so on what is commented out.
            return Objection(Clause.TEXT, "a comment inside a comment", comment, part.span())
    # Of the same length, so that offsets stay what they are.
    bare = _PARTS.sub(lambda part: "'" * len(part[0]) if part["literal"] else part[0], text)
    if not bare.isascii():
        offset, found = next((offset, char) for offset, char in enumerate(bare) if not char.isascii())
        message = f"character {found!r} outside a string literal"
        return Objection(Clause.TEXT, message, found, (offset, offset + 1))
    return None
