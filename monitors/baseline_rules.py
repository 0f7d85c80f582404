"""From the baselines of a monitor, as a file holds them, to their rules: every fault of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from catalog.datatypes import DataType, Kind
from catalog.engines.port import HeldName
from catalog.expressions.aggregates import figure_type, figures_of
from catalog.expressions.baselines import BASELINE, BaselineRule
from catalog.expressions.checking import Scope
from catalog.expressions.groups import rows_figure_faults
from catalog.expressions.printing import print_operand
from catalog.expressions.syntax import SyntaxFault, parse_operand
from catalog.expressions.tree import Aggregate, BaselineRef, Condition
from monitors.baseline_document import BaselineModel
from monitors.grouping_rules import GroupingRules
from monitors.named_metrics import NamedMetrics
from trivet.documents import Document, Path
from trivet.findings import Finding

_NO_AGGREGATE = "expected one aggregate, such as count() or avg(x)"


@dataclass(frozen=True, slots=True)
class LoadedBaselines:
    """The baselines of one monitor, or what is wrong with them."""

    rules: tuple[BaselineRule, ...]
    findings: tuple[Finding, ...]
    is_known: bool
    """Whether a condition can be held against them: what is at fault would be at fault again."""


def load_baselines(
    document: Document, grouping: GroupingRules, scope: Scope, metrics: NamedMetrics, *, is_grouped: bool
) -> LoadedBaselines:
    """The baselines that the file gives a monitor, each checked on its own.

    Args:
        document: the file.
        grouping: the grouping of the monitor.
        scope: what the rows hold.
        metrics: which of them `of` may name.
        is_grouped: whether there is a grouping, without a fault; without one nothing is asked of its baselines.
    """
    place: Path = (*grouping.path, "baselines")
    models = grouping.model.baselines
    if not is_grouped or models is None:
        return LoadedBaselines((), (), is_known=is_grouped and not document.has(place))
    if any(item.view.lower() == HeldName.BASELINES for item in scope.contract.object_types):
        message = f"a governed view bears the name {HeldName.BASELINES}, under which earlier values are held; rename it"
        return LoadedBaselines((), (document.finding(place, message, key=True),), is_known=False)
    loader = _Loader(document, grouping, scope, metrics)
    found = [loader.load((*place, name), name, model) for name, model in models.items()]
    rules = tuple(rule for rule, _ in found if rule is not None)
    findings = tuple(finding for _, wrong in found for finding in wrong)
    return LoadedBaselines(rules, findings, is_known=not findings)


def baseline_types(loaded: LoadedBaselines, scope: Scope) -> dict[str, DataType] | None:
    """The type of each baseline; None where nothing is known of them."""
    if not loaded.is_known:
        return None
    return {rule.name: figure_type(BaselineRef(rule.name), scope) for rule in loaded.rules}


def unused_findings(
    document: Document, path: Path, rules: tuple[BaselineRule, ...], breach_when: Condition
) -> Iterator[Finding]:
    """The baselines that the condition does not name: each would be recorded for nothing."""
    named = {figure.name for figure in figures_of(breach_when) if isinstance(figure, BaselineRef)}
    for rule in rules:
        if rule.name not in named:
            message = f"breach_when does not name {BASELINE}.{rule.name}; remove this key"
            yield document.finding((*path, "baselines", rule.name), message, key=True)


@dataclass(frozen=True, slots=True)
class _Loader:
    document: Document
    grouping: GroupingRules
    scope: Scope
    metrics: NamedMetrics

    def load(self, path: Path, name: str, model: BaselineModel) -> tuple[BaselineRule | None, list[Finding]]:
        findings = list(self._length_findings(path, model))
        of = parse_operand(model.of)
        if isinstance(of, SyntaxFault):
            return None, [*findings, self.document.finding((*path, "of"), of.message, offset=of.span[0])]
        of, faults = self.metrics.expanded_operand(of)
        if faults:
            wrong = [self.document.finding((*path, "of"), fault.message, offset=fault.span[0]) for fault in faults]
            return None, [*findings, *wrong]
        if not isinstance(of, Aggregate):
            return None, [*findings, self.document.finding((*path, "of"), _NO_AGGREGATE, offset=of.span[0])]
        findings += self._figure_findings(path, of)
        if findings:
            return None, findings
        rule = BaselineRule(name, of, model.statistic, model.last, model.min_history, model.weekday == "same")
        return rule, []

    def _length_findings(self, path: Path, model: BaselineModel) -> Iterator[Finding]:
        place = (*path, "min_history")
        if model.min_history > model.last:
            message = f"expected at most {model.last}, since no more evaluations are looked back on"
            yield self.document.finding(place, message)
        elif model.min_history < model.statistic.needs:
            yield self.document.finding(place, f"expected at least {model.statistic.needs}: fewer have no deviation")

    def _figure_findings(self, path: Path, of: Aggregate) -> Iterator[Finding]:
        place = (*path, "of")
        faults = rows_figure_faults(of, self.grouping.keys, self.scope)
        for fault in faults:
            yield self.document.finding(place, fault.message, offset=fault.span[0])
        if faults:
            return
        kind = figure_type(of, self.scope)
        if not kind.is_number:
            instead = "; write avg(hours(x)) or the like" if kind.kind is Kind.DURATION else ""
            message = f"`{print_operand(of)}` is {kind}, and a baseline is of numbers{instead}"
            yield self.document.finding(place, message, offset=of.span[0])
        yield from self.grouping.masked_findings(("baselines", *path[-1:], "of"), of)
