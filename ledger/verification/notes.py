"""Checkpoints as signed notes (C2SP signed-note and tlog-checkpoint), read and checked with Ed25519."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

ED25519 = b"\x01"
"""The signature type of Ed25519 in keys and key ids."""
_SIGNATURE = re.compile("\u2014 (?P<name>[^ +]+) (?P<data>[A-Za-z0-9+/]+=*)")
_SIZE = re.compile("0|[1-9][0-9]{0,18}")
_MOST_SIGNATURES = 100


class NotANote(ValueError):
    """A text is no checkpoint, or no key; the message says why."""


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A key by which checkpoints are checked: `NAME+KEYID+BASE64`."""

    name: str
    key_id: bytes
    data: bytes
    """32 bytes of Ed25519."""

    def holds(self, text: str, signature: bytes) -> bool:
        """Whether a signature over a text is this key's."""
        try:
            Ed25519PublicKey.from_public_bytes(self.data).verify(signature, text.encode("utf-8"))
        except (InvalidSignature, ValueError):
            return False
        return True

    def __str__(self) -> str:
        return f"{self.name}+{self.key_id.hex()}+{base64.b64encode(ED25519 + self.data).decode('ascii')}"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A signed statement: the first `size` entries have the Merkle root `root`."""

    text: str
    """What is signed, with its last line end."""
    origin: str
    size: int
    root: bytes
    signatures: tuple[tuple[str, bytes, bytes], ...]
    """Name, key id and signature of each line."""

    def signed_by(self, keys: Sequence[PublicKey]) -> bool | None:
        """Whether a known key signed it; None where no key is known at all.

        A line of a known key that does not hold spoils the note, whoever else signed it.
        """
        if not keys:
            return None
        known = {(key.name, key.key_id): key for key in keys}
        lines = [(known.get((name, key_id)), signature) for name, key_id, signature in self.signatures]
        checked = [key.holds(self.text, signature) for key, signature in lines if key is not None]
        return bool(checked) and all(checked)

    @property
    def note(self) -> str:
        """The note as it is written."""
        lines = [
            f"\u2014 {name} {base64.b64encode(key_id + signature).decode('ascii')}\n"
            for name, key_id, signature in self.signatures
        ]
        return f"{self.text}\n{''.join(lines)}"

    @property
    def signers(self) -> str:
        """Who says to have signed it."""
        return ", ".join(f"{name}+{key_id.hex()}" for name, key_id, _ in self.signatures)


def read_key(text: str) -> PublicKey:
    """A public key from its text.

    Raises:
        NotANote: it is none.
    """
    name, _, rest = text.strip().partition("+")
    key_id, _, data = rest.partition("+")
    try:
        raw, stated = base64.b64decode(data, validate=True), bytes.fromhex(key_id)
    except (binascii.Error, ValueError):
        raise NotANote("a public key reads NAME+KEYID+BASE64") from None
    if not name or raw[:1] != ED25519 or len(raw) != 33:
        raise NotANote("a public key reads NAME+KEYID+BASE64, and only Ed25519 is known")
    if key_id_of(name, raw[1:]) != stated:
        raise NotANote("the public key's id does not belong to its name and its bytes")
    return PublicKey(name, stated, raw[1:])


def key_id_of(name: str, data: bytes) -> bytes:
    """The id of an Ed25519 key: the first four bytes of SHA-256 over name, line end, type and key."""
    return sha256(name.encode("utf-8") + b"\n" + ED25519 + data).digest()[:4]


def read_checkpoint(note: str) -> Checkpoint:
    """A checkpoint from its note.

    Raises:
        NotANote: the text is none.
    """
    body, gap, rest = note.rpartition("\n\n")
    lines = rest.split("\n")
    if not gap or lines[-1] != "" or not 1 <= len(lines) - 1 <= _MOST_SIGNATURES:
        raise NotANote("a note is a text, an empty line, and lines of signatures")
    signatures = []
    for line in lines[:-1]:
        match = _SIGNATURE.fullmatch(line)
        data = _decoded(match["data"]) if match else None
        if match is None or data is None or len(data) < 5:
            raise NotANote("a line of the note is no signature")
        signatures.append((match["name"], data[:4], data[4:]))
    origin, size, root = [*body.split("\n"), "", ""][:3]
    hash_ = _decoded(root)
    if not origin or not _SIZE.fullmatch(size) or hash_ is None or len(hash_) != 32:
        raise NotANote("a checkpoint's text is its origin, a number of entries, and a root of 32 bytes in base64")
    return Checkpoint(f"{body}\n", origin, int(size), hash_, tuple(signatures))


@dataclass(frozen=True, slots=True)
class Witness:
    """A file of checkpoints that is kept apart from the ledger."""

    name: str
    checkpoints: tuple[Checkpoint, ...]
    """In the order in which they were written."""
    unreadable: int
    """Pieces that are no checkpoint, such as one that was being written when the machine stopped."""


def read_witness(text: str, name: str) -> Witness:
    """The checkpoints of a witness file: notes, one after the other, with an empty line between them."""
    found: list[Checkpoint] = []
    unreadable = 0
    blocks = [block for block in re.split(r"\n{2,}", text.strip("\n")) if block]
    while blocks:
        try:
            found.append(read_checkpoint(f"{blocks[0]}\n\n{blocks[1]}\n" if len(blocks) > 1 else blocks[0]))
            del blocks[:2]
        except NotANote:
            unreadable += 1
            del blocks[0]
    return Witness(name, tuple(found), unreadable)


def _decoded(text: str) -> bytes | None:
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    # Bits that mean nothing would let one note be written in several ways.
    return data if base64.b64encode(data).decode("ascii") == text else None
