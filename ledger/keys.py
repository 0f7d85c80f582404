"""The key that signs checkpoints: Ed25519, in the text form of C2SP signed notes. It is never kept in the store."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from ledger.verification.notes import ED25519, PublicKey, key_id_of

_PREFIX = "PRIVATE+KEY+"
_NAME = re.compile(r"[!-*,-~]{1,200}")


@dataclass(frozen=True, slots=True, repr=False)
class SigningKey:
    """A private key with its name, which is also the origin of the checkpoints that it signs."""

    name: str
    private: Ed25519PrivateKey

    @property
    def public(self) -> PublicKey:
        """By which others check what it signs."""
        data = self.private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        return PublicKey(self.name, key_id_of(self.name, data), data)

    @property
    def text(self) -> str:
        """The secret itself: `PRIVATE+KEY+NAME+KEYID+BASE64`."""
        seed = self.private.private_bytes_raw()
        encoded = base64.b64encode(ED25519 + seed).decode("ascii")
        return f"{_PREFIX}{self.name}+{self.public.key_id.hex()}+{encoded}"

    def note(self, text: str) -> str:
        """A signed note over a text that ends with a line end."""
        signed = self.public.key_id + self.private.sign(text.encode("utf-8"))
        return f"{text}\n\u2014 {self.name} {base64.b64encode(signed).decode('ascii')}\n"


def new_signing_key(name: str) -> SigningKey:
    """A random key.

    Raises:
        ValueError: the name has a blank, a plus or what is not printable ASCII in it.
    """
    if not _NAME.fullmatch(name):
        raise ValueError("the name of a key is printable ASCII without blanks and without '+'")
    return SigningKey(name, Ed25519PrivateKey.generate())


def read_signing_key(text: str) -> SigningKey:
    """A key from its text.

    Raises:
        ValueError: it is none. The message holds nothing of it.
    """
    name, _, rest = text.strip().removeprefix(_PREFIX).partition("+")
    key_id, _, data = rest.partition("+")
    try:
        raw = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raw = b""
    if not text.startswith(_PREFIX) or raw[:1] != ED25519 or len(raw) != 33:
        raise ValueError("it holds no Ed25519 key of the form PRIVATE+KEY+NAME+KEYID+BASE64")
    key = SigningKey(name, Ed25519PrivateKey.from_private_bytes(raw[1:]))
    if key.public.key_id.hex() != key_id:
        raise ValueError("the key's id does not belong to its name and its bytes")
    return key
