"""What stands in place of values that nobody may see.

A masked key is an HMAC under a secret of the store, so that it is the same in every evaluation and
tells nothing to who has not the secret. It is bound to its property, so that equal values of two
properties do not look alike.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field

MASKED = "masked"
"""What is shown of a masked operand that has a value or a text."""
SECRET_BYTES = 32
_DIGITS = 32
"""Hex digits of a masked key: 128 bits, so that two keys never meet by chance."""


@dataclass(frozen=True, slots=True)
class Mask:
    """Masks keys under one secret."""

    secret: bytes = field(repr=False)

    def key(self, object_name: str, property_name: str, value: str) -> str:
        """What stands for the value of a key property."""
        message = b"\0".join(part.encode("utf-8", "surrogatepass") for part in (object_name, property_name, value))
        return hmac.new(self.secret, message, "sha256").hexdigest()[:_DIGITS]
