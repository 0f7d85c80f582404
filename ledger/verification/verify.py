"""Verifying a ledger from outside: every entry, every bound row, the head row, and every checkpoint.

Found is any change, insertion, removal or exchange of entries and of bound rows. A ledger that was cut or rewritten
together with its head row by someone who computes the hashes anew is found as far as a checkpoint reaches that is kept
elsewhere, or that he could not sign; the report says how far that is. Cells may hold anything, since a person with the
file can write anything, so every cell is read untyped and checked before it is used.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from typing import Any, TypeAlias

import sqlalchemy as sa
from sqlalchemy.exc import DatabaseError

from ledger.verification.chain import Chain, Checked
from ledger.verification.findings import MAX_FINDINGS, Damage, DamageKind, Report, shown
from ledger.verification.hashes import EMPTY, Tree, content_hash, row_leaf
from ledger.verification.layout import LAYOUT
from ledger.verification.notes import PublicKey, Witness
from ledger.verification.redactions import Redactions
from ledger.verification.source import RawRow, Source
from ledger.verification.tables import StoreSource, is_corrupt, is_undecodable
from ledger.verification.vouching import Vouching

Progress: TypeAlias = Callable[[int, int], None]
"""Called now and then with the entries and the bound rows read so far."""

_ERASABLE = {part.table: part.erasable for parts in LAYOUT.values() for part in parts}
_VOUCHING = ("checkpoint", "recovery")
_PUBLISHED = ("definition_published", "contract_published")
_SPECIAL = frozenset({*_VOUCHING, *_PUBLISHED})


def verify(
    source: Source,
    keys: Sequence[PublicKey] = (),
    witnesses: Sequence[Witness] = (),
    progress: Progress | None = None,
) -> Report:
    """Reads the whole ledger and every bound row once, and reports at most `MAX_FINDINGS` findings.

    Memory does not grow with the ledger where the source is a store.

    Args:
        source: what is verified.
        keys: by which checkpoints are checked; without any, their signatures are not.
        witnesses: checkpoints that are kept elsewhere.
        progress: told how far it is.
    """
    walk = _Walk(source, Vouching(keys, witnesses), progress)
    found: list[Damage] = []
    early = False
    with closing(walk.damage()) as damage:
        try:
            for finding in damage:
                found.append(finding)
                if len(found) == MAX_FINDINGS:
                    early = True
                    break
        except DatabaseError as error:
            if not is_corrupt(error):
                raise
            found.append(Damage(None, DamageKind.UNREADABLE, f"{error.orig}; restore the store from a backup"))
            early = True
    return walk.report(found, early)


class _Walk:
    """One pass over everything."""

    def __init__(self, source: Source, vouching: Vouching, progress: Progress | None) -> None:
        self._source = source
        self._vouching = vouching
        self._progress = progress
        self._sizes = vouching.sizes()
        self._chain = Chain(source, lambda size: size in self._sizes)
        self._redactions = Redactions()
        self._rows = 0

    def report(self, damage: Sequence[Damage], early: bool) -> Report:
        """What the pass came to."""
        return Report(
            self._chain.entries,
            self._rows,
            tuple(damage),
            early,
            self._vouching.coverage(),
            tuple(self._vouching.recoveries),
            self._redactions.met,
            tuple(self._vouching.notices),
        )

    def damage(self) -> Generator[Damage]:
        """Everything that is wrong, in the order of reading."""
        with self._source.reading():
            missing = list(self._source.faults())
            if missing:
                yield from missing
                return
            self._redactions.read(self._source.of_type("redaction"))
            for batch in self._source.entries():
                yield from self._batch(batch)
                if self._progress is not None:
                    self._progress(self._chain.entries, self._rows)
            outside = list(self._vouching.outside(self._chain.roots, self._chain.last))
            yield from outside
            yield from self._head({item.kind for item in outside})
            for table, column, subject, count in self._source.orphans():
                place = f"{table}, {column} {shown(subject)}"
                message = f"{place}: {count} row{'' if count == 1 else 's'} without an entry"
                yield Damage(None, DamageKind.ORPHAN_ROWS, message)

    def _batch(self, batch: Sequence[Any]) -> Iterator[Damage]:
        found: list[tuple[int, Damage]] = []
        binding: list[tuple[int, Checked]] = []
        for number, item in enumerate(self._chain.read(batch)):
            if isinstance(item, Damage):
                found.append((number, item))
                continue
            if item.entry_type in LAYOUT or "rows_root" in item.content:
                binding.append((number, item))
            if item.entry_type in _SPECIAL:
                found += ((number, damage) for damage in self._special(item))
        found += self._bound(binding)
        yield from (damage for _, damage in sorted(found, key=lambda pair: pair[0]))

    def _special(self, entry: Checked) -> Iterator[Damage]:
        """What holds for entries of some types alone."""
        if entry.entry_type in _VOUCHING:
            yield from self._vouching.entry(entry)
        elif content_hash(entry.content.get("content")) != entry.subject:
            yield Damage(entry.seq, DamageKind.CONTENT, "what it publishes does not have the hash that it names")

    def _bound(self, entries: Sequence[tuple[int, Checked]]) -> Iterator[tuple[int, Damage]]:
        by_type: dict[str, list[tuple[int, Checked]]] = {}
        for number, entry in entries:
            by_type.setdefault(entry.entry_type, []).append((number, entry))
        for entry_type, some in by_type.items():
            if entry_type not in LAYOUT:
                for number, entry in some:
                    message = f"it binds rows, and none are known for {shown(entry_type)}"
                    yield number, Damage(entry.seq, DamageKind.ROWS, message)
                continue
            trees, faults = self._trees(entry_type, list({entry.subject for _, entry in some}))
            tables = ", ".join(part.table for part in LAYOUT[entry_type])
            for number, entry in some:
                place = f"{entry_type} {_printable(entry.subject)}"
                root = trees[entry.subject].root() if entry.subject in trees else EMPTY
                if entry.subject in faults:
                    message = f"{place}: {_printable(faults[entry.subject])}"
                    yield number, Damage(entry.seq, DamageKind.ROWS, message)
                elif entry.content.get("rows_root") != root.hex():
                    message = f"the rows of {place} in {tables} are not those that were recorded"
                    yield number, Damage(entry.seq, DamageKind.ROWS, message)

    def _trees(self, entry_type: str, subjects: Sequence[str]) -> tuple[dict[str, Tree], dict[str, str]]:
        trees: dict[str, Tree] = {}
        faults: dict[str, str] = {}
        for item in self._source.rows(entry_type, subjects):
            self._rows += 1
            try:
                value = self._leaf(item)
            except ValueError as error:
                faults.setdefault(item.subject, str(error))
            else:
                trees.setdefault(item.subject, Tree()).add(value)
        return trees, faults

    def _leaf(self, item: RawRow) -> bytes:
        if item.fault is not None:
            raise ValueError(item.fault)
        erasable = _ERASABLE.get(item.table, {})
        if item.row.get("erased") is not None:
            self._redactions.check(item, erasable)
        return row_leaf(item.table, item.row, erasable)

    def _head(self, told: set[DamageKind]) -> Iterator[Damage]:
        rows, chain = self._source.head(), self._chain
        if len(rows) != 1 or rows[0].id != 1:
            yield Damage(None, DamageKind.HEAD, "there must be one head row, with id 1")
            return
        head = rows[0]
        last = f"the last entry is {chain.last}" if chain.last else "there is no entry"
        if isinstance(head.seq, int) and head.seq > chain.last:
            if DamageKind.TAIL_CUT not in told:
                message = f"the head row says {head.seq} entries, and {last}"
                yield Damage(chain.last + 1, DamageKind.TAIL_CUT, message)
            return
        if chain.disturbed is not None:
            # What is wrong with the entries is said; the head row cannot be compared with what is not known.
            return
        if head.seq != chain.last:
            yield Damage(None, DamageKind.HEAD, f"the head row says {shown(head.seq)} entries, and {last}")
        if chain.tip is not None and head.entry_hash != chain.tip:
            yield Damage(None, DamageKind.HEAD, "the head row's entry_hash is not that of the last entry")
        if chain.tree is not None and head.merkle_frontier != _frontier(chain.tree):
            yield Damage(None, DamageKind.HEAD, "the head row's merkle_frontier is not that of the entries")


def _frontier(tree: Tree) -> str:
    return json.dumps([peak.hex() for peak in tree.peaks], separators=(",", ":"))


def _printable(text: str) -> str:
    return "".join(char if char.isprintable() else "\ufffd" for char in text)


def verify_store(
    connection: sa.Connection,
    keys: Sequence[PublicKey] = (),
    witnesses: Sequence[Witness] = (),
    progress: Progress | None = None,
) -> Report:
    """Verifies the store behind an open connection; see `verify`."""
    try:
        return verify(StoreSource(connection), keys, witnesses, progress)
    except DatabaseError as error:
        if not is_undecodable(error):
            raise
    # Somebody wrote text that is none. It is damage, and must not end the verification.
    return verify(StoreSource(connection, any_text=True), keys, witnesses, progress)
