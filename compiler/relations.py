"""The relations that compiled queries stand on: members and linked rows with determinate values."""

from __future__ import annotations

from collections.abc import Sequence

from compiler import names
from compiler.determinacy import PropertyRules
from compiler.dialects.dialect import Dialect
from compiler.plan import LinkPlan, MonitorPlan, RelationPlan
from compiler.pruning import Relation, Selection
from trivet.verdicts import Cause

STEPS = ("counted", "compared", "breached", "undecided", "explained", "judged", "repeated")
"""The relations that `compiler/queries.py` builds on the members."""


def relation_names(plan: MonitorPlan) -> dict[str, str]:
    """Name in the SQL of each relation that is wanted; never that of a governed view."""
    taken = {item.view.rpartition(".")[2] for item in plan.scope.contract.object_types} | plan.taken
    found: dict[str, str] = {}
    for wanted in (*STEPS, plan.member.relation, *(item.far.relation for item in plan.links)):
        name = names.free_relation(wanted, taken)
        found[wanted] = name
        taken |= names_of(name)
    return found


def names_of(relation: str) -> set[str]:
    """Every name that the stages of a relation may have."""
    return {relation, *(f"{relation}_{stage}" for stage in ("text", "number", "value", "dated"))}


def relations_of(
    plan: MonitorPlan,
    dialect: Dialect,
    members: Sequence[Relation] = (),
    kind: type[PropertyRules] = PropertyRules,
    carried: Sequence[str] = (),
) -> list[Relation]:
    """Every relation of the WITH clause, in the order in which they build on each other.

    Args:
        plan: what the queries are made from.
        dialect: how they are spelled.
        members: the relations of the members, where these are no rows of a view.
        kind: which form of the type rules reads the views.
        carried: columns of the member's view that are passed on as they are, under `names.carried`.
    """
    spelled = relation_names(plan)
    relations = [*members] or staged(plan, plan.member, spelled[plan.member.relation], dialect, kind, carried)
    for link in plan.links:
        name = spelled[link.far.relation]
        if link.link.as_of is None:
            relations += staged(plan, link.far, name, dialect, kind)
        else:
            relations += staged(plan, link.far, f"{name}_dated", dialect, kind)
            relations.append(_in_time(link, name, f"{name}_dated", dialect))
    return [*relations, _counted(plan, dialect)] if plan.counted else relations


def member_columns(plan: MonitorPlan) -> list[str]:
    """Every column of a member row that later relations may use, the counts of its links included."""
    columns = [name for item in plan.member.properties for name in final_columns(item.name, item.censored is not None)]
    columns += [names.provenance(part) for part, _ in plan.member.object_type.provenance.named()]
    columns += [names.count(link) for link in plan.counted]
    columns += [column for figure in plan.figures for column in (names.reason(figure), names.partial(figure))]
    columns += [column for measure in plan.measures.values() for _, column in measure.causes]
    return columns + ([names.UNEXPECTED] if plan.is_grouped else [])


def _counted(plan: MonitorPlan, dialect: Dialect) -> Relation:
    """The members with the count of each link that a condition counts, written and run once."""
    counts = {names.count(link): _count(plan, plan.link(link), dialect) for link in plan.counted}
    selections = [(counts.get(name) or f"m.{dialect.identifier(name)}", name) for name in member_columns(plan)]
    spelled = relation_names(plan)
    return Relation(spelled["counted"], tuple(selections), f"{spelled[plan.member.relation]} AS m")


def _count(plan: MonitorPlan, link: LinkPlan, dialect: Dialect) -> str:
    counted = "COUNT(*)"
    if link.link.as_of is not None:
        usable = f"r.{dialect.identifier(names.USABLE)}"
        counted = f"CASE WHEN COUNT(*) FILTER (WHERE NOT {usable}) = 0 THEN COUNT(*) END"
    source = f"{relation_names(plan)[link.far.relation]} AS r WHERE {matches(link, 'm', 'r', dialect)}"
    return f"CASE WHEN {can_match(link, 'm', dialect)} THEN (SELECT {counted} FROM {source}) END"


def staged(
    plan: MonitorPlan,
    relation: RelationPlan,
    name: str,
    dialect: Dialect,
    kind: type[PropertyRules] = PropertyRules,
    carried: Sequence[str] = (),
) -> list[Relation]:
    """A view's rows with determinate values, under `name`."""
    physical = plan.physical.get(relation.object_type.view) if plan.physical is not None else None
    zone = plan.scope.contract.calendar.time_zone
    rules = [kind(item, physical, dialect, zone) for item in relation.properties]
    view = relation.object_type.view
    provenance = relation.object_type.provenance.named()
    text = [selection for rule in rules for selection in rule.text_stage("v")]
    text += [(f"v.{dialect.identifier(column)}", names.provenance(part)) for part, column in provenance]
    text += [(f"v.{dialect.identifier(column)}", names.carried(column)) for column in carried]
    kept = [(names.provenance(part), names.provenance(part)) for part, _ in provenance]
    kept += [(names.carried(column), names.carried(column)) for column in carried]
    number = [selection for rule in rules for selection in rule.number_stage("t")] + _kept("t", kept, dialect)
    value = [selection for rule in rules for selection in rule.value_stage("t")] + _kept("t", kept, dialect)
    cause = [selection for rule in rules for selection in rule.cause_stage("t")] + _kept("t", kept, dialect)
    return [
        Relation(f"{name}_text", tuple(text), f"{view} AS v{_narrowed(relation, dialect)}"),
        Relation(f"{name}_number", tuple(number), f"{name}_text AS t"),
        Relation(f"{name}_value", tuple(value), f"{name}_number AS t"),
        Relation(name, tuple(cause), f"{name}_value AS t"),
    ]


def _narrowed(relation: RelationPlan, dialect: Dialect) -> str:
    return f" WHERE v.{dialect.identifier(relation.flag)}" if relation.flag else ""


def _kept(alias: str, columns: Sequence[Selection], dialect: Dialect) -> list[Selection]:
    return [(f"{alias}.{dialect.identifier(name)}", kept) for name, kept in columns]


def _in_time(link: LinkPlan, name: str, dated: str, dialect: Dialect) -> Relation:
    """The linked rows with the end of their time in force.

    `superseded from` is the next later distinct date of the row's schedule, so a row is in force
    from its own date up to there, and rows that share a date share its end.
    """
    as_of = link.link.as_of
    if as_of is None:
        raise LookupError(f"link {link.link.name} has no effective dates")
    kept = [name for item in link.far.properties for name in final_columns(item.name, item.censored is not None)]
    kept += [names.provenance(part) for part, _ in link.far.object_type.provenance.named()]
    selections = _kept("d", [(name, name) for name in kept], dialect)
    start = f"d.{dialect.identifier(as_of.valid_from)}"
    partition = ", ".join(f"d.{dialect.identifier(name)}" for name in link.partition)
    window = f"{f'PARTITION BY {partition} ' if partition else ''}ORDER BY {start}"
    later = f"MIN({start}) OVER ({window} GROUPS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING)"
    selections.append((f"CASE WHEN {start} IS NOT NULL THEN {later} END", names.SUPERSEDED_FROM))
    usable = f"{start} IS NOT NULL"
    if as_of.valid_to:
        end_cause = f"d.{dialect.identifier(names.cause(as_of.valid_to))}"
        usable += f" AND COALESCE({end_cause}, '{Cause.NULL}') = '{Cause.NULL}'"
    selections.append((f"({usable})", names.USABLE))
    return Relation(name, tuple(selections), f"{dated} AS d")


def final_columns(name: str, censored: bool) -> list[str]:
    """The columns in which the last stage leaves a property."""
    ends = [names.side(name), names.low(name), names.high(name)] if censored else []
    return [name, names.cause(name), names.shown(name), *ends]


def matches(link: LinkPlan, member: str, far: str, dialect: Dialect) -> str:
    """Whether a far row belongs to a member: keys equal, and in force on the member's date.

    Two-valued wherever it stands, since it stands in WHERE clauses only. A row without a usable
    effective date matches whatever the date; it then decides nothing (`row usable` is false).
    """
    pairs = zip(link.link.source_keys, link.link.target_keys, strict=True)
    conditions = [f"{far}.{dialect.identifier(there)} = {member}.{dialect.identifier(here)}" for here, there in pairs]
    as_of = link.link.as_of
    if as_of is not None:
        date = f"{member}.{dialect.identifier(as_of.date)}"
        start = f"{far}.{dialect.identifier(as_of.valid_from)}"
        later = f"{far}.{dialect.identifier(names.SUPERSEDED_FROM)}"
        in_force = f"{start} <= {date} AND ({later} IS NULL OR {date} < {later})"
        if as_of.valid_to:
            end = f"{far}.{dialect.identifier(as_of.valid_to)}"
            in_force += f" AND ({end} IS NULL OR {date} < {end})"
        conditions.append(f"({start} IS NULL OR ({in_force}))")
    return " AND ".join(conditions)


def can_match(link: LinkPlan, member: str, dialect: Dialect) -> str:
    """Whether all that decides which rows belong to a member is known of it: its keys, and its date."""
    known = [*link.link.source_keys, *([link.link.as_of.date] if link.link.as_of is not None else [])]
    return " AND ".join(f"{member}.{dialect.identifier(name)} IS NOT NULL" for name in dict.fromkeys(known))


def superseded(link: LinkPlan, member: str, far: str, dialect: Dialect) -> str:
    """Whether a far row of the member's keys stood in an earlier restatement of its schedule."""
    as_of = link.link.as_of
    if as_of is None:
        raise LookupError(f"link {link.link.name} has no effective dates")
    pairs = zip(link.link.source_keys, link.link.target_keys, strict=True)
    conditions = [f"{far}.{dialect.identifier(there)} = {member}.{dialect.identifier(here)}" for here, there in pairs]
    date = f"{member}.{dialect.identifier(as_of.date)}"
    conditions.append(f"{far}.{dialect.identifier(names.SUPERSEDED_FROM)} <= {date}")
    return " AND ".join(conditions)
