"""Sizes as people write them: a whole number and one unit, `512MB`. A unit is a power of a thousand bytes."""

from __future__ import annotations

SIZE_PATTERN = r"^[1-9][0-9]{0,5}(MB|GB|TB)$"
"""What `size_bytes` reads, as a JSON Schema pattern."""
_UNITS = {"MB": 10**6, "GB": 10**9, "TB": 10**12}


def size_bytes(text: str) -> int:
    """Bytes of a size that matches `SIZE_PATTERN`."""
    return int(text[:-2]) * _UNITS[text[-2:]]


def size_text(size: int) -> str:
    """A size in whole megabytes, at least one: `1717MB`."""
    return f"{max(1, size // _UNITS['MB'])}MB"
