"""Queries by which a contract is held against the data itself: do its links meet, and are its keys keys?

They stand on the same relations as compiled monitors, so that a key is read here as it is read there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from catalog.contract import Cardinality, Contract, Domain, LinkType, ObjectType
from catalog.expressions.checking import Scope
from catalog.expressions.tree import And, Condition, Presence, PropertyRef
from catalog.referee.certified import CertifiedQuery, Purpose
from catalog.referee.certify import certified_or_fault
from compiler import names
from compiler.dialects.dialect import Dialect
from compiler.dialects.duckdb_dialect import DuckDBDialect
from compiler.facts import conjunction, disjunction
from compiler.plan import LinkPlan, MonitorPlan, PhysicalColumns, plan_monitor
from compiler.pruning import Relation, select, with_clause
from compiler.relations import matches, relation_names, relations_of
from monitors.definition import MonitorDefinition

_LINKED = "linked"
_REPEATED = "repeated"
_VALUES = "spelt"
_DOMAIN = "domain"
_STRANGE = "strange"


@dataclass(frozen=True, slots=True)
class LiveQueries:
    """Writes the queries of one contract over one snapshot's columns."""

    contract: Contract
    physical: PhysicalColumns
    dialect: Dialect

    def link(self, link: LinkType) -> CertifiedQuery:
        """One row: the near side's rows, those with a whole key, those whose key meets, and those that meet in time."""
        plan = self._plan(link.source, [PropertyRef(name, link.name) for name in link.target_keys])
        found = plan.link(link.name)
        spelled = relation_names(plan)
        far = f"{spelled[found.far.relation]} AS r"
        keyed = conjunction(f"{self._column('m', name)} IS NOT NULL" for name in link.source_keys)
        meets = conjunction(
            f"{self._column('r', there)} = {self._column('m', here)}"
            for here, there in zip(link.source_keys, link.target_keys, strict=True)
        )
        selections = (
            (f"({keyed})", "keyed"),
            (f"EXISTS (SELECT 1 FROM {far} WHERE {meets})", "met"),
            (f"EXISTS (SELECT 1 FROM {far} WHERE {self._matches(found)})", "matched"),
        )
        linked = Relation(self._free(plan, _LINKED), selections, f"{spelled[plan.member.relation]} AS m")
        counts = [("COUNT(*)", "rows")]
        counts += [(f"COUNT(*) FILTER (WHERE {self._column('l', name)})", name) for _, name in selections]
        body = f"{select(counts, self.dialect)} FROM {linked.name} AS l"
        return self._certified([*relations_of(plan, self.dialect), linked], body)

    def keys(self, of: ObjectType, key: Sequence[str]) -> CertifiedQuery:
        """One row: the rows of a view, and those of them in which a part of the key is indeterminate."""
        plan = self._plan(of.name, [PropertyRef(name) for name in key])
        unkeyed = disjunction(f"{self._column('m', name)} IS NULL" for name in key)
        counts = [("COUNT(*)", "rows"), (f"COUNT(*) FILTER (WHERE {unkeyed})", "unkeyed")]
        body = f"{select(counts, self.dialect)} FROM {self._member(plan)} AS m"
        return self._certified(relations_of(plan, self.dialect), body)

    def repeated(self, of: ObjectType, key: Sequence[str], most: int) -> CertifiedQuery:
        """The keys that stand in the most rows, at most `most` of them: the parts, their rows, and how many repeat."""
        plan = self._plan(of.name, [PropertyRef(name) for name in key])
        columns = [self._column("m", name) for name in key]
        shown = [f"MIN({self._column('m', names.shown(name))})" for name in key]
        parts = [f"part {index}" for index, _ in enumerate(key, start=1)]
        keyed = conjunction(f"{column} IS NOT NULL" for column in columns)
        source = f"{self._member(plan)} AS m WHERE {keyed} GROUP BY {', '.join(columns)} HAVING COUNT(*) > 1"
        selections = (*zip(shown, parts, strict=True), ("COUNT(*)", "rows"))
        repeated = Relation(self._free(plan, _REPEATED), selections, source)
        output = [(self._column("k", name), name) for name in (*parts, "rows")] + [("COUNT(*) OVER ()", "keys")]
        order = ", ".join([f"{self._column('k', 'rows')} DESC", *(self._column("k", name) for name in parts)])
        body = f"{select(output, self.dialect)} FROM {repeated.name} AS k ORDER BY {order} LIMIT {most}"
        return self._certified([*relations_of(plan, self.dialect), repeated], body)

    def values(self, of: ObjectType, name: str, most: int) -> CertifiedQuery:
        """The distinct texts of a property with their causes, in order, at most `most` of them."""
        plan = self._plan(of.name, [PropertyRef(name)])
        selections = [
            (self._column("m", names.shown(name)), "text"),
            (self._column("m", names.cause(name)), "cause"),
        ]
        keys = ", ".join(expression for expression, _ in selections)
        source = f"{self._member(plan)} AS m GROUP BY {keys}"
        spelt = Relation(self._free(plan, _VALUES), tuple(selections), source)
        output = [(self._column("v", column), column) for column in ("text", "cause")]
        order = ", ".join(f"{expression} NULLS FIRST" for expression, _ in output)
        body = f"{select(output, self.dialect)} FROM {spelt.name} AS v ORDER BY {order} LIMIT {most}"
        return self._certified([*relations_of(plan, self.dialect), spelt], body)

    def outside(self, of: ObjectType, name: str, domain: Domain, most: int) -> CertifiedQuery:
        """The values of a property that its domain does not hold, those of the most rows first, at most `most` of them.

        Columns: the value, its rows, how many such values there are, and how many rows they stand in.
        """
        link = LinkType(_DOMAIN, of.name, (name,), domain.object, (domain.property,), Cardinality.MANY_TO_MANY)
        return replace(self, contract=replace(self.contract, link_types=(link,)))._outside(of, name, domain, most)

    def _outside(self, of: ObjectType, name: str, domain: Domain, most: int) -> CertifiedQuery:
        plan = self._plan(of.name, [PropertyRef(domain.property, _DOMAIN)])
        spelled = relation_names(plan)
        far = f"{spelled[plan.link(_DOMAIN).far.relation]} AS r"
        value = self._column("m", name)
        held = f"EXISTS (SELECT 1 FROM {far} WHERE {self._column('r', domain.property)} = {value})"
        source = f"{self._member(plan)} AS m WHERE {value} IS NOT NULL AND NOT {held} GROUP BY {value}"
        strange = Relation(self._free(plan, _STRANGE), ((value, "value"), ("COUNT(*)", "rows")), source)
        output = [(self._column("s", "value"), "value"), (self._column("s", "rows"), "rows")]
        output += [("COUNT(*) OVER ()", "values"), (f"SUM({self._column('s', 'rows')}) OVER ()", "all rows")]
        order = f"{self._column('s', 'rows')} DESC, {self._column('s', 'value')}"
        body = f"{select(output, self.dialect)} FROM {strange.name} AS s ORDER BY {order} LIMIT {most}"
        return self._certified([*relations_of(plan, self.dialect), strange], body)

    def _plan(self, object_name: str, read: Sequence[PropertyRef]) -> MonitorPlan:
        """The plan of a condition that names nothing but these properties; only its relations are used."""
        tests: list[Condition] = [Presence(ref, present=True) for ref in read]
        condition = tests[0] if len(tests) == 1 else And(tuple(tests))
        object_type = self.contract.object_type(object_name)
        if object_type is None:
            raise LookupError(f"the contract has no object type {object_name}")
        definition = MonitorDefinition(id="live", object=object_name, breach_when=condition)
        return plan_monitor(definition, Scope(self.contract, object_type), self.physical)

    def _matches(self, link: LinkPlan) -> str:
        return matches(link, "m", "r", self.dialect)

    def _member(self, plan: MonitorPlan) -> str:
        return relation_names(plan)[plan.member.relation]

    def _free(self, plan: MonitorPlan, wanted: str) -> str:
        taken = {item.view.rpartition(".")[2] for item in self.contract.object_types}
        return names.free_relation(wanted, taken | {relation.name for relation in relations_of(plan, self.dialect)})

    def _column(self, alias: str, name: str) -> str:
        return f"{alias}.{self.dialect.identifier(name)}"

    def _certified(self, relations: Sequence[Relation], body: str) -> CertifiedQuery:
        sql = with_clause(relations, body, self.dialect)
        return certified_or_fault(sql, self.contract, Purpose.MONITOR, self.dialect.name)


def live_queries(contract: Contract, physical: PhysicalColumns, dialect: Dialect | None = None) -> LiveQueries:
    """The queries of a contract, for the engine that monitors compile to unless another dialect is given."""
    return LiveQueries(contract, physical, dialect or DuckDBDialect())
