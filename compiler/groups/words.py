"""A grouped monitor in words: its members, what is expected, and what a figure needs."""

from __future__ import annotations

from catalog.contract import Contract, ObjectType
from catalog.expressions.aggregates import figures_of
from catalog.expressions.baselines import BASELINE
from catalog.expressions.groups import GroupKey
from catalog.expressions.printing import print_condition, print_operand
from catalog.expressions.tree import AggregateFunction, Change
from compiler.groups.plan import aggregates_in
from monitors.definition import MonitorDefinition
from monitors.grouping import Coverage, DayRange, Expectation, Grouping, LastPeriods


def population_lines(definition: MonitorDefinition, grouping: Grouping, rows: ObjectType) -> list[str]:
    """Who the members are."""
    narrowed = f" where {print_condition(definition.where)}" if definition.where is not None else ""
    if not grouping.keys:
        return [f"Population: one group, of every row of {rows.view}{narrowed}."]
    keys = ", ".join(_key(key) for key in grouping.keys)
    lines = [f"Population: the rows of {rows.view}{narrowed}, grouped by {keys}."]
    lines.append("  Rows in which a key is indeterminate form one member, which is always no_data (left_null).")
    return lines


def figure_lines(definition: MonitorDefinition, grouping: Grouping, contract: Contract) -> list[str]:
    """What is expected, and when a figure is undecided."""
    lines = ["", *_expected_lines(grouping, contract)] if grouping.expect is not None else []
    lines += ["", "Figures are taken over the rows for which they are determinate; a group with other rows is partial."]
    if definition.strict:
        lines[-1] = "strict: a figure that meets a row for which it is not determinate is insufficient."
    lines += _insufficient_lines(definition, grouping)
    if definition.where is not None:
        lines.append("  A row for which `where` is unknown is not determinate for any figure of its group.")
    functions = {aggregate.function for aggregate in aggregates_in(definition)}
    if AggregateFunction.COUNT in functions:
        lines.append("  count() is the number of rows; over none it is 0, and decides.")
    if functions - {AggregateFunction.COUNT}:
        lines.append("  left_missing: over no row there is no other figure.")
    if any(isinstance(figure, Change) for figure in figures_of(definition.breach_when)):
        lines.append("  A change is this period less the one before; without that one it is insufficient.")
    return [*lines, *_baseline_lines(definition, contract)]


def _baseline_lines(definition: MonitorDefinition, contract: Contract) -> list[str]:
    """What each baseline is, and which evaluations it looks back on."""
    if not definition.baselines:
        return []
    schedule = definition.schedule
    zone = (schedule.timezone if schedule is not None else None) or contract.calendar.time_zone
    lines = [""]
    for rule in definition.baselines:
        weekday = f" on the slot's weekday ({zone})" if rule.same_weekday else ""
        which = f"the last {rule.last} evaluations{weekday}" if rule.last > 1 else f"the last evaluation{weekday}"
        lines.append(f"{BASELINE}.{rule.name}: the {rule.statistic} of {print_operand(rule.of)} in {which}.")
        values = "value" if rule.min_history == 1 else "values"
        lines.append(f"  insufficient: a group has fewer than {rule.min_history} {values} in them.")
    asked = "that people asked for" if schedule is None else "of its schedule"
    lines.append(f"  They are this monitor's own, {asked}, for slots before the one that is evaluated.")
    return lines


def _insufficient_lines(definition: MonitorDefinition, grouping: Grouping) -> list[str]:
    only_counts = all(item.function is AggregateFunction.COUNT for item in aggregates_in(definition))
    needs = [] if only_counts else [f"fewer than {grouping.min_count}" if grouping.min_count > 1 else "none"]
    needs += [_coverage(grouping.min_coverage, grouping)] if grouping.min_coverage is not None else []
    return [f"  insufficient: {', or '.join(needs)} of them is determinate."] if needs else []


def _key(key: GroupKey) -> str:
    return key.property if key.period is None else f"{key.period} of {key.property}"


def _expected_lines(grouping: Grouping, contract: Contract) -> list[str]:
    expect = grouping.expect
    if expect is None:
        return []
    source = contract.object_type(expect.object) if expect.object is not None else None
    named = f"each {' and '.join(expect.keys)} of {source.view}" if source is not None else "a member"
    periods = _periods(expect, grouping)
    lines = [f"Expected:   {named}{f' in {periods}' if periods else ''}, whether or not there is a row."]
    lines.append("  Members that nobody expected are judged, and counted as unexpected.")
    return lines


def _periods(expect: Expectation, grouping: Grouping) -> str:
    period = grouping.period.period if grouping.period is not None else None
    match expect.periods:
        case DayRange(first=first, last=last):
            return f"each {period} from {first} to {last}"
        case LastPeriods(count=count, current=current):
            ending = "up to that of the slot" if current else "before that of the slot"
            return f"each of the {count} {period}s {ending}"
        case None:
            return ""


def _coverage(coverage: Coverage, grouping: Grouping) -> str:
    share = f"{coverage.share.normalize():f}"
    if coverage.per is None:
        return f"less than a share of {share}"
    period = grouping.period.period if grouping.period is not None else None
    return f"in less than a share of {share} of the {period}'s {coverage.per}s any"
