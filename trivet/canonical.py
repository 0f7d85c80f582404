"""Canonical JSON and its hash: RFC 8785 (JCS) with a stricter profile, so that bytes never vary.

The profile: ASCII keys, NFC text without lone surrogates, booleans, null, integers within
+-(2**53-1), no floats (numbers from data travel as text). Inside it, `json.dumps` with sorted
keys gives the bytes of RFC 8785; outside it the two differ, so `canonical_json` refuses.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Mapping
from typing import TypeAlias

Json: TypeAlias = "bool | int | str | list[Json] | tuple[Json, ...] | Mapping[str, Json] | None"

_LARGEST_EXACT = 2**53 - 1


def canonical_json(value: Json) -> bytes:
    """The one byte string that stands for `value`.

    Raises:
        ValueError: the value lies outside the profile; the message names the place.
    """
    if not _fits(value):
        _check(value, "$")
    return _ENCODE(value).encode("utf-8")


def sha256_hex(data: bytes) -> str:
    """SHA-256 as 64 lower-case hex digits."""
    return hashlib.sha256(data).hexdigest()


def content_hash(value: Json) -> str:
    """SHA-256 of the canonical JSON of `value`, as hex."""
    return sha256_hex(canonical_json(value))


def normal_text(text: str) -> str:
    """`text` made fit for the profile: NFC, lone surrogates replaced by U+FFFD."""
    if text.isascii():
        return text
    if _has_surrogate(text):
        text = "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)
    return unicodedata.normalize("NFC", text)


def _has_surrogate(text: str) -> bool:
    return any("\ud800" <= char <= "\udfff" for char in text)


_ENCODE = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode


def _fits(value: object) -> bool:
    """Whether a value that is made of plain types lies inside the profile; `_check` is the rule, and this is its haste.

    Naming each place costs more than everything else, and almost nothing is ever refused.
    """
    kind = type(value)
    if kind is str:
        return value.isascii()  # type: ignore[attr-defined, no-any-return]
    if kind is dict:
        return all(type(key) is str and key.isascii() and _fits(item) for key, item in value.items())  # type: ignore[attr-defined]
    if kind is int:
        return -_LARGEST_EXACT <= value <= _LARGEST_EXACT  # type: ignore[operator]
    if kind is list or kind is tuple:
        return all(map(_fits, value))  # type: ignore[call-overload]
    return value is None or kind is bool


def _check(value: object, place: str) -> None:
    if value is None or isinstance(value, bool):
        return
    if isinstance(value, str):
        if value.isascii():
            return
        if _has_surrogate(value) or not unicodedata.is_normalized("NFC", value):
            raise ValueError(f"{place}: text must be NFC without lone surrogates")
    elif isinstance(value, int):
        if abs(value) > _LARGEST_EXACT:
            raise ValueError(f"{place}: integer beyond 2**53-1; send it as text")
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            _check(item, f"{place}[{index}]")
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if not isinstance(key, str) or not key.isascii():
                raise ValueError(f"{place}: keys must be ASCII text, not {key!r}")
            _check(item, f"{place}.{key}")
    else:
        raise ValueError(f"{place}: {type(value).__name__} has no canonical form")
