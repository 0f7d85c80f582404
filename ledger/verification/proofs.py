"""Proof files, verified with nothing but a public key: no store, no network, nothing of what made them."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass

from ledger.verification.chain import object_of
from ledger.verification.hashes import extends, includes, leaf
from ledger.verification.notes import Checkpoint, NotANote, PublicKey, read_checkpoint, read_witness

INCLUSION = "c2sp.org/tlog-proof@v1"
CONSISTENCY = "trivet/ledger-consistency@v1"


@dataclass(frozen=True, slots=True)
class ProofReport:
    """What a proof file proves, or why it proves nothing."""

    kind: str
    """`inclusion` or `consistency`."""
    fault: str | None
    """Why it does not hold; None where it does."""
    signed: bool | None
    """Whether its checkpoints are signed by known keys; None where no key is known."""
    sizes: tuple[int, ...]
    """Of its checkpoints."""
    seq: int | None = None
    """Of the entry that is proven."""
    payload: str | None = None
    """Of the entry that is proven."""

    @property
    def ok(self) -> bool:
        """Whether it proves what it says to a holder of the keys."""
        return self.fault is None and self.signed is not False


def verify_proof(text: str, keys: Sequence[PublicKey]) -> ProofReport:
    """Verifies the text of a proof file.

    Raises:
        NotANote: the text is no proof file.
    """
    head, gap, rest = text.partition("\n\n")
    lines = head.split("\n")
    if not gap or lines[0] not in (INCLUSION, CONSISTENCY):
        raise NotANote(f"a proof file begins with {INCLUSION} or {CONSISTENCY}")
    return _inclusion(lines[1:], rest, keys) if lines[0] == INCLUSION else _consistency(lines[1:], rest, keys)


def _inclusion(lines: Sequence[str], rest: str, keys: Sequence[PublicKey]) -> ProofReport:
    values = dict(line.split(" ", 1) for line in lines if " " in line)
    path = [_decoded(line) for line in lines if " " not in line]
    extra, index = _decoded(values.get("extra", "")), values.get("index", "")
    if not index.isdecimal() or None in path or not extra:
        raise NotANote("the file lacks its index, its entry or its hashes")
    checkpoint = read_checkpoint(rest)
    payload = extra.decode("utf-8", "replace")
    hashes = [step for step in path if step is not None]
    fault = None
    if object_of(payload) is None:
        fault = "its entry is not one unambiguous JSON object"
    elif not includes(int(index), checkpoint.size, leaf(extra), hashes, checkpoint.root):
        fault = "its hashes do not lead from the entry to the checkpoint's root"
    signed = checkpoint.signed_by(keys)
    return ProofReport("inclusion", fault, signed, (checkpoint.size,), int(index) + 1, payload)


def _consistency(lines: Sequence[str], rest: str, keys: Sequence[PublicKey]) -> ProofReport:
    path = [_decoded(line) for line in lines]
    notes = read_witness(rest, "proof")
    if None in path or len(notes.checkpoints) != 2 or notes.unreadable:
        raise NotANote("the file lacks its two checkpoints or its hashes")
    old, new = notes.checkpoints
    hashes = [step for step in path if step is not None]
    fault = None
    if old.origin != new.origin:
        fault = "its checkpoints are of two ledgers"
    elif not extends(old.size, old.root, new.size, new.root, hashes):
        fault = "its hashes do not lead from the old checkpoint's root to the new one's"
    return ProofReport("consistency", fault, _signed((old, new), keys), (old.size, new.size))


def _signed(checkpoints: Sequence[Checkpoint], keys: Sequence[PublicKey]) -> bool | None:
    if not keys:
        return None
    return all(item.signed_by(keys) for item in checkpoints)


def _decoded(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
