"""Metrics as a question would say them: the certified way, in SQL."""

from __future__ import annotations

from typing import assert_never

from catalog.contract import Contract, Metric
from catalog.datatypes import Kind
from catalog.expressions.printing import print_operand
from catalog.expressions.tree import AggregateFunction, Condition, Operand
from catalog.metric_records import Derivation, DerivationKind, DerivedMetric, MetricDisplay
from catalog.periods import Period


def certified_sql(metric: Metric | DerivedMetric, contract: Contract) -> str:
    """What a question writes for a metric, rounded as it is shown."""
    return _rounded(_sql(metric, contract), metric.display)


def _sql(metric: Metric | DerivedMetric, contract: Contract) -> str:
    if isinstance(metric, Metric):
        return _aggregate(metric.aggregate.function, metric.aggregate.argument)
    derivation = metric.derivation
    parts = [_bracketed(name, contract) for name in derivation.parts]
    periods = (
        f"date_trunc('{derivation.by}', {derivation.period})"
        if derivation.by not in (None, Period.DAY)
        else str(derivation.period)
    )
    match derivation.kind:
        case DerivationKind.RATIO | DerivationKind.SHARE:
            return f"{parts[0]} / nullif({parts[1]}, 0)"
        case DerivationKind.DIFFERENCE:
            return f"{parts[0]} - {parts[1]}"
        case DerivationKind.PERIOD_OVER_PERIOD:
            before = f"lag({parts[0]}) OVER (ORDER BY {periods})"
            change = f"{parts[0]} - {before}"
            figure = f"({change}) / nullif(abs({before}), 0)" if derivation.relative else change
            step = period_step(derivation, contract)
            asked = f"lag({periods}) OVER (ORDER BY {periods}) = {periods} - {step}"
            return f"CASE WHEN {asked} THEN {figure} END" if step else figure
        case DerivationKind.MEAN_PER_PERIOD:
            name = derivation.parts[0]
            return f"avg({name}) over groups by {periods} of {parts[0]} AS {name}"
    assert_never(derivation.kind)


def period_step(derivation: Derivation, contract: Contract) -> str | None:
    """The length of a period, which guards a change; texts have none, and are held to two that follow each other."""
    of = contract.metric(derivation.parts[0])
    item = contract.object_type(of.object_type) if isinstance(of, Metric) else None
    parts = item.properties if item is not None else ()
    kind = next((part.type.kind for part in parts if part.name == derivation.period), None)
    if derivation.by is not None or kind is Kind.DATE:
        return f"INTERVAL 1 {derivation.by or Period.DAY}"
    return "1" if kind is Kind.INTEGER else None


def _bracketed(name: str, contract: Contract) -> str:
    metric = contract.metric(name)
    if metric is None:
        raise LookupError(f"the contract has no metric {name}")
    text = _sql(metric, contract)
    return text if isinstance(metric, Metric) else f"({text})"


def _aggregate(function: AggregateFunction, argument: Operand | Condition | None) -> str:
    if argument is None:
        return "count(*)"
    text = print_operand(argument)  # type: ignore[arg-type]  # A metric's argument is no condition.
    return f"count(DISTINCT {text})" if function is AggregateFunction.COUNT_DISTINCT else f"{function}({text})"


def _rounded(text: str, display: MetricDisplay | None) -> str:
    return text if display is None or display.round is None else f"round({text}, {display.round})"
