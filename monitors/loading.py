"""Monitor files to definitions, checked against the contract: as a whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlsplit

from catalog.contract import Contract, ObjectType
from catalog.expressions.baselines import BaselineRule
from catalog.expressions.checking import Fault, Scope, check_condition
from catalog.expressions.groups import check_group_condition, group_scope, narrowing_faults, ungrouped_faults
from catalog.expressions.lifting import lifted
from catalog.expressions.satisfiability import breach_fault, never_faults
from catalog.expressions.syntax import SyntaxFault, parse_condition
from catalog.expressions.tree import Condition
from catalog.expressions.walking import condition_links, uses_clock
from monitors.alerting_loading import alerting_findings, no_data_of, policy_of, severity_of
from monitors.baseline_rules import baseline_types, load_baselines, unused_findings
from monitors.definition import MonitorDefinition
from monitors.document import MonitorFileModel, MonitorModel
from monitors.grouping import Grouping
from monitors.grouping_rules import GroupingRules
from monitors.named_metrics import NamedMetrics
from monitors.rule_test_loading import load_rule_tests
from monitors.rule_tests import RuleTest
from monitors.schedule_loading import schedule_findings, schedule_of
from trivet.documents import Document, Path, in_order
from trivet.findings import Finding, did_you_mean
from trivet.validation import examine, validate


@dataclass(frozen=True, slots=True)
class MonitorsResult:
    """Every monitor of the workspace, or everything that is wrong with the files."""

    monitors: tuple[MonitorDefinition, ...]
    findings: tuple[Finding, ...]


def load_monitors(
    documents: Sequence[Document], contract: Contract, receivers: Collection[str] | None = ()
) -> MonitorsResult:
    """The monitors of all files, each checked against the contract.

    Args:
        documents: the monitor files.
        contract: what conditions may name.
        receivers: what `notify` may name; None where the settings could not be read, and so nothing is known of them.
    """
    findings: list[Finding] = []
    monitors: list[MonitorDefinition] = []
    seen: dict[str, str] = {}
    for document in documents:
        items, faults = _read_items(document)
        of_document = [*faults]
        for index, item in items:
            path: Path = ("monitors", index)
            if item.id in seen:
                of_document.append(
                    document.finding((*path, "id"), f"'{item.id}' is already the id of a monitor in {seen[item.id]}")
                )
            seen.setdefault(item.id, document.file)
            definition, of_monitor = _load_monitor(document, path, item, contract, receivers)
            of_document += of_monitor
            if definition is not None:
                monitors.append(definition)
        findings += in_order(of_document)
    return MonitorsResult(() if findings else tuple(monitors), tuple(findings))


def _read_items(document: Document) -> tuple[list[tuple[int, MonitorModel]], Sequence[Finding]]:
    """The monitors of a file with their places, and the faults of its shape.

    A monitor with a key at fault is read without that key, so that what else is wrong with it is
    said at once; the file is refused all the same.
    """
    model, faults = validate(document, MonitorFileModel)
    if model is not None:
        return list(enumerate(model.monitors)), ()
    listed = document.root.get("monitors")
    items: list[tuple[int, MonitorModel]] = []
    for index, tree in enumerate(listed if isinstance(listed, list) else ()):
        item, wrong = examine(tree, MonitorModel)
        if item is None and isinstance(tree, dict):
            at_fault = {fault.path[0] for fault in wrong if fault.path}
            item, _ = examine({key: value for key, value in tree.items() if key not in at_fault}, MonitorModel)
        if item is not None:
            items.append((index, item))
    return items, faults


def _load_monitor(
    document: Document, path: Path, model: MonitorModel, contract: Contract, receivers: Collection[str] | None
) -> tuple[MonitorDefinition | None, list[Finding]]:
    findings = [
        *schedule_findings(document, path, model),
        *_notify_findings(document, path, model, receivers),
        *alerting_findings(document, path, model, receivers, is_grouped=model.group_by is not None),
    ]
    if model.timeout is not None and not model.timeout:
        findings.append(document.finding((*path, "timeout"), "expected at least one second, such as 30s"))
    if model.runbook and urlsplit(model.runbook).scheme not in ("http", "https"):
        findings.append(document.finding((*path, "runbook"), "expected an http or https address"))
    object_type = contract.object_type(model.object)
    if object_type is None:
        names = [item.name for item in contract.object_types]
        message = f"there is no object type '{model.object}'{did_you_mean(model.object, names)}"
        return None, [*findings, document.finding((*path, "object"), message)]
    rules = GroupingRules(document, path, model, contract, object_type)
    of_groups = list(rules.findings())
    findings += of_groups
    scope = Scope(contract, object_type)
    grouped_by = rules.keys if model.group_by is not None or document.has((*path, "group_by")) else None
    metrics = NamedMetrics(contract, object_type, grouped_by, model.where, model.strict)
    is_grouped = model.group_by is not None and not of_groups
    loaded = load_baselines(document, rules, scope, metrics, is_grouped=is_grouped)
    findings += loaded.findings
    over_groups = Scope(contract, object_type, loaded.rules)
    asked = partial(_group_faults, rules, loaded.is_known) if document.has((*path, "group_by")) else _row_faults
    breach_when, faults = _load_condition(
        document, (*path, "breach_when"), model.breach_when, over_groups, asked, metrics
    )
    findings += faults
    if breach_when is not None and not findings and model.group_by is not None:
        findings += rules.link_findings(breach_when)
        findings += rules.masked_findings(("breach_when",), breach_when)
        findings += unused_findings(document, path, loaded.rules, breach_when)
    recover_when: Condition | None = None
    if model.recover_when is not None:
        recover_when, faults = _load_condition(
            document, (*path, "recover_when"), model.recover_when, over_groups, asked, metrics
        )
        findings += faults
        if recover_when is not None and not findings and model.group_by is not None:
            findings += rules.link_findings(recover_when)
            findings += rules.masked_findings(("recover_when",), recover_when)
    where: Condition | None = None
    if model.where is not None:
        where, faults = _load_condition(
            document, (*path, "where"), model.where, scope, partial(_narrowing_faults, metrics)
        )
        findings += faults
        if where is not None and not findings and model.group_by is not None:
            findings += rules.masked_findings(("where",), where)
    shown = object_type.primary_key if model.group_by is None else ()
    taken_of = [rule.beside_itself for rule in loaded.rules]
    findings += _keyed_findings(
        document, path, contract, object_type, shown, [breach_when, recover_when, where, *taken_of]
    )
    if breach_when is not None and where is not None and model.group_by is None and not findings:
        fault = breach_fault(breach_when, where, scope)
        findings += [] if fault is None else [document.finding((*path, "breach_when"), fault.message)]
    tests, faults = load_rule_tests(
        document, path, model.tests, contract, rules.member_key, baseline_types(loaded, over_groups)
    )
    findings += faults
    findings += _clockless_findings(tests, [breach_when, where, *taken_of])
    if breach_when is None or findings:
        return None, findings
    named = metrics.used(model.breach_when)
    return _definition(
        model, breach_when, recover_when, where, rules.grouping(), loaded.rules, named, tests, document.file
    ), []


def _clockless_findings(tests: Sequence[RuleTest], conditions: Sequence[Condition | None]) -> Iterator[Finding]:
    """A test of a condition that looks at the clock must say what the clock shows, or its verdict would change."""
    if any(uses_clock(condition) for condition in conditions if condition is not None):
        for test in tests:
            if test.at is None:
                yield test.finding("the condition looks at the clock; add `at: 2026-01-01T00:00:00Z`")


def _load_condition(
    document: Document,
    path: Path,
    text: str,
    scope: Scope,
    asked: Callable[[Condition, Scope], Iterable[Fault]],
    metrics: NamedMetrics | None = None,
) -> tuple[Condition | None, list[Finding]]:
    condition = parse_condition(text)
    if isinstance(condition, SyntaxFault):
        return None, [document.finding(path, condition.message, offset=condition.span[0])]
    faults: Iterable[Fault] = ()
    if metrics is not None:
        condition, faults = metrics.expanded(condition)
    faults = faults or asked(condition, scope)
    return condition, [document.finding(path, fault.message, offset=fault.span[0]) for fault in faults]


def _row_faults(condition: Condition, scope: Scope) -> Iterable[Fault]:
    found = list(ungrouped_faults(condition)) or check_condition(condition, scope)
    return found or never_faults(condition, scope)


def _narrowing_faults(metrics: NamedMetrics, condition: Condition, scope: Scope) -> Iterable[Fault]:
    figures = [*metrics.narrowing_faults(condition), *narrowing_faults(condition)]
    return figures or _row_faults(condition, scope)


def _group_faults(rules: GroupingRules, is_known: bool, condition: Condition, scope: Scope) -> Iterable[Fault]:
    """Nothing is asked of groups whose keys or baselines are at fault: each name would be at fault again."""
    if not is_known:
        return ()
    faults = check_group_condition(condition, rules.keys, scope)
    return faults or never_faults(lifted(condition), group_scope(condition, rules.keys, scope))


def _keyed_findings(
    document: Document,
    path: Path,
    contract: Contract,
    object_type: ObjectType,
    shown: Sequence[str],
    conditions: Sequence[Condition | None],
) -> Iterator[Finding]:
    """A monitor is over every property that it shows or keys by, and not only over those that it names."""
    used = [(object_type, name) for name in shown]
    names = {name for condition in conditions if condition is not None for name in condition_links(condition)}
    for link in contract.links_from(object_type.name):
        far = contract.object_type(link.target)
        if link.name in names and far is not None:
            used += [(object_type, name) for name in link.source_keys]
            used += [(far, name) for name in (*far.primary_key, *link.target_keys)]
            if link.as_of is not None:
                used += [(object_type, link.as_of.date), (far, link.as_of.valid_from)]
                used += [(far, link.as_of.valid_to)] if link.as_of.valid_to else []
    for owner, name in dict.fromkeys((item.name, name) for item, name in used):
        of = contract.object_type(owner)
        found = of.find_property(name) if of else None
        if found is not None and found.is_closed:
            hint = "such a monitor is refused unless the contract says `monitor: masked`"
            message = f"is keyed by {owner}.{name}, which is {found.sensitivity}; {hint}"
            yield document.finding((*path, "object"), message)


def _notify_findings(
    document: Document, path: Path, model: MonitorModel, receivers: Collection[str] | None
) -> Iterator[Finding]:
    if receivers is None:
        return
    for index, name in enumerate(model.notify):
        if name not in receivers:
            yield document.finding(
                (*path, "notify", index),
                f"the settings have no receiver '{name}'{did_you_mean(name, receivers)}",
            )


def _definition(
    model: MonitorModel,
    breach_when: Condition,
    recover_when: Condition | None,
    where: Condition | None,
    grouping: Grouping | None,
    baselines: tuple[BaselineRule, ...],
    metrics: tuple[tuple[str, str], ...],
    tests: tuple[RuleTest, ...],
    file: str,
) -> MonitorDefinition:
    return MonitorDefinition(
        id=model.id,
        object=model.object,
        breach_when=breach_when,
        where=where,
        grouping=grouping,
        baselines=baselines,
        metrics=metrics,
        strict=model.strict,
        allow_empty=model.allow_empty,
        samples=model.samples,
        timeout=model.timeout,
        enabled=model.enabled,
        title=model.title or model.id,
        description=model.description or "",
        severity=severity_of(model),
        schedule=schedule_of(model),
        no_data=no_data_of(model.no_data),
        alerting=policy_of(model, recover_when),
        notify=tuple(model.notify),
        owner=model.owner or "",
        runbook=model.runbook or "",
        labels=tuple(sorted(model.labels.items())),
        tests=tests,
        file=file,
    )
