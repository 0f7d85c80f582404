"""Clause `text`: what cannot be seen cannot be reviewed."""

from __future__ import annotations

import re

from catalog.referee.certified import Clause
from catalog.referee.statement import Objection

# Whatever hides quotes and comment marks from a reader, each kind skipped as a whole.
_PARTS = re.compile(
    r"""(?P<literal>'(?:[^']|'')*'|\$(?P<tag>[A-Za-z_]*)\$.*?\$(?P=tag)\$)"""
    r"""|"(?:[^"]|"")*"|--[^\n]*|(?P<comment>/\*.*?\*/)""",
    re.DOTALL,
)


def plain_text(text: str) -> Objection | None:
    """No control characters anywhere; nothing but ASCII outside string literals; no comment inside a comment."""
    for offset, char in enumerate(text):
        if (ord(char) < 32 and char not in "\n\t") or 127 <= ord(char) < 160:
            return Objection(Clause.TEXT, f"control character U+{ord(char):04X} at offset {offset}")
    for part in _PARTS.finditer(text):
        comment = part["comment"]
        if comment and "/*" in comment[2:]:
            # Engines differ on where it ends, and so on what is commented out.
            return Objection(Clause.TEXT, "a comment inside a comment", comment)
    bare = _PARTS.sub(lambda part: "''" if part["literal"] else part[0], text)
    if not bare.isascii():
        found = next(char for char in bare if not char.isascii())
        return Objection(Clause.TEXT, f"character {found!r} outside a string literal", found)
    return None
