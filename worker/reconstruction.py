"""Contracts and definitions read again from the texts that the ledger published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sqlalchemy as sa

from catalog.contract import Contract
from catalog.loading import load_contract
from ledger.entries import EntryType
from ledger.texts import published_text
from monitors.definition import MonitorDefinition
from monitors.judged_text import monitor_keys
from monitors.loading import load_monitors
from trivet.canonical import Json, content_hash
from trivet.plain_documents import document_of


class TextGone(Exception):
    """The ledger does not hold a text, or this version cannot read it; the message says which."""


def contract_of(connection: sa.Connection, contract_hash: str) -> Contract:
    """The contract that the ledger published under a hash.

    Raises:
        TextGone: there is none, or it cannot be read.
        CheckFailedError: its entry is damaged.
    """
    content = _text(connection, EntryType.CONTRACT_PUBLISHED, contract_hash, "contract")
    parts = content if isinstance(content, Sequence) and not isinstance(content, str) else ()
    documents = [
        document_of(part, f"contract-{place:03}") for place, part in enumerate(parts) if isinstance(part, Mapping)
    ]
    loaded = load_contract(documents)
    if loaded.contract is None or loaded.contract.hash != contract_hash:
        raise TextGone(f"this version cannot read contract {contract_hash[:12]}: {_first(loaded.findings)}")
    return loaded.contract


def definition_of(connection: sa.Connection, definition_hash: str, contract: Contract) -> MonitorDefinition:
    """The definition that the ledger published under a hash: what decides verdicts, and nothing else.

    Raises:
        TextGone: there is none, or it cannot be read.
        CheckFailedError: its entry is damaged.
    """
    content = _text(connection, EntryType.DEFINITION_PUBLISHED, definition_hash, "definition")
    parts = content if isinstance(content, Mapping) else {}
    loaded = load_monitors([document_of({"monitors": [monitor_keys(parts)]}, "definition")], contract, None)
    if len(loaded.monitors) != 1 or loaded.monitors[0].definition_hash != definition_hash:
        raise TextGone(f"this version cannot read definition {definition_hash[:12]}: {_first(loaded.findings)}")
    return loaded.monitors[0]


def _text(connection: sa.Connection, entry_type: EntryType, text_hash: str, what: str) -> Json:
    content = published_text(connection, entry_type, text_hash)
    if content is None or content_hash(content) != text_hash:
        raise TextGone(f"the ledger does not hold the {what} {text_hash[:12]}")
    return content


def _first(findings: Sequence[object]) -> str:
    return str(findings[0]) if findings else "it reads as another one"
