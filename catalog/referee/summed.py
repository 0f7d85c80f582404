"""What a SUM adds up at bottom, through whatever hands it on, and which keys are the same in all of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from catalog.contract import ObjectType
from catalog.referee.aggregates import branches, leaves, output_names, output_of
from catalog.referee.grain import Grain
from catalog.referee.join_graph import Place, conjuncts, held
from catalog.referee.lineage import Source, object_of, origin


@dataclass(frozen=True, slots=True)
class Added:
    """A property whose values are added up."""

    object_type: ObjectType
    column: str
    """In lower case."""
    held: frozenset[str]
    """Columns of the object type, in lower case, that have one value in all that is added up."""


@dataclass(frozen=True, slots=True)
class Sums:
    """Answers for one statement."""

    grain: Grain
    _handed: dict[tuple[int, str], frozenset[Added]] = field(default_factory=dict)
    """What a column of a query adds up; else a chain of queries takes twice as long for each."""

    def added(self, scope: Scope, aggregate: exp.Expr) -> Iterator[Added]:
        """The properties that an aggregate adds up, with what its groups, its window and filters hold."""
        places = set(self._fixed(scope)) | {place for place in self._apart(scope, aggregate) if place is not None}
        if isinstance(aggregate.parent, exp.Filter):
            filters = conjuncts(aggregate.parent.expression.this)
            places |= {place for part in filters if (place := held(part)) is not None}
        for leaf in _amounts(aggregate):
            yield from self._of_column(scope, leaf, places)

    def _of_column(self, scope: Scope, leaf: exp.Column, places: set[Place]) -> Iterator[Added]:
        graph = self.grain.graph(scope)
        source = graph.sources.get(leaf.table)
        if source is None:
            return
        named = {same for place in places for same in graph.same_as(place)}
        columns = {column for alias, column in named if alias == leaf.table}
        if isinstance(source, exp.Table):
            item = object_of(source, self.grain.contract)
            if item is not None:
                yield Added(item, leaf.name.lower(), frozenset(columns))
            return
        for inner in self._handed_on(source, leaf.name.lower()):
            own = {self._column_of(source, column, inner.object_type) for column in columns}
            yield Added(inner.object_type, inner.column, inner.held | {name for name in own if name})

    def _handed_on(self, source: Scope, column: str) -> frozenset[Added]:
        place = (id(source.expression), column)
        if place not in self._handed:
            self._handed[place] = frozenset(self._behind(source, column))
        return self._handed[place]

    def _behind(self, source: Scope, column: str) -> Iterator[Added]:
        for branch, value in _outputs(source, column):
            places = set(self._fixed(branch))
            for leaf in _amounts(value):
                for found in self._of_column(branch, leaf, places):
                    # What each SELECT of a set operation holds need not be the same in all of them.
                    whole = branch is source
                    yield found if whole else Added(found.object_type, found.column, frozenset())

    def _column_of(self, source: Source, column: str, item: ObjectType) -> str | None:
        """The column of an object type that a column of a query is, in every branch of it."""
        if isinstance(source, exp.Table):
            return None
        outputs = list(_outputs(source, column))
        found = set()
        for branch, value in outputs:
            inner = value.unnest()
            known = self.grain.graph(branch).sources.get(inner.table) if isinstance(inner, exp.Column) else None
            place = origin(known, inner.name, self.grain.contract) if known is not None else None
            found.add(place.column if place is not None and place.object_type.name == item.name else None)
        return found.pop() if len(found) == 1 else None

    def _apart(self, scope: Scope, aggregate: exp.Expr) -> Iterator[Place | None]:
        """The columns by which what an aggregate takes together is told apart from other rows."""
        node: exp.Expr = aggregate
        while isinstance(node.parent, exp.Filter) and node.parent.this is node:
            node = node.parent
        if isinstance(node.parent, exp.Window) and node.parent.this is node:
            terms = node.parent.args.get("partition_by") or []
        else:
            group = scope.expression.args.get("group")
            terms = group.expressions if group else []
        for term in terms:
            inner = term.unnest()
            yield (inner.table, inner.name.lower()) if isinstance(inner, exp.Column) else None

    def _fixed(self, scope: Scope) -> Iterator[Place]:
        """The columns that a query holds to one value: to a literal, or to one figure of a query of its own."""
        yield from self.grain.graph(scope).fixed
        where = scope.expression.args.get("where")
        own = {id(inner.expression): inner for inner in scope.subquery_scopes}
        for part in conjuncts(where.this if where else None):
            if not isinstance(part, exp.EQ):
                continue
            for column, value in ((part.left.unnest(), part.right), (part.right.unnest(), part.left)):
                query = value.unnest() if isinstance(value, exp.Subquery) else None
                inner = own.get(id(query))
                if isinstance(column, exp.Column) and inner is not None and not inner.external_columns:
                    yield column.table, column.name.lower()


def _outputs(source: Scope, column: str) -> Iterator[tuple[Scope, exp.Expr]]:
    """What each SELECT of a query puts out in the place of a column."""
    query = source.expression
    if isinstance(query, exp.Select):
        if (value := output_of(query, column)) is not None:
            yield source, value
        return
    names = output_names(query)
    if names.count(column) != 1:
        return
    for branch in branches(source):
        selects = branch.expression.selects if isinstance(branch.expression, exp.Select) else []
        if len(selects) == len(names):
            yield branch, selects[names.index(column)].unalias()


def _amounts(value: exp.Expr) -> Iterator[exp.Column]:
    """The columns whose values enter a value as amounts, and are not counted."""
    counted = {id(leaf) for count in value.find_all(exp.Count, exp.CountIf) for leaf in count.find_all(exp.Column)}
    for leaf in leaves(value):
        if isinstance(leaf, exp.Column) and id(leaf) not in counted:
            yield leaf
