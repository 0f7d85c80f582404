"""A question as it was asked, and as its checks read it: what looks alike is made alike first."""

from __future__ import annotations

import html
import re
import unicodedata
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from urllib.parse import unquote

from trivet.stems import words_of

LONGEST = 1000
"""Characters of a question that are read at most; a longer one is refused."""

# Letters of other alphabets that are drawn like Latin ones (a small part of Unicode TR 39, "confusables").
_LOOK_ALIKES = str.maketrans(
    "\u0430\u0435\u0456\u0458\u043e\u0440\u0441\u0443\u0445\u0455\u04bb\u0501\u051b\u051d"
    "\u0410\u0412\u0415\u0406\u0408\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u0405"
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bf",
    "aeijopcyxshdqwABEIJKMHOPCTYXSABEZHIKMNOPTYXo",
)
_SQL_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


@dataclass(frozen=True)
class Question:
    """One question. Only `text` is ever shown; only `plain` is ever judged."""

    request_id: str
    """Unique; also the subject of the ledger entry."""
    text: str
    """As it was asked."""
    asked_at: datetime
    asker: str | None = None
    """Who asked, as the caller says."""

    @cached_property
    def plain(self) -> str:
        """The text as checks read it."""
        return plain_text(self.text)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The plain text's words in lower case."""
        return words_of(self.plain)

    @cached_property
    def capitals(self) -> frozenset[str]:
        """The words of two letters and more that are written in capitals, in lower case; none where all of it is."""
        if self.plain.isupper():
            return frozenset()
        return frozenset(word.lower() for word in re.findall(r"(?<![A-Za-z0-9])[A-Z]{2,}(?![A-Za-z0-9])", self.plain))

    def as_written(self, words: str) -> str:
        """Words of the question in the letters that they were written in."""
        found = re.search(r"[^a-z0-9]+".join(map(re.escape, words.split())), self.plain.lower())
        return self.plain[found.start() : found.end()] if found is not None else words


def plain_text(text: str) -> str:
    """The text without disguise: escapes undone, look-alike characters folded, invisible ones removed."""
    text = html.unescape(unquote(text))
    text = unicodedata.normalize("NFKC", text).translate(_LOOK_ALIKES)
    text = "".join(" " if char.isspace() else char for char in text if _is_seen(char))
    return " ".join(_SQL_COMMENT.sub(" ", text.replace("\u2019", "'")).split())


def _is_seen(char: str) -> bool:
    return char.isspace() or unicodedata.category(char) not in ("Cf", "Cc", "Cn", "Co", "Cs", "Mn")


def is_number(word: str) -> bool:
    """Whether a word of `words_of` is a number."""
    return re.fullmatch(r"-?(?:\d+(?:\.\d+)?|\.\d+)", word) is not None


def is_day(word: str) -> bool:
    """Whether a word of `words_of` is written as a day, `2026-07-01`."""
    return re.fullmatch(r"\d{4}-\d{2}-\d{2}", word) is not None
