"""The ledger's hashes against the recursive definition of RFC 9162 and its published vectors."""

from __future__ import annotations

import hashlib
from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.hashing import (
    EMPTY_ROOT,
    GENESIS_HASH,
    entry_hash,
    extend_frontier,
    frontier_root,
    leaf_hash,
    merkle_root,
)

leaf_lists = st.lists(st.binary(max_size=8).map(leaf_hash), max_size=70)

# The inputs and roots of the Certificate Transparency reference tests for RFC 6962.
REFERENCE_INPUTS = [
    bytes.fromhex(text)
    for text in (
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]
REFERENCE_ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]


def mth(leaves: list[bytes]) -> bytes:
    """MTH of RFC 9162, section 2.1.1, as it is written there."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return hashlib.sha256(b"\x01" + mth(leaves[:split]) + mth(leaves[split:])).digest()


def grown(leaves: list[bytes]) -> tuple[bytes, ...]:
    frontier: tuple[bytes, ...] = ()
    for size, leaf in enumerate(leaves):
        frontier = extend_frontier(frontier, size, leaf)
    return frontier


@pytest.mark.parametrize("size", range(1, 9))
def test_the_roots_are_those_of_the_certificate_transparency_vectors(size: int) -> None:
    leaves = [leaf_hash(data) for data in REFERENCE_INPUTS[:size]]
    assert merkle_root(leaves).hex() == REFERENCE_ROOTS[size - 1]


def test_no_leaf_has_the_hash_of_nothing_as_its_root() -> None:
    assert merkle_root([]) == frontier_root(()) == EMPTY_ROOT == hashlib.sha256(b"").digest()


@given(leaf_lists)
def test_the_root_is_that_of_the_recursive_definition(leaves: list[bytes]) -> None:
    assert merkle_root(leaves) == mth(leaves)


@given(leaf_lists)
def test_a_frontier_grown_leaf_by_leaf_has_the_root_of_all_leaves(leaves: list[bytes]) -> None:
    frontier = grown(leaves)
    assert frontier_root(frontier) == mth(leaves)
    assert len(frontier) == len(leaves).bit_count()


@given(leaf_lists, leaf_lists)
def test_a_frontier_goes_on_from_any_size(earlier: list[bytes], later: list[bytes]) -> None:
    frontier = grown(earlier)
    for offset, leaf in enumerate(later):
        frontier = extend_frontier(frontier, len(earlier) + offset, leaf)
    assert frontier == grown(earlier + later)


@given(leaf_lists.filter(bool), st.data())
def test_another_leaf_anywhere_gives_another_root(leaves: list[bytes], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(leaves) - 1))
    changed = [*leaves[:place], leaf_hash(b"another leaf"), *leaves[place + 1 :]]
    assert merkle_root(changed) != merkle_root(leaves)


@given(leaf_lists, st.integers(-1, 70))
def test_a_frontier_of_another_size_is_refused(leaves: list[bytes], size: int) -> None:
    frontier = grown(leaves)
    if size >= 0 and size.bit_count() == len(frontier):
        assert len(extend_frontier(frontier, size, GENESIS_HASH)) == (size + 1).bit_count()
    else:
        with pytest.raises(ValueError, match="has no frontier of"):
            extend_frontier(frontier, size, GENESIS_HASH)


def test_a_leaf_is_never_an_inner_node() -> None:
    left, right = leaf_hash(b"left"), leaf_hash(b"right")
    assert leaf_hash(left + right) != merkle_root([left, right])


def test_an_entry_hash_is_made_of_prefix_place_predecessor_and_leaf() -> None:
    leaf = leaf_hash(b"{}")
    made_of = b"trivet/ledger/v1\n" + b"\x00" * 7 + b"\x05" + GENESIS_HASH + leaf
    assert entry_hash(5, GENESIS_HASH, leaf) == hashlib.sha256(made_of).digest()


@given(st.lists(st.binary(max_size=8), min_size=2, max_size=6, unique=True))
def test_the_chain_depends_on_every_payload_and_on_their_order(payloads: list[bytes]) -> None:
    def tip(order: list[bytes]) -> bytes:
        numbered = enumerate(order, start=1)
        return reduce(lambda prev, item: entry_hash(item[0], prev, leaf_hash(item[1])), numbered, GENESIS_HASH)

    assert tip(payloads) != tip(payloads[::-1])
    assert tip(payloads) != tip(payloads[:-1])


@pytest.mark.parametrize("seq", [-1, 2**64])
def test_a_place_that_does_not_fit_eight_bytes_is_refused(seq: int) -> None:
    with pytest.raises(OverflowError):
        entry_hash(seq, GENESIS_HASH, GENESIS_HASH)
