"""The hashes and proofs of RFC 9162, and the chain, as the verifier computes them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any

SIZE = 32
GENESIS = bytes(SIZE)
EMPTY = sha256(b"").digest()
CHAIN = b"trivet/ledger/v1\n"

_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode


def leaf(data: bytes) -> bytes:
    """The hash of a leaf (section 2.1.1)."""
    return sha256(b"\0" + data).digest()


def node(left: bytes, right: bytes) -> bytes:
    """The hash of an inner node (section 2.1.1)."""
    return sha256(b"\1" + left + right).digest()


def chained(seq: int, prev: bytes, leaf_hash: bytes) -> bytes:
    """The hash that chains an entry to the one before it."""
    return sha256(CHAIN + seq.to_bytes(8, "big") + prev + leaf_hash).digest()


class Tree:
    """A Merkle tree that grows leaf by leaf; it keeps its perfect subtrees, largest first."""

    __slots__ = ("peaks", "size")

    def __init__(self) -> None:
        self.size = 0
        self.peaks: list[bytes] = []

    def add(self, value: bytes) -> None:
        """Adds the hash of one leaf."""
        size, peaks = self.size, self.peaks
        self.size = size + 1
        while size & 1:
            value = sha256(b"\1" + peaks.pop() + value).digest()
            size >>= 1
        peaks.append(value)

    def root(self) -> bytes:
        """The root over the leaves so far."""
        if not self.peaks:
            return EMPTY
        found = self.peaks[-1]
        for peak in reversed(self.peaks[:-1]):
            found = node(peak, found)
        return found


def canonical(value: Any) -> bytes:
    """The bytes that a JSON value is hashed as.

    Raises:
        ValueError: it holds text that no UTF-8 can write, or a number that is none.
    """
    return _encode(value).encode("utf-8")


def row_leaf(table: str, row: Mapping[str, Any], erasable: Collection[str] = ()) -> bytes:
    """The leaf of one bound row; columns that are NULL are left out.

    Raises:
        ValueError: a value has no bytes.
    """
    kept = {name: value for name, value in row.items() if value is not None}
    if "erased" in kept or "salt" in kept:
        parts = {name: kept.pop(name) for name in ("salt", *erasable) if name in kept}
        kept["text"] = kept.pop("erased", None) or sha256(canonical(parts)).hexdigest()
    return leaf(canonical({"row": kept, "table": table}))


def content_hash(value: Any) -> str | None:
    """SHA-256 over the canonical JSON of a published text, as hex; None where it has no bytes."""
    try:
        return sha256(canonical(value)).hexdigest()
    except ValueError:
        return None


def includes(index: int, size: int, leaf_hash: bytes, path: Sequence[bytes], root: bytes) -> bool:
    """Whether a path proves that the leaf at `index`, from 0, is in the tree of `size` leaves (section 2.1.3.2)."""
    if not 0 <= index < size:
        return False
    place, last, found = index, size - 1, leaf_hash
    for step in path:
        if last == 0:
            return False
        if place & 1 or place == last:
            found = node(step, found)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            found = node(found, step)
        place, last = place >> 1, last >> 1
    return last == 0 and found == root


def extends(old_size: int, old_root: bytes, size: int, root: bytes, path: Sequence[bytes]) -> bool:
    """Whether a path proves that the larger tree begins with the smaller one (section 2.1.4.2)."""
    if not 0 <= old_size <= size:
        return False
    if old_size == size:
        return not path and old_root == root
    if old_size == 0:
        return not path and old_root == EMPTY
    steps = list(path)
    if old_size & (old_size - 1) == 0:
        steps.insert(0, old_root)
    if not steps:
        return False
    place, last = old_size - 1, size - 1
    while place & 1:
        place, last = place >> 1, last >> 1
    old = new = steps[0]
    for step in steps[1:]:
        if last == 0:
            return False
        if place & 1 or place == last:
            old, new = node(step, old), node(step, new)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            new = node(new, step)
        place, last = place >> 1, last >> 1
    return last == 0 and old == old_root and new == root


def tree_of(leaves: Iterable[bytes]) -> Tree:
    """The tree over leaves in order."""
    tree = Tree()
    for value in leaves:
        tree.add(value)
    return tree
