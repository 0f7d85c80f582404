"""Whether the SQL of verified questions still is what the contract allows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from catalog.contract import Contract
from catalog.referee.certified import Purpose
from catalog.referee.certify import certify
from catalog.referee.decisions import Abstained, Allowed, Escalated
from trivet.documents import Document
from trivet.findings import Finding


def referee_findings(contract: Contract, documents: Sequence[Document]) -> Iterator[Finding]:
    """A finding for each verified question whose SQL the referee does not let through.

    The referee changes with the program and an old contract must stay readable, so loading does not ask it.

    Args:
        contract: as it was loaded of the files.
        documents: those files.
    """
    for document in documents:
        for index, sql in enumerate(_statements(document)):
            if (fault := referee_fault(sql, contract)) is not None:
                yield document.finding(("verified_queries", index, "sql"), fault)


def referee_fault(sql: str, contract: Contract) -> str | None:
    """What the referee has against SQL, with the clause; None where it may run."""
    decision = certify(sql, contract, Purpose.QUESTION)
    match decision:
        case Allowed():
            return None
        case Abstained(objection) | Escalated(objection):
            instead = f"; instead: {objection.suggestion}" if objection.suggestion else ""
            at = f" at `{objection.text}`" if objection.text else ""
            return f"the referee refuses it by clause {objection.clause}: {objection.message}{at}{instead}"


def _statements(document: Document) -> Iterator[str]:
    match document.root:
        case {"verified_queries": list(listed)}:
            for item in listed:
                match item:
                    case {"sql": str(sql)}:
                        yield sql
