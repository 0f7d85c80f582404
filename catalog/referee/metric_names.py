"""What bears the name of a metric, or of one that it is not, among all that a resolved statement puts out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from catalog.contract import Contract, Metric
from catalog.metric_records import DerivationKind, DerivedMetric
from catalog.referee.aggregates import branches
from catalog.referee.certified import Clause
from catalog.referee.derived import Derived, rounded_off
from catalog.referee.measures import letters
from catalog.referee.metric_words import certified_sql, period_step
from catalog.referee.statement import Objection, Statement


@dataclass(frozen=True, slots=True)
class Output:
    """One value that a SELECT puts out."""

    scope: Scope
    value: exp.Expr
    name: str
    """Under which it is seen: in a set operation, the name that its first SELECT gives to the place."""


def outputs_of(statement: Statement) -> Iterator[Output]:
    """Every value that every SELECT puts out, under each name by which it is seen."""
    inner = {id(part) for scope in statement.scopes for part in scope.set_operation_scopes or ()}
    for scope in statement.scopes:
        query = scope.expression
        if isinstance(query, exp.Select):
            yield from (Output(scope, part, part.alias_or_name) for part in query.selects)
        elif isinstance(query, exp.SetOperation) and id(scope) not in inner and not query.args.get("by_name"):
            yield from _by_place(scope, query.named_selects)


def _by_place(scope: Scope, names: list[str]) -> Iterator[Output]:
    for branch in branches(scope):
        selects = branch.expression.selects if isinstance(branch.expression, exp.Select) else []
        for part, name in zip(selects, names, strict=False):
            if part.alias_or_name.lower() != name.lower():
                yield Output(branch, part, name)


def misnamed(statement: Statement, derived: Derived) -> Objection | None:
    """The first output that bears the name of a metric, or a synonym of one, and is another value."""
    contract = derived.contract
    named = _names(contract)
    for output in outputs_of(statement):
        metrics = named.get(letters(output.name), [])
        if metrics:
            wrong = [_wrongly_named(output, metric, derived) for metric in metrics]
            message = None if None in wrong else wrong[0]
            suggestion = f"{certified_sql(metrics[0], contract)} AS {metrics[0].name}"
        else:
            message, suggestion = _taken_for(output, derived), None
        if message is not None:
            return statement.objection(Clause.CERTIFIED_METRIC, message, output.value, suggestion=suggestion)
    return None


def _names(contract: Contract) -> dict[str, list[Metric | DerivedMetric]]:
    """The metrics of each name and synonym that is no column's; a name goes before a synonym."""
    columns = {letters(part) for item in contract.object_types for part in item.columns}
    found: dict[str, list[Metric | DerivedMetric]] = {}
    for metric in contract.every_metric:
        found.setdefault(letters(metric.name), []).append(metric)
    own = set(found)
    for metric in contract.every_metric:
        for synonym in metric.synonyms:
            if (name := letters(synonym)) not in own and metric not in found.setdefault(name, []):
                found[name].append(metric)
    return {name: metrics for name, metrics in found.items() if name and name not in columns}


def _wrongly_named(output: Output, metric: Metric | DerivedMetric, derived: Derived) -> str | None:
    bears = f"it bears the name of metric '{metric.name}', which is"
    if isinstance(metric, DerivedMetric):
        fits = derived.is_value(output.scope, output.value, metric)
        if fits:
            return None
        if metric.derivation.kind is not DerivationKind.PERIOD_OVER_PERIOD:
            return f"{bears} {metric.derivation}, each part over the same rows"
        stepped = period_step(metric.derivation, derived.contract) is not None
        rows = "the row before being that of the period before" if stepped else "of two periods that follow each other"
        return f"{bears} {metric.derivation}, {rows}"
    if not derived.measures.is_value(output.scope, output.value, metric):
        return f"{bears} {metric.expression} of {metric.object_type}"
    if isinstance(rounded_off(output.value.unalias(), metric.display), exp.Round):
        return f"{bears} shown with other digits after the point"
    return None


def _taken_for(output: Output, derived: Derived) -> str | None:
    """What is wrong with a name that holds that of a metric which the value is said not to be."""
    words, contract = f"_{output.name.lower()}_", derived.contract
    for metric in contract.every_metric:
        for other in metric.not_the_same_as:
            if f"_{other.lower()}_" in words and _is(output, metric, derived):
                return f"it is '{metric.name}', which is not the same as '{other}', whose name it bears"
    return None


def _is(output: Output, metric: Metric | DerivedMetric, derived: Derived) -> bool:
    if isinstance(metric, Metric):
        return derived.measures.is_value(output.scope, output.value, metric)
    return derived.is_value(output.scope, output.value, metric)
