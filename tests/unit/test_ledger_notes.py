"""Signed notes, keys and proofs: against a note from elsewhere, against RFC 9162 in other words, against forgery."""

from __future__ import annotations

import base64
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.checkpoints import checkpoint_text
from ledger.entries import GENESIS, LedgerHead
from ledger.hashing import EMPTY_ROOT, extend_frontier, frontier_root, leaf_hash, merkle_root
from ledger.keys import SigningKey, new_signing_key, read_signing_key
from ledger.proving import consistency_ranges, inclusion_ranges
from ledger.verification.hashes import extends, includes, leaf, tree_of
from ledger.verification.notes import NotANote, read_checkpoint, read_key, read_witness

KEY = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"
SIGNED = "Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM="


@pytest.fixture
def key() -> SigningKey:
    return new_signing_key("example.com/log")


def a_note(key: SigningKey, size: int = 3) -> str:
    leaves = [leaf_hash(bytes([number])) for number in range(size)]
    frontier: tuple[bytes, ...] = ()
    for place, value in enumerate(leaves):
        frontier = extend_frontier(frontier, place, value)
    return key.note(checkpoint_text(key.name, LedgerHead(size, leaf_hash(b"head"), frontier)))


def test_a_signature_that_another_program_made_holds() -> None:
    """The example of C2SP signed-note, made by the Go implementation."""
    key, signed = read_key(KEY), base64.b64decode(SIGNED)
    assert (key.name, key.key_id) == ("example.com/foo", signed[:4])
    assert str(key) == KEY
    assert key.holds("This is an example message.\n", signed[4:])
    assert not key.holds("This is an example message!\n", signed[4:])


def test_a_key_survives_its_text(key: SigningKey) -> None:
    again = read_signing_key(f"{key.text}\n")
    assert (again.name, again.public, again.text) == (key.name, key.public, key.text)
    assert key.text.startswith("PRIVATE+KEY+example.com/log+")
    assert key.text.rpartition("+")[2] not in repr(key)


@pytest.mark.parametrize("text", ["", "PRIVATE+KEY+", "PRIVATE+KEY+a+00000000+AQ==", "hunter2", KEY])
def test_what_is_no_private_key_is_refused_without_being_told(text: str) -> None:
    with pytest.raises(ValueError, match="holds no Ed25519 key") as refusal:
        read_signing_key(text)
    assert "hunter2" not in str(refusal.value)


@pytest.mark.parametrize("name", ["", "with blank", "a+b", "ünï", "line\nend"])
def test_a_name_that_would_break_a_note_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="printable ASCII"):
        new_signing_key(name)


@pytest.mark.parametrize("text", ["", "a", "a+b", "a+zz+AQ==", KEY.replace("530d", "530e"), KEY.replace("foo", "fop")])
def test_what_is_no_public_key_is_refused(text: str) -> None:
    with pytest.raises(NotANote, match="public key"):
        read_key(text)


def test_a_checkpoint_says_what_was_signed(key: SigningKey) -> None:
    note = a_note(key)
    found = read_checkpoint(note)
    root = merkle_root(leaf_hash(bytes([number])) for number in range(3))
    assert (found.origin, found.size, found.root, found.note) == ("example.com/log", 3, root, note)
    assert found.signed_by([key.public]) is True
    assert found.signed_by([]) is None
    assert found.signed_by([read_key(KEY)]) is False


def test_a_checkpoint_over_nothing_has_the_empty_root(key: SigningKey) -> None:
    found = read_checkpoint(key.note(checkpoint_text(key.name, GENESIS)))
    assert (found.size, found.root) == (0, EMPTY_ROOT)


@given(place=st.integers(0, 400), bit=st.integers(0, 6))
def test_no_changed_note_passes_for_what_was_signed(place: int, bit: int) -> None:
    key = read_signing_key("PRIVATE+KEY+example.com/log+9be5d3c6+AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB")
    note = a_note(key).encode()
    place %= len(note)
    changed = note[:place] + bytes([note[place] ^ 1 << bit]) + note[place + 1 :]
    try:
        found = read_checkpoint(changed.decode("utf-8", "replace"))
    except NotANote:
        return
    assert not found.signed_by([key.public])


def test_a_line_of_a_known_key_that_does_not_hold_spoils_the_note(key: SigningKey) -> None:
    other = new_signing_key("example.com/witness")
    found = read_checkpoint(a_note(key))
    name, key_id, _ = read_checkpoint(a_note(other)).signatures[0]
    both = replace(found, signatures=(*found.signatures, (name, key_id, bytes(64))))
    assert both.signed_by([key.public]) is True
    assert both.signed_by([key.public, other.public]) is False


@pytest.mark.parametrize(
    "note",
    [
        "",
        "a\n3\nAAAA\n",
        "example.com/log\n3\nAAAA\n\n\u2014 example.com/log AAAAAAAA\n",
        "example.com/log\n03\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n\n\u2014 example.com/log AAAAAAAA\n",
        "example.com/log\n3\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n\n- example.com/log AAAAAAAA\n",
        "example.com/log\n3\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n\n\u2014 example.com/log AAAAAAAA",
    ],
)
def test_what_is_no_checkpoint_is_refused(note: str) -> None:
    with pytest.raises(NotANote):
        read_checkpoint(note)


def test_a_witness_file_is_read_past_what_was_cut_off(key: SigningKey) -> None:
    notes = [a_note(key, size) for size in (1, 2, 5)]
    found = read_witness("\n".join(notes), "witness")
    assert ([item.size for item in found.checkpoints], found.unreadable) == ([1, 2, 5], 0)
    torn = read_witness(f"{notes[0]}\n{notes[1][:40]}\n\n{notes[2]}", "witness")
    assert [item.size for item in torn.checkpoints] == [1, 5]
    assert torn.unreadable >= 1
    assert read_witness("", "witness").checkpoints == ()


@given(size=st.integers(1, 300), data=st.data())
def test_an_inclusion_proof_proves_its_leaf_and_no_other(size: int, data: st.DataObject) -> None:
    leaves = [leaf(number.to_bytes(2, "big")) for number in range(size)]
    index = data.draw(st.integers(0, size - 1))
    path = [tree_of(leaves[start:end]).root() for start, end in inclusion_ranges(index, size)]
    root = tree_of(leaves).root()
    assert includes(index, size, leaves[index], path, root)
    assert not includes(index, size, leaf(b"other"), path, root)
    assert not includes(index, size, leaves[index], path, leaf(b"other"))
    assert not includes(index, size, leaves[index], [*path, leaf(b"other")], root)
    assert size == 1 or not includes((index + 1) % size, size, leaves[index], path, root)
    assert not path or not includes(index, size, leaves[index], path[:-1], root)


@given(new=st.integers(0, 300), data=st.data())
def test_a_consistency_proof_proves_one_history_and_no_other(new: int, data: st.DataObject) -> None:
    leaves = [leaf(number.to_bytes(2, "big")) for number in range(new)]
    old = data.draw(st.integers(0, new))
    path = [tree_of(leaves[start:end]).root() for start, end in consistency_ranges(old, new)]
    before, after = tree_of(leaves[:old]).root(), tree_of(leaves).root()
    assert extends(old, before, new, after, path)
    assert not extends(old, leaf(b"other"), new, after, path)
    assert not extends(old, before, new, leaf(b"other"), path) or old == 0
    assert not extends(old, before, new, after, [*path, leaf(b"other")])
    if old < new:
        rewritten = tree_of([*leaves[:old], leaf(b"other"), *leaves[old + 1 :]]).root()
        assert old == 0 or not extends(old, before, new, rewritten, path)


@given(st.lists(st.binary(max_size=4), max_size=70))
def test_the_verifier_and_the_writer_state_one_tree(texts: list[bytes]) -> None:
    frontier: tuple[bytes, ...] = ()
    for place, text in enumerate(texts):
        frontier = extend_frontier(frontier, place, leaf_hash(text))
    tree = tree_of(leaf(text) for text in texts)
    assert tree.root() == frontier_root(frontier)
    assert tuple(tree.peaks) == frontier
