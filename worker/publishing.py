"""The texts that evaluations and outcomes refer to: definitions and contracts, as the ledger publishes them."""

from __future__ import annotations

import json

from catalog.contract import Contract
from ledger.entries import EntryType
from ledger.texts import PublishedText
from monitors.definition import MonitorDefinition


def published_texts(contract: Contract, definition: MonitorDefinition | None = None) -> list[PublishedText]:
    """The content of a contract, and what decides the verdicts of a monitor, each under its hash."""
    texts = []
    if contract.text:
        about = {"contract": dict(contract.reference())}
        content = json.loads(contract.text)
        texts.append(PublishedText(EntryType.CONTRACT_PUBLISHED, contract.hash, content, about))
    if definition is not None:
        name, content = definition.definition_hash, definition.judged()
        texts.append(PublishedText(EntryType.DEFINITION_PUBLISHED, name, content, {"monitor_id": definition.id}))
    return texts
