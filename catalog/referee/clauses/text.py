"""Clause `text`: what cannot be seen cannot be reviewed."""

from __future__ import annotations

import re

from catalog.referee.certified import Clause
from catalog.referee.statement import Objection

_LITERAL = re.compile(r"'(?:[^']|'')*'")


def plain_text(text: str) -> Objection | None:
    """No control characters anywhere; nothing but ASCII outside string literals."""
    for offset, char in enumerate(text):
        if (ord(char) < 32 and char not in "\n\t") or 127 <= ord(char) < 160:
            return Objection(Clause.TEXT, f"control character U+{ord(char):04X} at offset {offset}")
    bare = _LITERAL.sub("''", text)
    if not bare.isascii():
        found = next(char for char in bare if not char.isascii())
        return Objection(Clause.TEXT, f"character {found!r} outside a string literal", found)
    return None
