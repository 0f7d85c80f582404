"""Cases that state the truth: a contract, a condition, rows, and what must become of each member.

`tests/cases/peers/README.md` describes the files. They come in through the product's own doors, so that a case is what
a user could have written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import yaml

from catalog.contract import Contract
from catalog.expressions.syntax import parse_condition
from catalog.expressions.tree import Condition
from catalog.loading import load_contract
from evals.oracle.evaluation import Table
from evals.proving.agreement import Said
from monitors.loading import load_monitors
from tests.conformance.harness import Scripted
from tests.oracle.strategies import World
from trivet.documents import read_yaml
from trivet.verdicts import Verdict

CASES = Path(__file__).parents[1] / "cases"
KEYS = {
    *("name", "about", "contract", "object", "breach_when", "where", "strict", "links", "sql"),
    *("tables", "members", "counts"),
}
MEMBER_KEYS = {"row", "key", "of", "verdict", "reason", "causes", "partial"}


@dataclass(frozen=True, slots=True)
class JudgedCase:
    """One condition over one set of rows, and the truth about it."""

    name: str
    world: World
    truth: tuple[Said, ...]
    """Every member, the compliant ones included."""
    counts: Mapping[str, int]
    labels: tuple[str, ...]
    """What each member is an example of, where the file says so."""


def read_cases(folder: str) -> list[JudgedCase]:
    """The cases of every file of `tests/cases/{folder}`."""
    files = sorted((CASES / folder).glob("*.yaml"))
    assert files, f"no case in {folder}"
    return [case for file in files for case in _cases_of(file)]


def _cases_of(file: Path) -> Iterator[JudgedCase]:
    read = yaml.safe_load(file.read_text("utf-8"))
    for tree in read if isinstance(read, list) else [{"name": file.stem, **read}]:
        assert tree.keys() <= KEYS, tree.keys() - KEYS
        for link in tree.get("links", [""]):
            yield _case(tree, link)


def _case(tree: Mapping[str, Any], link: str) -> JudgedCase:
    contract = _contract(tree)
    object_type = contract.object_type(tree["object"])
    assert object_type is not None
    _check_monitor(tree, contract, link)
    (key,) = object_type.primary_key
    tables = _tables(tree, contract, object_type.view)
    where = tree.get("where")
    return JudgedCase(
        name=f"{tree['name']}{f' by {link}' if link else ''}",
        world=World(
            contract=contract,
            object_name=object_type.name,
            where=None if where is None else _condition(where, link),
            breach_when=_condition(tree["breach_when"], link),
            strict=tree.get("strict", False),
            tables=tables,
        ),
        truth=tuple(_said(member, key, link) for member in tree["members"]),
        counts=tree.get("counts", {}),
        labels=tuple(member.get("of", "") for member in tree["members"]),
    )


def _contract(tree: Mapping[str, Any]) -> Contract:
    document = read_yaml(tree["contract"], file="contract.yaml")
    assert document.document is not None, document.findings
    result = load_contract([document.document])
    assert result.contract is not None, result.findings
    return result.contract


def _check_monitor(tree: Mapping[str, Any], contract: Contract, link: str) -> None:
    """A case must be one that `trivet check` accepts."""
    monitor = {"id": "case", "object": tree["object"], "breach_when": tree["breach_when"].replace("LINK", link)}
    if "where" in tree:
        monitor["where"] = tree["where"].replace("LINK", link)
    text = yaml.safe_dump({"monitors": [monitor]}, width=1000, default_style='"')
    document = read_yaml(text, file="monitors.yaml").document
    assert document is not None
    assert load_monitors([document], contract).findings == ()


def _condition(text: str, link: str) -> Condition:
    tree = parse_condition(text.replace("LINK", link))
    assert isinstance(tree, Condition), tree
    return tree


def _tables(tree: Mapping[str, Any], contract: Contract, own_view: str) -> dict[str, Table]:
    if "sql" in tree:
        return _made_by(tree["sql"], contract)
    rows: dict[str, list[dict[str, object]]] = {item.view: [] for item in contract.object_types}
    rows |= {view: list(found) for view, found in tree.get("tables", {}).items()}
    rows[own_view] += [member["row"] for member in tree["members"]]
    found: dict[str, list[dict[str, object]]] = {}
    for item in contract.object_types:
        for row in rows.pop(item.view):
            assert row.keys() <= set(item.columns), row.keys() - set(item.columns)
            assert all(cell is None or isinstance(cell, str) for cell in row.values()), f"a cell is text or null: {row}"
            found.setdefault(item.view, []).append({name: row.get(name) for name in item.columns})
        found.setdefault(item.view, [])
    assert not rows, f"no view of the contract: {rows.keys()}"
    columns = {item.view: dict.fromkeys(item.columns, "VARCHAR") for item in contract.object_types}
    return {view: Table(columns[view], items) for view, items in found.items()}


def _made_by(script: str, contract: Contract) -> dict[str, Table]:
    """The views that a script makes, with their rows read back for the oracle."""
    found: dict[str, Table] = {}
    with duckdb.connect(":memory:") as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute(script)
        for item in contract.object_types:
            described = connection.execute(f"DESCRIBE {item.view}").fetchall()
            columns = {str(name): str(kind) for name, kind, *_ in described}
            rows = [dict(zip(columns, row, strict=True)) for row in connection.execute(f"FROM {item.view}").fetchall()]
            found[item.view] = Scripted(columns, rows, script="" if found else script)
    return found


def _said(member: Mapping[str, Any], key: str, link: str) -> Said:
    assert member.keys() <= MEMBER_KEYS, member.keys() - MEMBER_KEYS
    causes = {
        operand.replace("LINK", link): (found,) if isinstance(found, str) else tuple(found)
        for operand, found in member.get("causes", {}).items()
    }
    verdict = Verdict(member["verdict"])
    name = member["row"][key] if "row" in member else member["key"]
    return Said(
        (name,), verdict.value, member.get("reason"), tuple(sorted(causes.items())), member.get("partial", False)
    )
