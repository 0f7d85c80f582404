"""The keys of a workspace's settings: the one that signs checkpoints, and those by which they are checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ledger.keys import SigningKey, read_signing_key
from ledger.verification.notes import NotANote, PublicKey, read_key
from trivet.errors import InputError
from trivet.findings import Finding
from trivet.references import Secret, SecretRef


def signing_key_of(reference: SecretRef, secret: Callable[[SecretRef], Secret]) -> SigningKey:
    """The key that a reference names.

    Raises:
        InputError: it cannot be read or is no key.
    """
    try:
        return read_signing_key(secret(reference).reveal())
    except ValueError as error:
        raise InputError([Finding(str(reference), None, "ledger.key", str(error))]) from None


def public_keys_of(own: SigningKey | None, texts: Sequence[str]) -> tuple[PublicKey, ...]:
    """The keys by which checkpoints are checked: one's own, and those of the settings.

    Raises:
        InputError: a key of the settings is none.
    """
    found = [own.public] if own is not None else []
    for number, text in enumerate(texts):
        try:
            found.append(read_key(text))
        except NotANote as error:
            raise InputError([Finding("settings", None, f"ledger.keys[{number}]", str(error))]) from None
    return tuple(dict.fromkeys(found))
