"""The verifier's statement of the format is the writer's."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from ledger.bound_rows import Binding, new_salt, row_leaf
from ledger.hashing import entry_hash, leaf_hash
from ledger.tables import ledger_entry, ledger_head
from ledger.verification import hashes
from ledger.verification.layout import BOOLEAN, INTEGER, LAYOUT, TEXT
from ledger.verification.source import RawEntry, RawHead
from tests.integration.tampering import auditor
from worker.outcomes import BINDINGS

KINDS = {sa.Text: TEXT, sa.Integer: INTEGER, sa.BigInteger: INTEGER, sa.Boolean: BOOLEAN}


@pytest.mark.parametrize("binding", BINDINGS, ids=lambda binding: binding.entry_type.value)
def test_the_layout_has_what_is_bound(binding: Binding) -> None:
    parts = LAYOUT[binding.entry_type.value]
    assert [(part.table, part.subject, part.order, dict(part.erasable)) for part in parts] == [
        (bound.table.name, bound.subject, bound.order, dict(bound.erasable)) for bound in binding.tables
    ]
    for part, bound in zip(parts, binding.tables, strict=True):
        assert dict(part.columns) == {column.name: KINDS[type(column.type)] for column in bound.table.columns}


def test_nothing_else_is_in_the_layout() -> None:
    assert set(LAYOUT) == {binding.entry_type.value for binding in BINDINGS}
    assert RawEntry._fields == tuple(column.name for column in ledger_entry.columns)
    assert RawHead._fields == tuple(column.name for column in ledger_head.columns)


def test_the_auditors_script_erases_what_the_layout_erases() -> None:
    found = {part.table: dict(part.erasable) for parts in LAYOUT.values() for part in parts if part.erasable}
    script = auditor().ERASABLE
    assert {table: {n: v for n, v in empty.items() if n != "salt"} for table, empty in script.items()} == found


VALUES = st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(st.characters(codec="ascii"))


@given(row=st.dictionaries(st.sampled_from("abcdefgh"), VALUES), salted=st.booleans())
def test_a_row_has_one_leaf_whoever_computes_it(row: dict[str, bool | int | str | None], salted: bool) -> None:
    whole = {**row, "salt": new_salt() if salted else None, "erased": None}
    assert row_leaf("member", whole, ("a", "b")) == hashes.row_leaf("member", whole, ("a", "b"))


@given(seq=st.integers(1, 2**63 - 1), before=st.binary(min_size=32, max_size=32), payload=st.binary())
def test_an_entry_has_one_hash_whoever_computes_it(seq: int, before: bytes, payload: bytes) -> None:
    leaf = leaf_hash(payload)
    assert leaf == hashes.leaf(payload)
    assert entry_hash(seq, before, leaf) == hashes.chained(seq, before, leaf) == auditor().chained(seq, before, leaf)
