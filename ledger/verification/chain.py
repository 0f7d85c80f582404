"""The entries one by one: what each must be, given those before it, and what is wrong where it is not that."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, TypeGuard

from ledger.verification.findings import Damage, DamageKind, shown
from ledger.verification.hashes import CHAIN, GENESIS, SIZE, Tree, chained, leaf
from ledger.verification.source import RawEntry, Source


@dataclass(slots=True)
class Checked:
    """An entry that holds what was hashed, as far as the later checks need it."""

    seq: int
    entry_type: str
    subject: str
    content: dict[str, Any]
    before: bytes | None = None
    """Of a checkpoint, the root over the entries before it, where it can be told."""


@dataclass(slots=True)
class Chain:
    """Where a walk over the entries stands.

    After damage it goes on from what the entry itself states, so that one change is one finding and no entry beside it
    is accused.
    """

    source: Source
    at_size: Callable[[int], bool]
    """Whether the root over this many entries is wanted."""
    entries: int = 0
    """Entries read."""
    last: int = 0
    """The `seq` of the latest."""
    tip: bytes | None = GENESIS
    """Its `entry_hash`; None where what it states is not to be built on."""
    tree: Tree | None = field(default_factory=Tree)
    """Over the leaves so far; None once they are not those that were recorded, in that order."""
    disturbed: int | None = None
    """The first entry at which that was so."""
    roots: dict[int, bytes] = field(default_factory=dict)
    """The roots that were wanted."""

    def read(self, batch: Sequence[RawEntry]) -> Iterator[Checked | Damage]:
        """Checks some entries, in their order."""
        for row in batch:
            checked = self._whole(row)
            if checked is not None:
                yield checked
            else:
                yield from self._diagnosed(RawEntry(*row))
            if self.tree is not None and self.at_size(self.tree.size):
                self.roots[self.tree.size] = self.tree.root()

    def _whole(self, row: Sequence[Any]) -> Checked | None:
        """The entry, if nothing at all is wrong with it; what every entry of a sound ledger passes."""
        seq, entry_type, subject, payload, leaf_hash, prev_hash, entry_hash = row
        tree = self.tree
        if seq != self.last + 1 or prev_hash != self.tip or tree is None or type(payload) is not str:
            return None
        try:
            if sha256(b"\0" + payload.encode()).digest() != leaf_hash:
                return None
            if sha256(CHAIN + seq.to_bytes(8, "big") + prev_hash + leaf_hash).digest() != entry_hash:
                return None
            content, end = _scan(payload, 0)
        except (ValueError, OverflowError, RecursionError, TypeError, AttributeError, StopIteration):
            return None
        if end != len(payload) or type(content) is not dict or type(subject) is not str:
            return None
        if content.get("entry_type") != entry_type or content.get("subject_id") != subject:
            return None
        # Looking for repeated keys while parsing costs as much as everything else here does together.
        if payload.count(_TYPE) != 1 or payload.count(_SUBJECT) != 1 or payload.count(_ROOT) > 1:
            return None
        before = tree.root() if entry_type == "checkpoint" else None
        self.entries += 1
        self.last, self.tip = seq, entry_hash
        tree.add(leaf_hash)
        return Checked(seq, entry_type, subject, content, before)

    def _diagnosed(self, row: RawEntry) -> Iterator[Checked | Damage]:
        self.entries += 1
        before = self.tree.root() if self.tree is not None else None
        place = self._place(row)
        yield from place
        links = list(self._links(row, follows=not place))
        yield from links
        if place and place[0].kind is not DamageKind.GAP:
            # Which of the two is the right one cannot be said here, so the next entry may follow either.
            self.tip = None
        content = object_of(row.payload)
        if not links:
            yield from self._content(row, content)
        subject, entry_type = (content or {}).get("subject_id"), (content or {}).get("entry_type")
        if not links and content is not None and _is_seq(row.seq) and isinstance(subject, str):
            yield Checked(row.seq, str(entry_type), subject, content, before if self.tree is not None else None)

    def _place(self, row: RawEntry) -> list[Damage]:
        expected = self.last + 1
        if not _is_seq(row.seq):
            self._disturb(expected)
            message = f"an entry's seq is {shown(row.seq)} where {expected} was due"
            return [Damage(expected, DamageKind.GAP, message)]
        seq: int = row.seq
        if seq > expected:
            self._disturb(expected)
            lost = f"entry {expected} is" if seq == expected + 1 else f"entries {expected} to {seq - 1} are"
            self.last = seq
            return [Damage(expected, DamageKind.GAP, f"{lost} missing")]
        if seq < expected:
            self._disturb(seq)
            return [Damage(seq, DamageKind.FORK, "a second entry stands at its place")]
        self.last = seq
        return []

    def _links(self, row: RawEntry, *, follows: bool) -> Iterator[Damage]:
        seq = row.seq if _is_seq(row.seq) else None
        unusable = [name for name in ("leaf_hash", "prev_hash", "entry_hash") if not _is_hash(getattr(row, name))]
        if unusable:
            self._resume(None, None, seq)
            yield Damage(seq, DamageKind.LINK, f"{', '.join(unusable)} must be {SIZE} bytes")
            return
        if seq is None:
            self._resume(row.entry_hash, None, seq)
            return
        computed = _leaf_of(row.payload)
        if row.entry_hash == chained(seq, row.prev_hash, row.leaf_hash):
            fits = not follows or self.tip is None or row.prev_hash == self.tip
            self._resume(row.entry_hash, row.leaf_hash if fits else None, seq)
            if not fits:
                yield self._stray(row, seq)
            return
        if computed is not None and row.entry_hash == chained(seq, row.prev_hash, computed):
            self._resume(row.entry_hash, computed, seq)
            yield Damage(seq, DamageKind.LINK, "leaf_hash is not that of its payload")
            return
        moved = self._moved(row, seq)
        if moved is None and self.tip is not None and row.entry_hash == chained(seq, self.tip, row.leaf_hash):
            self._resume(row.entry_hash, row.leaf_hash, seq)
            yield Damage(seq, DamageKind.LINK, "prev_hash is not the entry_hash of the entry before it")
            return
        self._resume(None, None, seq)
        if moved is not None:
            yield Damage(seq, DamageKind.ORDER, f"it was recorded as entry {moved}")
        elif computed == row.leaf_hash or computed is None:
            yield Damage(seq, DamageKind.LINK, "entry_hash does not follow from its seq, prev_hash and leaf_hash")
        else:
            yield Damage(seq, DamageKind.CONTENT, "its payload does not have the recorded leaf_hash")

    def _stray(self, row: RawEntry, seq: int) -> Damage:
        """An entry that is sound in itself and does not follow the one before it."""
        others = [place for place in self.source.places("prev_hash", row.prev_hash) if place != seq]
        if others:
            return Damage(seq, DamageKind.FORK, f"it follows the same entry as entry {min(others)} does")
        before = [place for place in self.source.places("entry_hash", row.prev_hash) if place + 1 != seq]
        if before:
            return Damage(seq, DamageKind.ORDER, f"it was recorded after entry {min(before)}")
        return Damage(max(seq - 1, 1), DamageKind.LINK, "the entry after it was chained to another one")

    def _moved(self, row: RawEntry, seq: int) -> int | None:
        """The number that an entry was recorded under, where it is another than it stands at."""
        before = [0] if row.prev_hash == GENESIS else self.source.places("entry_hash", row.prev_hash)
        # Where the entry before it was moved too, the one that followed it may still be in its place.
        numbers = [*(place + 1 for place in before), *before]
        numbers += [place - 1 for place in self.source.places("prev_hash", row.entry_hash)]
        for number in numbers:
            if 0 < number != seq and row.entry_hash == chained(number, row.prev_hash, row.leaf_hash):
                return number
        return None

    def _resume(self, tip: bytes | None, leaf_hash: bytes | None, seq: int | None) -> None:
        self.tip = tip
        if leaf_hash is None:
            self._disturb(self.last if seq is None else seq)
        elif self.tree is not None:
            self.tree.add(leaf_hash)

    def _disturb(self, seq: int) -> None:
        self.tree = None
        self.disturbed = seq if self.disturbed is None else min(self.disturbed, seq)

    def _content(self, row: RawEntry, content: dict[str, Any] | None) -> Iterator[Damage]:
        seq = row.seq if _is_seq(row.seq) else None
        if _leaf_of(row.payload) != row.leaf_hash:
            yield Damage(seq, DamageKind.CONTENT, "its payload does not have the recorded leaf_hash")
        elif content is None:
            yield Damage(seq, DamageKind.CONTENT, "its payload is not one unambiguous JSON object")
        else:
            for name in ("entry_type", "subject_id"):
                if content.get(name) != getattr(row, name):
                    stated, held = shown(content.get(name)), shown(getattr(row, name))
                    yield Damage(seq, DamageKind.CONTENT, f"its {name} was recorded as {stated} and is {held}")
            if not isinstance(content.get("subject_id"), str) or not isinstance(content.get("entry_type"), str):
                yield Damage(seq, DamageKind.CONTENT, "it records no type and subject")


def object_of(payload: object) -> dict[str, Any] | None:
    """The JSON object of a payload; None where it is none, or could be read in two ways."""
    if not isinstance(payload, str):
        return None
    try:
        value = _decode(payload)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is repeated")
    return found


def _no_float(text: str) -> Any:
    raise ValueError(f"{text} is no integer")


_TYPE, _SUBJECT, _ROOT = '"entry_type":', '"subject_id":', '"rows_root":'
_decode = json.JSONDecoder(object_pairs_hook=_once, parse_float=_no_float, parse_constant=_no_float).decode
_scan = json.JSONDecoder(parse_float=_no_float, parse_constant=_no_float).scan_once  # type: ignore[attr-defined]


def _leaf_of(payload: object) -> bytes | None:
    try:
        return leaf(payload.encode("utf-8")) if isinstance(payload, str) else None
    except UnicodeEncodeError:
        return None


def _is_seq(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**63


def _is_hash(value: object) -> bool:
    return isinstance(value, bytes) and len(value) == SIZE
