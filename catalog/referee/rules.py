"""Which clauses each purpose must pass, in their order, and what the certificate says of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from catalog.contract import Contract
from catalog.referee.certified import CertificateLine, Clause, Purpose
from catalog.referee.clauses.additivity import additivity
from catalog.referee.clauses.certified_join import certified_join, joined_links
from catalog.referee.clauses.certified_metric import certified_metric, metrics_used
from catalog.referee.clauses.cost import cost
from catalog.referee.clauses.fan_out import fan_out
from catalog.referee.clauses.function_allow_list import function_allow_list
from catalog.referee.clauses.governed_source import governed_source
from catalog.referee.clauses.known_columns import known_columns
from catalog.referee.clauses.mandatory_filters import mandatory_filters
from catalog.referee.clauses.no_star import no_star
from catalog.referee.clauses.node_allow_list import node_allow_list
from catalog.referee.clauses.one_statement import one_statement
from catalog.referee.clauses.relation_allow_list import relation_allow_list
from catalog.referee.clauses.required_grain import required_grain
from catalog.referee.clauses.sensitive import sensitive
from catalog.referee.lineage import columns_read
from catalog.referee.statement import Objection, Statement


@dataclass(frozen=True, slots=True)
class Rule:
    """One clause as it is applied."""

    clause: Clause
    check: Callable[[Statement, Contract], Objection | None]
    satisfied_by: Callable[[Statement, Contract], str]
    """What of a resolved statement and the contract satisfied it, in words."""
    resolved_only: bool = False
    """Whether it needs names resolved; the others judge the parsed tree as well."""


def certificate_of(statement: Statement, contract: Contract) -> tuple[CertificateLine, ...]:
    """A line for each clause that a resolved statement passed."""
    lines = [CertificateLine(Clause.TEXT, "printable text")]
    lines += [CertificateLine(rule.clause, rule.satisfied_by(statement, contract)) for rule in RULES[statement.purpose]]
    return tuple(lines)


def _always(words: str) -> Callable[[Statement, Contract], str]:
    return lambda statement, contract: words


def _of(contract: Contract) -> str:
    return f"of contract {contract.id} {contract.version}"


def _views(statement: Statement, contract: Contract) -> str:
    views = sorted({view for view, _ in columns_read(statement, contract)})
    return f"{', '.join(views) or 'governed views only,'} {_of(contract)}"


def _links(statement: Statement, contract: Contract) -> str:
    found = joined_links(statement, contract)
    links = () if isinstance(found, Objection) else found
    if not links:
        return "nothing is joined"
    return f"links {', '.join(sorted({f'{link.source}.{link.name}' for link in links}))} {_of(contract)}"


def _metrics(statement: Statement, contract: Contract) -> str:
    if not contract.metrics:
        return f"there are no metrics {_of(contract)}"
    used = metrics_used(statement, contract)
    return f"metrics {', '.join(used)} {_of(contract)}" if used else "nothing is measured"


def _columns(statement: Statement, contract: Contract) -> str:
    columns = sorted(f"{view}.{column}" for view, column in columns_read(statement, contract))
    return f"{', '.join(columns) or 'no column'} {_of(contract)}"


_ONE_STATEMENT = Rule(Clause.ONE_STATEMENT, one_statement, _always("one SELECT"))
_NODES = Rule(Clause.NODE_ALLOW_LIST, node_allow_list, _always("syntax nodes of the closed list"))
_FUNCTIONS = Rule(Clause.FUNCTION_ALLOW_LIST, function_allow_list, _always("typed functions of the closed list"))
_RELATIONS = Rule(Clause.RELATION_ALLOW_LIST, relation_allow_list, _views)
_STARS = Rule(Clause.NO_STAR, no_star, _always("every output column is named"))
_JOINS = Rule(Clause.CERTIFIED_JOIN, certified_join, _links, resolved_only=True)
_KNOWN = Rule(Clause.KNOWN_COLUMNS, known_columns, _columns, resolved_only=True)
_SOURCES = Rule(
    Clause.GOVERNED_SOURCE,
    governed_source,
    lambda statement, contract: f"every output column depends on a governed column {_of(contract)}",
    resolved_only=True,
)
_FAN_OUT = Rule(Clause.FAN_OUT, fan_out, _always("no aggregate takes a row twice"), resolved_only=True)
_METRICS = Rule(Clause.CERTIFIED_METRIC, certified_metric, _metrics, resolved_only=True)
_DIMENSIONS = Rule(
    Clause.REQUIRED_GRAIN, required_grain, lambda statement, contract: f"dimensions {_of(contract)}", resolved_only=True
)
_FILTERS = Rule(
    Clause.MANDATORY_FILTERS,
    mandatory_filters,
    lambda statement, contract: f"every mandatory filter {_of(contract)}",
    resolved_only=True,
)
_ADDITIVITY = Rule(Clause.ADDITIVITY, additivity, _always("nothing is summed that has no sum"), resolved_only=True)
_COST = Rule(
    Clause.COST,
    cost,
    lambda statement, contract: f"at most {contract.limits.max_objects} views {_of(contract)}",
    resolved_only=True,
)
_SENSITIVE = Rule(
    Clause.SENSITIVE,
    sensitive,
    lambda statement, contract: f"no restricted column {_of(contract)} is touched",
    resolved_only=True,
)

RULES: dict[Purpose, tuple[Rule, ...]] = {
    Purpose.MONITOR: (_ONE_STATEMENT, _NODES, _FUNCTIONS, _RELATIONS, _STARS, _KNOWN),
    Purpose.QUESTION: (
        _ONE_STATEMENT, _NODES, _FUNCTIONS, _RELATIONS, _STARS, _JOINS, _KNOWN, _SOURCES, _FAN_OUT, _METRICS,
        _DIMENSIONS, _FILTERS, _ADDITIVITY, _COST, _SENSITIVE,
    ),
    # Measures and filters are held against what was proposed; what accounts for it reads nothing further.
    Purpose.ACCOUNT: (_ONE_STATEMENT, _NODES, _FUNCTIONS, _RELATIONS, _STARS, _KNOWN, _COST, _SENSITIVE),
}  # fmt: skip
