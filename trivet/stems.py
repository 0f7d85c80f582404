"""The words of a text as questions and names are compared: in lower case, and without the ending of a plural."""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"\d{4}-\d{2}-\d{2}(?![a-z0-9-])"  # a day
    r"|(?<![a-z0-9.])-?(?:\d[\d,]*(?:\.\d+)?|\.\d+)(?![a-z0-9])"  # a number
    r"|[a-z0-9]+"
)


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


def holds(stems: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    """Whether stems stand one behind the other in a text's stems."""
    size = len(wanted)
    return any(stems[start : start + size] == wanted for start in range(len(stems) - size + 1))
