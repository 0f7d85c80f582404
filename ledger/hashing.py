"""The ledger's hashes: leaves, the chain, and the Merkle tree of RFC 9162 (which keeps RFC 6962's).

A tree is handled through its *frontier*, the compact range of its perfect subtrees, largest first:
O(log n) memory, O(1) amortised work for each appended leaf. All hashes are SHA-256 as 32 bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import reduce

HASH_SIZE = 32
"""Bytes in every hash of the ledger."""

GENESIS_HASH = bytes(HASH_SIZE)
"""The `prev_hash` of entry 1."""

EMPTY_ROOT = hashlib.sha256(b"").digest()
"""The Merkle root of no leaf (RFC 9162, section 2.1.1)."""

_CHAIN_PREFIX = b"trivet/ledger/v1\n"


def leaf_hash(payload: bytes) -> bytes:
    """SHA-256(0x00 || payload): a Merkle leaf (RFC 9162, section 2.1.1)."""
    return hashlib.sha256(b"\x00" + payload).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """SHA-256(0x01 || left || right): an inner node (RFC 9162, section 2.1.1)."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def entry_hash(seq: int, prev: bytes, leaf: bytes) -> bytes:
    r"""SHA-256("trivet/ledger/v1\n" || seq as 8 bytes, big-endian || prev || leaf).

    Raises:
        OverflowError: `seq` is negative or does not fit 64 bits.
    """
    return hashlib.sha256(_CHAIN_PREFIX + seq.to_bytes(8, "big") + prev + leaf).digest()


def merkle_root(leaves: Iterable[bytes]) -> bytes:
    """The Merkle root over leaf hashes in order, read once."""
    stack: list[bytes] = []
    for size, leaf in enumerate(leaves):
        _push(stack, size, leaf)
    return frontier_root(stack)


def extend_frontier(frontier: Sequence[bytes], size: int, leaf: bytes) -> tuple[bytes, ...]:
    """The frontier of a tree of `size` leaves after one more leaf hash.

    Raises:
        ValueError: `frontier` cannot belong to a tree of `size` leaves.
    """
    if size < 0 or len(frontier) != size.bit_count():
        raise ValueError(f"a tree of {size} leaves has no frontier of {len(frontier)} hashes")
    stack = list(frontier)
    _push(stack, size, leaf)
    return tuple(stack)


def frontier_root(frontier: Sequence[bytes]) -> bytes:
    """The Merkle root of the tree that has this frontier."""
    if not frontier:
        return EMPTY_ROOT
    return reduce(lambda right, left: node_hash(left, right), reversed(frontier))


def _push(stack: list[bytes], size: int, leaf: bytes) -> None:
    # The set bits of `size` are the perfect subtrees in the stack; adding one carries as in binary.
    node = leaf
    while size & 1:
        node = node_hash(stack.pop(), node)
        size >>= 1
    stack.append(node)
