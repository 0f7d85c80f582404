"""A question that names a metric, as a plan of that metric."""

from __future__ import annotations

from collections.abc import Sequence

from catalog.contract import Contract, Metric
from resolver.measuring import find_metric, measure_of, metric_fault
from resolver.outcome import Refusal
from resolver.plan import Filter, Measure, SemanticPlan, plan_fault
from resolver.refusals import refuse
from trivet.outcomes import ReasonCode


def metric_plan(
    contract: Contract,
    names: Sequence[str],
    measured: Sequence[str],
    measure: Measure | None,
    plan: tuple[str, str | None, Sequence[Filter]],
) -> SemanticPlan | Refusal:
    """The plan of the one metric that a question names.

    Args:
        contract: has the metrics.
        names: the metrics that were named.
        measured: properties that were named beside them.
        measure: what the words of the question ask for: a count, a sum or the like, or a list.
        plan: the object type, what the question groups by, and its filters.
    """
    names = list(dict.fromkeys(names))
    metric = find_metric(contract, names[0])
    if len(names) + len(measured) > 1 or metric is None:
        return refuse(ReasonCode.SCHEMA_MISMATCH, f"it asks for {' and '.join([*names, *measured])} at once")
    if measure is Measure.LIST:
        return refuse(ReasonCode.SCHEMA_MISMATCH, f"{metric.name} is one figure, and has no rows to list")
    if measure is not None and measure is not measure_of(metric):
        defined = metric.expression if isinstance(metric, Metric) else metric.derivation
        what = f"{metric.name} is {defined} as the contract has it, and there is no {measure} of it"
        return refuse(ReasonCode.SCHEMA_MISMATCH, what)
    about, by, filters = plan
    made = SemanticPlan(about, Measure.METRIC, None, by, tuple(filters), metric=metric.name)
    fault = metric_fault(made, contract) or plan_fault(made, contract)
    return made if fault is None else refuse(ReasonCode.SCHEMA_MISMATCH, fault)
