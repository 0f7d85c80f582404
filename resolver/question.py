"""A question as it was asked, and as its checks read it: what looks alike is made alike first."""

from __future__ import annotations

import html
import re
import unicodedata
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from urllib.parse import unquote

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
_TOKEN = re.compile(
    r"\d{4}-\d{2}-\d{2}(?![a-z0-9-])"  # a day
    r"|(?<![a-z0-9.])-?(?:\d[\d,]*(?:\.\d+)?|\.\d+)(?![a-z0-9])"  # a number
    r"|[a-z0-9]+"
)


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

    def as_written(self, words: str) -> str:
        """Words of the question in the letters that they were written in."""
        start = self.plain.lower().find(words)
        return self.plain[start : start + len(words)] if start >= 0 else words


def plain_text(text: str) -> str:
    """The text without disguise: escapes undone, look-alike characters folded, invisible ones removed."""
    text = html.unescape(unquote(text))
    text = unicodedata.normalize("NFKC", text).translate(_LOOK_ALIKES)
    text = "".join(" " if char.isspace() else char for char in text if _is_seen(char))
    return " ".join(_SQL_COMMENT.sub(" ", text.replace("\u2019", "'")).split())


def words_of(text: str) -> tuple[str, ...]:
    """The words, numbers and days of a text in lower case; a possessive `'s` is none."""
    found = _TOKEN.findall(re.sub(r"(?<=[a-z0-9])'s?\b", "", text.lower()))
    return tuple(word.replace(",", "") for word in found)


def stem(word: str) -> str:
    """The word without the ending of a plural, so that `employees` and `employee` are one."""
    if not word.isalpha() or len(word) < 4 or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    if word.endswith(("ches", "shes", "sses", "xes")):
        return word[:-2]
    return word.removesuffix("s")


def stems_of(text: str) -> tuple[str, ...]:
    """The stems of a text's words."""
    return tuple(stem(word) for word in words_of(text))


def _is_seen(char: str) -> bool:
    return char.isspace() or unicodedata.category(char) not in ("Cf", "Cc", "Cn", "Co", "Cs", "Mn")


def is_number(word: str) -> bool:
    """Whether a word of `words_of` is a number."""
    return re.fullmatch(r"-?(?:\d+(?:\.\d+)?|\.\d+)", word) is not None


def is_day(word: str) -> bool:
    """Whether a word of `words_of` is written as a day, `2026-07-01`."""
    return re.fullmatch(r"\d{4}-\d{2}-\d{2}", word) is not None
