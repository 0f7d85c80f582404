"""How often a row of a governed view stands in what a query reads and puts out."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from catalog.contract import Contract
from catalog.referee.aggregates import (
    branches,
    holds_aggregate,
    is_grouped,
    is_picking,
    leaves,
    output_names,
    output_of,
    own_nodes,
)
from catalog.referee.join_graph import JoinGraph, Place, conjuncts, join_graph, literal_of
from catalog.referee.lineage import Source, object_of, sources

Keys = tuple[frozenset[str], ...]
"""Sets of columns, each of which tells the rows of a relation apart."""


@dataclass(frozen=True, slots=True)
class Grain:
    """Answers for the queries of one statement, each worked out once."""

    contract: Contract
    _graphs: dict[int, JoinGraph] = field(default_factory=dict)
    _keys: dict[int, Keys] = field(default_factory=dict)
    _once: dict[tuple[int, str], bool] = field(default_factory=dict)

    def graph(self, scope: Scope) -> JoinGraph:
        """The join graph of a scope's SELECT."""
        place = id(scope.expression)
        if place not in self._graphs:
            self._graphs[place] = join_graph(scope)
        return self._graphs[place]

    def repeater(self, graph: JoinGraph, alias: str) -> str | None:
        """The alias of whose rows one row of `alias` may meet several; None where it stands there once."""
        seen, waiting = {alias}, [alias]
        while waiting:
            here = waiting.pop()
            for edge in graph.edges_of(here):
                there, columns = edge.other(here)
                if there in seen:
                    continue
                known = columns | {column for name, column in graph.fixed if name == there}
                if not any(key <= known for key in self.keys(graph.sources[there])):
                    return there
                seen.add(there)
                waiting.append(there)
        return None

    def reach(self, graph: JoinGraph, alias: str) -> set[str]:
        """The aliases of which one row of `alias` meets at most one row each, itself among them."""
        seen, waiting = {alias}, [alias]
        while waiting:
            here = waiting.pop()
            for edge in graph.edges_of(here):
                there, columns = edge.other(here)
                if there not in seen and any(key <= columns for key in self.keys(graph.sources[there])):
                    seen.add(there)
                    waiting.append(there)
        return seen

    def keys(self, source: Source) -> Keys:
        """What tells the rows of a relation apart; nothing where that cannot be told."""
        if isinstance(source, exp.Table):
            return self._view_keys(source)
        place = id(source.expression)
        if place not in self._keys:
            self._keys[place] = ()
            self._keys[place] = self._query_keys(source)
        return self._keys[place]

    def once(self, source: Source, column: str) -> bool:
        """Whether the rows of a relation hold each value of a column as often as the rows that it comes from do."""
        if isinstance(source, exp.Table):
            return True
        place = (id(source.expression), column.lower())
        if place not in self._once:
            self._once[place] = self._is_once(source, column)
        return self._once[place]

    def rows_once(self, source: Source) -> bool:
        """Whether the rows of a relation are the rows of something, each once."""
        if isinstance(source, exp.Table):
            return True
        place = (id(source.expression), "*")
        if place not in self._once:
            self._once[place] = self._are_rows(source)
        return self._once[place]

    def value_once(self, scope: Scope, value: exp.Expr) -> str | bool:
        """Whether each value enters an aggregate of a scope once; else the alias that repeats it, or False."""
        graph = self.graph(scope)
        found = list(leaves(value))
        if not found:
            return self.joined_rows_once(scope)
        aliases: set[str] = set()
        for leaf in found:
            if isinstance(leaf, exp.Query):
                met = [column for column in leaf.find_all(exp.Column) if column.table in graph.sources]
                # A figure is taken as often as rows ask for it: once, where what they ask by tells them apart.
                if not self._tell_apart(graph, met):
                    return False
                aliases |= {column.table for column in met}
            elif leaf.table not in graph.sources or not self.once(graph.sources[leaf.table], leaf.name):
                return False
            else:
                aliases.add(leaf.table)
        repeaters = (self.repeater(graph, alias) for alias in sorted(aliases))
        return next((found for found in repeaters if found is not None), True)

    def _tell_apart(self, graph: JoinGraph, columns: list[exp.Column]) -> bool:
        """Whether columns are of one relation, and tell its rows apart."""
        aliases = {column.table for column in columns}
        if len(aliases) != 1:
            return False
        (alias,) = aliases
        known = {column.name.lower() for column in columns} | {name for there, name in graph.fixed if there == alias}
        return any(key <= known for key in self.keys(graph.sources[alias]))

    def joined_rows_once(self, scope: Scope) -> bool:
        """Whether what a SELECT reads are the rows of one of its relations, each once and with none put in."""
        graph = self.graph(scope)
        return any(
            alias not in graph.nullable and self.rows_once(source) and self.repeater(graph, alias) is None
            for alias, source in graph.sources.items()
        )

    def _view_keys(self, table: exp.Table) -> Keys:
        item = object_of(table, self.contract)
        if item is None:
            return ()
        found = [item.primary_key]
        for link in self.contract.link_types:
            if link.as_of is not None:
                continue
            if link.target == item.name and link.cardinality.is_to_one:
                found.append(link.target_keys)
            if link.source == item.name and link.cardinality.value in ("one_to_one", "one_to_many"):
                found.append(link.source_keys)
        return tuple({frozenset(name.lower() for name in names): None for names in found})

    def _query_keys(self, scope: Scope) -> Keys:
        query = scope.expression
        if isinstance(query, exp.SetOperation):
            folded = (frozenset(output_names(query)),) if query.args.get("distinct") else ()
            # What EXCEPT and INTERSECT leave are rows of the first side, with their copies if ALL is said.
            first = scope.set_operation_scopes[:1] if not isinstance(query, exp.Union) else []
            return (*folded, *(key for side in first for key in self.keys(side)))
        if not isinstance(query, exp.Select):
            return ()
        found = list(self._select_keys(scope, query))
        distinct = query.args.get("distinct")
        if distinct is not None and not distinct.args.get("on"):
            found.append(frozenset(output_names(query)))
        limit = query.args.get("limit")
        if limit is not None and limit.expression.name in ("0", "1"):
            found.append(frozenset())
        return tuple(dict.fromkeys(found))

    def _select_keys(self, scope: Scope, query: exp.Select) -> list[frozenset[str]]:
        graph = self.graph(scope)
        outputs = _places(query)
        if is_grouped(query):
            group = query.args.get("group")
            names = [_named(term, query, graph, outputs) for term in (group.expressions if group else [])]
            return [frozenset(name for name in names if name)] if all(name is not None for name in names) else []
        found = []
        for alias, source in graph.sources.items():
            if self.repeater(graph, alias) is None:
                for key in self.keys(source):
                    placed = [_name(graph, outputs, (alias, column)) for column in key]
                    if all(name is not None for name in placed):
                        found.append(frozenset(name for name in placed if name))
        return found

    def _is_once(self, source: Scope, column: str) -> bool:
        query = source.expression
        if isinstance(query, exp.SetOperation):
            return self._set_once(source, query, column)
        value = output_of(query, column)
        return value is not None and isinstance(query, exp.Select) and self._output_once(source, query, value)

    def _output_once(self, scope: Scope, query: exp.Select, value: exp.Expr) -> bool:
        windows = value.find_all(exp.Window)
        if any(holds_aggregate(window.this) for window in windows):
            return False  # The total of a window stands in each of its rows.
        distinct = query.args.get("distinct")
        if is_grouped(query):
            if distinct is not None and not self._select_keys(scope, query):
                return False
            group = query.args.get("group")
            if holds_aggregate(value):
                return self.extremes_once(scope, value)
            return group is not None and self._kept(scope, value, group.expressions)
        if distinct is not None and not self._select_keys(scope, query):
            return not distinct.args.get("on") and self._kept(scope, value, [part.unalias() for part in query.selects])
        return self.value_once(scope, value) is True

    def extremes_once(self, scope: Scope, value: exp.Expr) -> bool:
        """Whether no row gives an extreme to several groups of a SELECT, so that extremes may be added up."""
        graph, group = self.graph(scope), scope.expression.args.get("group")
        used = {column.table for term in (group.expressions if group else ()) for column in term.find_all(exp.Column)}
        for extreme in (node for node in own_nodes(value) if is_picking(node)):
            for leaf in leaves(extreme):
                if not isinstance(leaf, exp.Column) or (source := graph.sources.get(leaf.table)) is None:
                    return False
                if not self.once(source, leaf.name) or not used <= self.reach(graph, leaf.table):
                    return False
        return True

    def _kept(self, scope: Scope, value: exp.Expr, terms: list[exp.Expr]) -> bool:
        """Whether rows that are folded by `terms` hold a value once for each row that it comes from."""
        graph = self.graph(scope)
        homes = {leaf.table if isinstance(leaf, exp.Column) else "" for leaf in leaves(value)}
        if len(homes) != 1 or (home := homes.pop()) not in graph.sources:
            return False
        named = {
            place
            for term in terms
            if isinstance(inner := term.unnest(), exp.Column)
            for place in graph.same_as((inner.table, inner.name.lower()))
        }
        columns = {column for alias, column in named if alias == home}
        used = {column.table for term in terms for column in term.find_all(exp.Column)}
        reached = self.reach(graph, home)
        return (
            any(key <= columns for key in self.keys(graph.sources[home]))
            and all(alias in reached or self._is_named(graph, named, alias, home, terms) for alias in used)
            and all(self.once(graph.sources[home], leaf.name) for leaf in leaves(value) if isinstance(leaf, exp.Column))
        )

    def _is_named(self, graph: JoinGraph, named: set[Place], alias: str, home: str, terms: list[exp.Expr]) -> bool:
        """Whether all that `terms` take of an alias are columns that joins hold equal to columns of `home`."""
        return all(
            any(name == home for name, _ in graph.same_as((alias, column.name.lower())))
            for term in terms
            for column in term.find_all(exp.Column)
            if column.table == alias
        )

    def _set_once(self, source: Scope, query: exp.SetOperation, column: str) -> bool:
        names = output_names(query)
        if query.args.get("by_name") or names.count(column.lower()) != 1 or len(source.set_operation_scopes) != 2:
            return False
        place = names.index(column.lower())
        sides = source.set_operation_scopes if isinstance(query, exp.Union) else source.set_operation_scopes[:1]
        for side in sides:
            listed = output_names(side.expression)
            if len(listed) != len(names) or not self.once(side, listed[place]):
                return False
        if not isinstance(query, exp.Union):
            # What is left are rows of the first side; without ALL, equal ones are folded.
            return not query.args.get("distinct") or bool(self.keys(sides[0]))
        parts = branches(source)
        if not query.args.get("distinct"):
            return self.are_apart(parts)
        keyed = all(self.keys(side) for side in sides)
        same = len({view for part in parts for view in self.views(part)}) == 1
        return keyed and same and len({_columns(part.expression) for part in parts} - {()}) == 1

    def _are_rows(self, source: Scope) -> bool:
        query = source.expression
        if isinstance(query, exp.SetOperation):
            if query.args.get("distinct"):
                return True
            if not isinstance(query, exp.Union):
                return all(self.rows_once(side) for side in source.set_operation_scopes[:1])
            parts = branches(source)
            return all(self.rows_once(part) for part in parts) and self.are_apart(parts)
        if not isinstance(query, exp.Select):
            return False
        return is_grouped(query) or bool(query.args.get("distinct")) or self.joined_rows_once(source)

    def are_apart(self, parts: list[Scope]) -> bool:
        """Whether no row of a view can stand in two of these SELECTs."""
        return all(self._apart(first, second) for place, first in enumerate(parts) for second in parts[place + 1 :])

    def _apart(self, first: Scope, second: Scope) -> bool:
        if not self.views(first) & self.views(second):
            return True
        one, other = self._literals(first), self._literals(second)
        return any(not one[place] & other[place] for place in one.keys() & other.keys())

    def _literals(self, scope: Scope) -> dict[tuple[str, str], set[str]]:
        """The only values that a SELECT over one view takes of a column, where its filter lists them."""
        known = sources(scope)
        where = scope.expression.args.get("where")
        if len(known) != 1 or where is None:
            return {}
        (table,) = known.values()
        if not isinstance(table, exp.Table):
            return {}
        found: dict[tuple[str, str], set[str]] = {}
        for part in conjuncts(where.this):
            if (listed := listed_literals(part)) is not None:
                column, values = listed
                place = (table.name.lower(), column.name.lower())
                found[place] = found[place] & values if place in found else values
        return found

    def views(self, source: Source) -> frozenset[str]:
        """The views behind a relation's FROM."""
        if isinstance(source, exp.Table):
            return frozenset({f"{source.db}.{source.name}".lower()})
        parts = branches(source)
        return frozenset(view for part in parts for inner in sources(part).values() for view in self.views(inner))


def listed_literals(part: exp.Expr) -> tuple[exp.Column, set[str]] | None:
    """The column that a condition holds to literals, by `=` or `IN`, and those literals."""
    if isinstance(part, exp.EQ):
        for column, value in ((part.left.unnest(), part.right), (part.right.unnest(), part.left)):
            literal = literal_of(value)
            if isinstance(column, exp.Column) and literal is not None:
                return column, {literal}
    if isinstance(part, exp.In) and isinstance(column := part.this.unnest(), exp.Column):
        values = [literal_of(value) for value in part.expressions]
        if values and all(value is not None for value in values) and not part.args.get("query"):
            return column, {value for value in values if value is not None}
    return None


def _columns(query: exp.Expr) -> tuple[str, ...]:
    """The columns that a SELECT puts out, by their own names; each value that is worked out is like no other."""
    selects = query.selects if isinstance(query, exp.Select) else []
    inner = [part.unalias().unnest() for part in selects]
    return tuple(part.name.lower() if isinstance(part, exp.Column) else f"{id(part)}" for part in inner)


def _places(query: exp.Select) -> dict[Place, str]:
    """The names under which a SELECT puts out columns as they stand."""
    found: dict[Place, str] = {}
    for part in query.selects:
        inner = part.unalias().unnest()
        if isinstance(inner, exp.Column):
            found.setdefault((inner.table, inner.name.lower()), part.alias_or_name.lower())
    return found


def _name(graph: JoinGraph, outputs: dict[Place, str], place: Place) -> str | None:
    """Under which name a column is put out; empty where it needs none, since it is the same in every row."""
    if place in graph.fixed:
        return ""
    return next((outputs[same] for same in graph.same_as(place) if same in outputs), None)


def _named(term: exp.Expr, query: exp.Select, graph: JoinGraph, outputs: dict[Place, str]) -> str | None:
    inner = term.unnest()
    if isinstance(inner, exp.Column):
        return _name(graph, outputs, (inner.table, inner.name.lower()))
    found = (part.alias_or_name.lower() for part in query.selects if part.unalias().unnest() == inner)
    return next(found, None)
