"""The three queries of a monitor, as text before certification."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from catalog.expressions.printing import print_operand
from catalog.expressions.tree import Comparing, Condition, Exists, LinkCount, PropertyRef
from catalog.expressions.walking import atom_links
from compiler import names
from compiler.compiled import OutputColumn, Role
from compiler.decisions import Decisions
from compiler.dialects.dialect import Dialect
from compiler.facts import Facts
from compiler.plan import LinkPlan, MonitorPlan, RelationPlan, conditions_of
from compiler.predicates import comparisons_with_parents
from compiler.pruning import Relation, Selection, select, with_clause
from compiler.reasons import Reasons, member_reason
from compiler.relations import member_columns, relation_names, relations_of
from trivet.verdicts import Reason

SCOPE_UNKNOWN = "scope unknown"
_STALE = "source stale"


@dataclass(frozen=True, slots=True)
class MemberSelect:
    """A SELECT with one row per member, and the meaning of its columns."""

    sql: str
    columns: tuple[OutputColumn, ...]


class Queries:
    """Writes the queries of one plan."""

    def __init__(self, plan: MonitorPlan, dialect: Dialect, members: Sequence[Relation] = ()) -> None:
        """`members` are the relations of the members, where these are groups."""
        self._plan = plan
        self._dialect = dialect
        self._facts = Facts(plan, dialect)
        self._decisions = Decisions(self._facts)
        self._reasons = Reasons(plan, dialect, self._facts, self._decisions.predicates)
        self._names = relation_names(plan)
        self._source = "counted" if plan.counted else plan.member.relation
        facts = self._facts.selections()
        compared = self._members("compared", None, facts, source=self._source, kept=())
        self._relations = [*relations_of(plan, dialect, members), compared]

    def breach(self) -> MemberSelect:
        """The members whose condition is decided and true, with the row that decided."""
        flagged = self._members("breached", self._decisions.breach(), [(self._decisions.partial(), Role.PARTIAL)])
        columns = [*self._keys(), *self._operands(), self._role_column(Role.PARTIAL), *self._provenance()]
        return self._member_select([flagged], "breached", columns)

    def no_data(self) -> MemberSelect:
        """The members that cannot be decided, with reason and causes: the complement."""
        extra = [(self._decisions.scope_unknown(), SCOPE_UNKNOWN)] if self._where else []
        undecided = self._members("undecided", self._decisions.undecided(), extra)
        reasons = self._counted_reasons()
        facts = [name for _, name in self._facts.selections()]
        kept = [*facts, *(name for _, name in extra)]
        explained = self._members("explained", None, reasons, source="undecided", kept=kept)
        reason_columns = [f"m.{self._dialect.identifier(name)}" for _, name in reasons]
        reason = member_reason(reason_columns, grouped=self._plan.is_grouped)
        if self._where:
            unknown = f"m.{self._dialect.identifier(SCOPE_UNKNOWN)}"
            reason = f"CASE WHEN {unknown} THEN '{self._plan.scope_reason}' ELSE {reason} END"
        columns = [
            *self._keys(),
            (reason, OutputColumn(Role.REASON, "reason")),
            *self._causes(),
            *self._operands(),
            *self._provenance(),
        ]
        return self._member_select([undecided, explained], "explained", columns)

    def others(self) -> MemberSelect:
        """The members that do not breach, undecided or not: all that a source that is too old says nothing about."""
        every = f"({self._decisions.undecided()} OR {self._decisions.compliant()})"
        found = self._members("undecided", every, [(f"'{Reason.SOURCE_STALE}'", _STALE)])
        reason = (f"m.{self._dialect.identifier(_STALE)}", OutputColumn(Role.REASON, "reason"))
        columns = [*self._keys(), reason, *self._operands(), *self._provenance()]
        return self._member_select([found], "undecided", columns)

    def population(self) -> str:
        """Every member counted by its own predicates, so that the partition law can be checked.

        `unaccounted` counts the members for which not exactly one of the three holds.
        """
        verdicts = [
            (self._decisions.breach(), "breach"),
            (self._decisions.undecided(), "no_data"),
            (self._decisions.compliant(), "compliant"),
        ]
        named = [names.UNEXPECTED] if self._plan.is_grouped else self._key_names
        kept = [(f"m.{self._dialect.identifier(name)}", name) for name in named]
        selections = [*kept, *verdicts, (self._decisions.partial(), "partial")]
        where = f" WHERE NOT {self._decisions.outside()}" if self._where else ""
        judged = Relation(self._names["judged"], tuple(selections), f"{self._names['compared']} AS m{where}")
        number = " + ".join(f"CAST({self._judged(name)} AS INTEGER)" for _, name in verdicts)
        repeated, duplicate_keys = self._duplicate_keys(judged.name)
        counts = [
            ("COUNT(*)", "population"),
            (f"COUNT(*) FILTER (WHERE {self._judged('compliant')})", "compliant"),
            (f"COUNT(*) FILTER (WHERE {self._judged('partial')} AND NOT {self._judged('no_data')})", "partial"),
            (f"COUNT(*) FILTER (WHERE ({number}) IS DISTINCT FROM 1)", "unaccounted"),
            (duplicate_keys, "duplicate_keys"),
        ]
        if self._plan.is_grouped:
            counts.append((f"COUNT(*) FILTER (WHERE {self._judged(names.UNEXPECTED)})", "unexpected"))
        body = f"{select(counts, self._dialect)} FROM {judged.name} AS j"
        return with_clause([*self._relations, judged, *repeated], body, self._dialect)

    def _duplicate_keys(self, judged: str) -> tuple[list[Relation], str]:
        """The relation of keys that repeat, and the count of these and of rows without one."""
        if self._plan.is_grouped:
            return [], "0"
        key_columns = [self._judged(name) for name in self._key_names]
        no_key = " OR ".join(f"{key} IS NULL" for key in key_columns)
        has_key = " AND ".join(f"{key} IS NOT NULL" for key in key_columns)
        grouped = f"{judged} AS j WHERE {has_key} GROUP BY {', '.join(key_columns)} HAVING COUNT(*) > 1"
        repeated = Relation(self._names["repeated"], ((key_columns[0], self._key_names[0]),), grouped)
        return [repeated], f"COUNT(*) FILTER (WHERE {no_key}) + (SELECT COUNT(*) FROM {repeated.name} AS k)"

    def _judged(self, name: str) -> str:
        return f"j.{self._dialect.identifier(name)}"

    @property
    def _where(self) -> bool:
        return self._plan.definition.where is not None

    @property
    def _key_names(self) -> tuple[str, ...]:
        return self._plan.scope.object_type.primary_key

    def _counted_reasons(self) -> list[Selection]:
        counted = self._reasons.counted(self._plan.definition.breach_when)
        return [
            (
                f"CASE WHEN {counts} THEN {self._reasons.reason(atom)} END" if counts else self._reasons.reason(atom),
                f"reason {index}",
            )
            for index, (atom, counts) in enumerate(counted, start=1)
        ]

    def _causes(self) -> list[tuple[str, OutputColumn]]:
        found = self._causes_of(self._plan.definition.breach_when, negated=True)
        where = self._plan.definition.where
        return found + (self._causes_of(where, negated=False) if where is not None else [])

    def _causes_of(self, condition: Condition, *, negated: bool) -> list[tuple[str, OutputColumn]]:
        """Cause columns of one condition, NULL where its comparisons do not count."""
        scope = []
        if self._where:
            scope = [f"{'NOT ' if negated else ''}m.{self._dialect.identifier(SCOPE_UNKNOWN)}"]
        found = []
        for atom, counts in self._reasons.counted(condition):
            tests = scope + ([counts] if counts else [])
            for column in self._reasons.causes(atom):
                cause = column.expression
                counted = f"CASE WHEN {' AND '.join(tests)} THEN {cause} END" if tests else cause
                found.append((counted, OutputColumn(Role.CAUSES, column.operand)))
        return found

    def _keys(self) -> list[tuple[str, OutputColumn]]:
        return [
            (
                f"m.{self._dialect.identifier(names.shown(name))}",
                OutputColumn(Role.KEY, name, masked=self._is_masked(PropertyRef(name))),
            )
            for name in self._key_names
        ]

    def _operands(self) -> list[tuple[str, OutputColumn]]:
        found = []
        for operand in self._plan.operands:
            masked = isinstance(operand, PropertyRef) and self._is_masked(operand)
            named = OutputColumn(Role.OPERAND, print_operand(operand), masked=masked)
            if isinstance(operand, LinkCount):
                count = f"m.{self._dialect.identifier(names.count(operand.link))}"
                found.append((self._dialect.as_text(count), named))
                continue
            alias = "m" if operand.link is None else self._deciding_alias(operand.link)
            found.append((f"{alias}.{self._dialect.identifier(names.shown(operand.name))}", named))
        return found

    def _is_masked(self, ref: PropertyRef) -> bool:
        return self._plan.scope.resolve(ref).masked

    def _provenance(self) -> list[tuple[str, OutputColumn]]:
        rows = [("m", self._plan.member, self._plan.scope.object_type.name)]
        rows += [(self._deciding_alias(link.link.name), link.far, link.link.name) for link in self._plan.links]
        return [
            (
                f"{alias}.{self._dialect.identifier(names.provenance(part))}",
                OutputColumn(Role.PROVENANCE, part, source=source),
            )
            for alias, relation, source in rows
            for part, _ in relation.object_type.provenance.named()
        ]

    def _role_column(self, role: Role) -> tuple[str, OutputColumn]:
        return f"m.{self._dialect.identifier(role)}", OutputColumn(role, role)

    def _members(
        self,
        name: str,
        where: str | None,
        extra: Sequence[tuple[str, str]],
        *,
        source: str = "compared",
        kept: Iterable[str] | None = None,
    ) -> Relation:
        """A relation of whole member rows, narrowed or with columns added; facts are kept unless told otherwise."""
        facts = [fact for _, fact in self._facts.selections()]
        columns = [*member_columns(self._plan), *(facts if kept is None else kept)]
        selections = [(f"m.{self._dialect.identifier(column)}", column) for column in columns]
        selections += list(extra)
        condition = f" WHERE {where}" if where else ""
        return Relation(self._names[name], tuple(selections), f"{self._names[source]} AS m{condition}")

    def _member_select(
        self, relations: list[Relation], source: str, columns: list[tuple[str, OutputColumn]]
    ) -> MemberSelect:
        named = _distinct_names([column for _, column in columns])
        selections = [(expression, name) for (expression, _), name in zip(columns, named, strict=True)]
        joins = " ".join(self._deciding_row(link) for link in self._plan.links)
        keys = [f"m.{self._dialect.identifier(name)} NULLS FIRST" for name in self._key_names]
        shown = [item for item in columns if item[1].role is not Role.CAUSES and not item[1].masked]
        rest = [f"{expression} NULLS FIRST" for expression, _ in shown]
        order = ", ".join(dict.fromkeys([*keys, *rest]))
        body = f"{select(selections, self._dialect)} FROM {self._names[source]} AS m {joins} ORDER BY {order}"
        sql = with_clause([*self._relations, *relations], body, self._dialect)
        return MemberSelect(sql, tuple(column for _, column in columns))

    def _deciding_alias(self, link: str) -> str:
        return f"d{[item.link.name for item in self._plan.links].index(link) + 1}"

    def _deciding_row(self, link: LinkPlan) -> str:
        """The linked row that is shown beside a member: the one that decided, if one did."""
        alias = self._facts.alias(link)
        atom = self._first_comparison(link)
        order = []
        if atom is not None and len(atom_links(atom)) == 1:
            truth = self._facts.row_truth(atom)
            order += [f"({truth}) IS NULL", f"({truth}) DESC"]
            chosen = self._facts.rows().deciding_operand(atom, link.link.name)
            if chosen is not None:
                operand, highest = chosen
                order.append(f"{operand} {'DESC' if highest else 'ASC'} NULLS LAST")
        elif atom is None and link.link.as_of is not None:
            order.append(f"{alias}.{self._dialect.identifier(names.USABLE)} DESC")
        shown = [*_shown_columns(link.far)]
        keys = link.far.object_type.primary_key
        order += [f"{alias}.{self._dialect.identifier(name)} NULLS LAST" for name in keys]
        order += [f"{alias}.{self._dialect.identifier(name)} NULLS LAST" for name in shown]
        selections = [(f"{alias}.{self._dialect.identifier(name)}", name) for name in shown]
        source = self._facts.source([link])
        lateral = f"{select(selections, self._dialect)} {source} ORDER BY {', '.join(order)} LIMIT 1"
        return f"LEFT JOIN LATERAL ({lateral}) AS {self._deciding_alias(link.link.name)} ON TRUE"

    def _first_comparison(self, link: LinkPlan) -> Comparing | None:
        for condition in conditions_of(self._plan.definition):
            for atom, _ in comparisons_with_parents(condition):
                if not isinstance(atom, Exists) and link.link.name in atom_links(atom):
                    return atom
        return None


def _shown_columns(relation: RelationPlan) -> list[str]:
    provenance = [names.provenance(part) for part, _ in relation.object_type.provenance.named()]
    return [names.shown(item.name) for item in relation.properties] + provenance


def _distinct_names(columns: Sequence[OutputColumn]) -> list[str]:
    """A readable name for each column of the result; the roles, not the names, are read back."""
    given: dict[str, int] = {}
    result = []
    for column in columns:
        match column.role:
            case Role.CAUSES:
                name = f"causes of {column.name}"
            case Role.PROVENANCE:
                name = f"{column.source} source {column.name}"
            case Role.KEY | Role.OPERAND | Role.PARTIAL | Role.REASON:
                name = column.name
        given[name] = given.get(name, 0) + 1
        result.append(name if given[name] == 1 else f"{name} ({given[name]})")
    return result
