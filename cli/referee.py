"""`trivet referee`: whether SQL may run under the contract, and why not. Nothing is run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
from rich.text import Text

from catalog.contract import Contract
from catalog.referee.certified import CertificateLine, Purpose
from catalog.referee.certify import certify
from catalog.referee.decisions import (
    Abstained,
    Allowed,
    Decision,
    DecisionWord,
    Escalated,
    decision_document,
    decision_word,
    reason_code,
)
from catalog.referee.statement import Objection
from cli.invocation import Invocation, command
from cli.output import Output, visible
from trivet.errors import InputError, UsageError
from trivet.exits import Exit
from trivet.findings import Finding, Position

_STYLES = {
    DecisionWord.ALLOW: "green",
    DecisionWord.ABSTAIN: "bold red",
    DecisionWord.ESCALATE: "bold yellow",
}


@click.command()
@click.argument("sql", metavar="[SQL]", required=False)
@click.option(
    "--purpose",
    type=click.Choice([purpose.value for purpose in Purpose]),
    default=Purpose.QUESTION.value,
    show_default=True,
    help="Who made the SQL, and so which clauses it must pass.",
)
@click.option(
    "--jsonl",
    "file",
    metavar="FILE",
    type=click.Path(path_type=Path, allow_dash=True),
    help="Judge every {id, sql} line of a file, or of standard input (-), and print one decision per line.",
)
@command
def referee(invocation: Invocation, sql: str | None, purpose: str, file: Path | None) -> int:
    """Say whether SQL may run under the contract, and why not; nothing is run (JSON Lines with --jsonl)."""
    if (sql is None) == (file is None):
        raise UsageError("give the SQL as one argument, or --jsonl FILE; one of the two")
    _, contract, _ = invocation.workspace().require()
    if file is None:
        decision = certify(sql or "", contract, Purpose(purpose))
        _show(invocation.output, decision, contract)
        return _exit_code(decision)
    code = Exit.FINE
    for proposal in _read_proposals(file):
        decision = certify(proposal.sql, contract, Purpose(purpose))
        invocation.output.document(decision_document(proposal.id, decision, contract.reference()))
        code = max(code, _exit_code(decision))
    return code


def _exit_code(decision: Decision) -> Exit:
    return Exit.FINE if isinstance(decision, Allowed) else Exit.REFUSED


@dataclass(frozen=True, slots=True)
class _Proposal:
    """One line of the file."""

    id: str | int | None
    sql: str


def _read_proposals(file: Path) -> list[_Proposal]:
    """Every proposal of the file.

    Raises:
        InputError: some lines are none; every such line is named.
    """
    proposals, findings = [], []
    with click.open_file(str(file), "rb") as stream:
        for number, line in enumerate(stream, 1):
            found = _read_proposal(line)
            if isinstance(found, str):
                findings.append(Finding(str(file), Position(number, 1), "", found))
            elif found is not None:
                proposals.append(found)
    if findings:
        raise InputError(findings)
    return proposals


def _read_proposal(line: bytes) -> _Proposal | str | None:
    """The proposal, or what is wrong with the line; None if it is blank."""
    if not line.strip():
        return None
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        return 'expected one JSON document on the line, such as {"id": "1", "sql": "SELECT ..."}'
    if not isinstance(document, dict) or not isinstance(document.get("sql"), str):
        return "expected an object whose key 'sql' is a text"
    identifier = document.get("id")
    if isinstance(identifier, bool) or not isinstance(identifier, str | int | None):
        return "expected a text or a whole number as 'id'"
    return _Proposal(identifier, document["sql"])


def _show(output: Output, decision: Decision, contract: Contract) -> None:
    if output.as_json:
        output.document(decision_document(None, decision, contract.reference()))
        return
    word = decision_word(decision)
    output.print(Text.assemble((word, _STYLES[word]), f" under {contract.id} {contract.version}"))
    match decision:
        case Allowed(query):
            _show_certificate(output, query.certificate)
            output.raw(visible(query.sql, keep_lines=True))
        case Abstained(objection):
            _show_objection(output, objection)
        case Escalated(objection, sql, _, _, certificate):
            _show_objection(output, objection)
            _show_certificate(output, certificate)
            output.raw(visible(sql, keep_lines=True))


def _show_objection(output: Output, objection: Objection) -> None:
    for name, value in _parts(objection):
        output.print(Text.assemble((f"{name:12}", "dim"), visible(value)))


def _parts(objection: Objection) -> Iterator[tuple[str, str]]:
    yield "clause", objection.clause
    yield "reason", reason_code(objection.clause)
    yield "message", objection.message
    if objection.text:
        yield "at", objection.text if objection.span is None else f"{objection.text}  (offset {objection.span[0]})"
    if objection.suggestion:
        yield "instead", objection.suggestion


def _show_certificate(output: Output, certificate: tuple[CertificateLine, ...]) -> None:
    output.table(["clause", "satisfied by"], [(line.clause, line.satisfied_by) for line in certificate])
