"""From what a monitor file says of alerts to how its alert is told."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import pairwise

from catalog.expressions.printing import print_condition
from catalog.expressions.tree import Condition
from monitors.alerting import AlertPolicy, Escalation, Flapping, Lasting, NoDataPolicy, NoDataRule, Repeat, Threshold
from monitors.alerting_document import AlertingModel, NoDataModel, SeverityModel
from trivet.canonical import Json
from trivet.documents import Document, Path
from trivet.durations import duration_text
from trivet.findings import Finding, did_you_mean
from trivet.verdicts import Severity


def severity_of(model: AlertingModel) -> Severity:
    """The monitor's severity; where it goes by size, the loudest that is named."""
    found = model.severity
    return found.levels()[-1].severity if isinstance(found, SeverityModel) else found


def policy_of(model: AlertingModel, recover_when: Condition | None) -> AlertPolicy:
    """How the monitor's alert is told, but for missing data."""
    return AlertPolicy(
        fires_after=model.lasting,
        clears_after=model.keep_firing_for,
        recover_when=recover_when,
        levels=model.severity.levels() if isinstance(model.severity, SeverityModel) else (),
        flapping=Flapping(model.flapping.changes, model.flapping.of, model.flapping.alert),
        judged_share=model.judged_share,
        repeat=Repeat(model.repeat.every, model.repeat.most) if model.repeat is not None else None,
        escalate=tuple(Escalation(step.after, step.to) for step in model.escalate),
        per_group=model.alert_per == "group",
    )


def no_data_of(model: NoDataModel) -> NoDataPolicy:
    """When the monitor's missing data is told."""
    rules = (
        NoDataRule(reason, rule.alert, rule.tolerate, rule.lasting, rule.severity, tuple(rule.notify))
        for reason, rule in model.reasons.items()
    )
    return NoDataPolicy(model.alert, model.tolerate, model.lasting, model.severity, tuple(rules))


def alerting_findings(
    document: Document, path: Path, model: AlertingModel, receivers: Collection[str] | None, *, is_grouped: bool
) -> Iterator[Finding]:
    """What is wrong with it that one key alone does not show."""
    if model.alert_per == "group":
        yield from _group_findings(document, path, model, is_grouped=is_grouped)
    times = [step.after for step in model.escalate]
    for index, (before, after) in enumerate(pairwise(times), start=1):
        if after <= before:
            place = (*path, "escalate", index, "after")
            yield document.finding(place, "expected more than the one before it: escalations are told in their order")
    levels = model.severity.levels() if isinstance(model.severity, SeverityModel) else ()
    for quieter, louder in pairwise(levels):
        alike = (quieter.size.percent is None) == (louder.size.percent is None)
        if alike and (louder.size.percent or louder.size.count) <= (quieter.size.percent or quieter.size.count):
            message = f"expected more than {quieter.severity}: {quieter.size}, which could never be told otherwise"
            yield document.finding((*path, "severity", louder.severity.value), message)
    if receivers is None:
        return
    named: list[tuple[Path, str]] = [
        ((*path, "escalate", index, "to"), step.to) for index, step in enumerate(model.escalate)
    ]
    for reason, rule in model.no_data.reasons.items():
        place = (*path, "no_data", "reasons", reason, "notify")
        named += [((*place, index), name) for index, name in enumerate(rule.notify)]
    for at, name in named:
        if name not in receivers:
            yield document.finding(at, f"the settings have no receiver '{name}'{did_you_mean(name, receivers)}")


def _group_findings(document: Document, path: Path, model: AlertingModel, *, is_grouped: bool) -> Iterator[Finding]:
    """What makes no sense of one group."""
    if not is_grouped:
        yield document.finding((*path, "alert_per"), "only a monitor with group_by has groups; remove it")
    one = "each group is told by itself, so there is nothing to count; remove it, or alert_per"
    if isinstance(model.severity, SeverityModel):
        yield document.finding((*path, "severity"), f"{one}, and give one word")
    if model.no_data.tolerate != Threshold():
        yield document.finding((*path, "no_data", "tolerate"), one)
    for reason, rule in model.no_data.reasons.items():
        if rule.tolerate is not None:
            yield document.finding((*path, "no_data", "reasons", reason, "tolerate"), one)


def alerting_json(policy: AlertPolicy, no_data: NoDataPolicy) -> dict[str, Json]:
    """As `trivet monitors show` prints it: the keys of the file, without those that are absent and have no default."""
    found: dict[str, Json] = {
        "no_data": _no_data_json(no_data),
        "for": _lasting_json(policy.fires_after),
        "keep_firing_for": _lasting_json(policy.clears_after),
        "recover_when": print_condition(policy.recover_when) if policy.recover_when is not None else None,
        "judged_share": f"{policy.judged_share}%" if policy.judged_share is not None else None,
        "flapping": {"alert": policy.flapping.alert, "changes": policy.flapping.changes, "of": policy.flapping.of},
    }
    if policy.levels:
        found["severity_by_size"] = {level.severity: _threshold_json(level.size) for level in policy.levels}
    if policy.repeat is not None:
        found["repeat"] = {"every": duration_text(policy.repeat.every), "most": policy.repeat.most}
    if policy.escalate:
        found["escalate"] = [{"after": duration_text(step.after), "to": step.to} for step in policy.escalate]
    if policy.per_group:
        found["alert_per"] = "group"
    return {name: value for name, value in found.items() if value is not None}


def _no_data_json(policy: NoDataPolicy) -> dict[str, Json]:
    found: dict[str, Json] = {"alert": policy.alert, "tolerate": _threshold_json(policy.tolerate)}
    if policy.lasting is not None:
        found["for"] = _lasting_json(policy.lasting)
    if policy.severity is not None:
        found["severity"] = policy.severity
    if policy.reasons:
        found["reasons"] = {rule.reason: _rule_json(rule) for rule in policy.reasons}
    return found


def _rule_json(rule: NoDataRule) -> dict[str, Json]:
    found: dict[str, Json] = {
        "alert": rule.alert,
        "tolerate": _threshold_json(rule.tolerate) if rule.tolerate is not None else None,
        "for": _lasting_json(rule.lasting) if rule.lasting is not None else None,
        "severity": rule.severity,
        "notify": list(rule.notify) or None,
    }
    return {name: value for name, value in found.items() if value is not None}


def _threshold_json(threshold: Threshold) -> Json:
    return threshold.count if threshold.percent is None else str(threshold)


def _lasting_json(lasting: Lasting) -> Json:
    return lasting.evaluations if lasting.time is None else duration_text(lasting.time)
