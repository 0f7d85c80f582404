"""The texts that evaluations and outcomes refer to: definitions and contracts, as the ledger publishes them."""

from __future__ import annotations

import json
from collections.abc import Iterable

from catalog.contract import Contract
from ledger.entries import EntryType
from ledger.texts import PublishedText
from monitors.definition import MonitorDefinition


def published_texts(contract: Contract, definitions: Iterable[MonitorDefinition] = ()) -> list[PublishedText]:
    """The content of a contract, and what decides the verdicts of monitors, each once under its hash."""
    texts = {}
    if contract.text:
        about = {"contract": dict(contract.reference())}
        content = json.loads(contract.text)
        texts[contract.hash] = PublishedText(EntryType.CONTRACT_PUBLISHED, contract.hash, content, about)
    for item in definitions:
        name = item.definition_hash
        if name not in texts:
            about_it = {"monitor_id": item.id}
            texts[name] = PublishedText(EntryType.DEFINITION_PUBLISHED, name, item.judged(), about_it)
    return list(texts.values())
