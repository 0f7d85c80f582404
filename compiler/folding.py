"""Linked rows folded to one row per key, so that one LEFT JOIN meets each member at most once.

Duplicates cannot multiply a member then, and a NULL copy cannot hide a good one. Of a link with
effective dates there is one row per key and time in force, and these times never overlap.
"""

from __future__ import annotations

from collections.abc import Iterator

from catalog.contract import EffectiveDates
from compiler import names
from compiler.dialects.dialect import Dialect
from compiler.plan import LinkPlan, MonitorPlan
from compiler.pruning import Relation, Selection
from compiler.relations import final_columns, relation_names

ROW = "r"
"""Alias of a linked row inside its fold."""
_FROM, _UNTIL, _UNDATED, _MIXED = "standing from", "standing until", "undated", "mixed ends"


class Fold:
    """One link's folded rows, whose columns are added as comparisons ask for them."""

    def __init__(self, plan: MonitorPlan, link: LinkPlan, alias: str, name: str, dialect: Dialect) -> None:
        self.link = link
        self._alias = alias
        self._name = name
        self._rows = relation_names(plan)[link.far.relation]
        self._dialect = dialect
        self._columns: dict[str, str] = {}
        self._alike: dict[str, None] = {}

    @property
    def is_matched(self) -> str:
        """Whether any row of the link matches the member."""
        return f"({self._own(self._key(0))} IS NOT NULL)"

    @property
    def is_dated(self) -> bool:
        """Whether its rows stand in time."""
        return self.link.link.as_of is not None

    @property
    def is_unclear(self) -> str | None:
        """Whether the dates of the rows leave open which of them match; None where no dates count.

        A row without a usable date matches whatever the date, so that more than one folded row would.
        """
        as_of = self.link.link.as_of
        if as_of is None:
            return None
        no_date = f"m.{self._dialect.identifier(as_of.date)} IS NULL"
        return f"({no_date} OR COALESCE({self._own(_UNDATED)}, FALSE) OR COALESCE({self._own(_MIXED)}, FALSE))"

    def column(self, aggregate: str) -> str:
        """The value of an aggregate over the matching rows, each `r`; NULL where none matches."""
        return self._own(self._columns.setdefault(aggregate, f"fold {len(self._columns) + 1}"))

    def one_value(self, column: str) -> str:
        """A column of the matching rows where they are alike in it, under the column's own name."""
        self._alike[column] = None
        return self._own(column)

    def are_alike(self, columns: list[str]) -> str:
        """Whether all matching rows hold the same in each of the columns."""
        tests = []
        for column in columns:
            inner = f"{ROW}.{self._dialect.identifier(column)}"
            same = f"(COUNT({inner}) = COUNT(*) AND MIN({inner}) = MAX({inner}))"
            tests.append(f"(COUNT({inner}) = 0 OR {same})")
        return self.column(f"({' AND '.join(tests)})") if tests else "TRUE"

    def relations(self) -> list[Relation]:
        """The folded rows, and what they stand on."""
        keys = self.link.link.target_keys
        rows, grouped = self._rows, [f"{ROW}.{self._dialect.identifier(key)}" for key in keys]
        selections: list[Selection] = [(key, self._key(index)) for index, key in enumerate(grouped)]
        known = " AND ".join(f"{key} IS NOT NULL" for key in grouped)
        source, found = f"{rows} AS {ROW} WHERE {known}", []
        if self.is_dated:
            found.append(self._spans(source))
            selections += self._times()
            source = f"{self._name}_spans AS {ROW}"
            grouped += [f"{ROW}.{self._dialect.identifier(column)}" for column in (_FROM, _UNTIL, _UNDATED)]
        selections += [(f"MIN({ROW}.{self._dialect.identifier(column)})", column) for column in self._alike]
        selections += self._columns.items()
        return [*found, Relation(self._name, tuple(selections), f"{source} GROUP BY {', '.join(grouped)}")]

    def join(self) -> str:
        """The join that sets the folded row beside its member `m`."""
        conditions = [
            f"{self._folded(self._key(index))} = m.{self._dialect.identifier(here)}"
            for index, here in enumerate(self.link.link.source_keys)
        ]
        as_of = self.link.link.as_of
        if as_of is not None:
            date = f"m.{self._dialect.identifier(as_of.date)}"
            conditions += [f"{self._folded(_FROM)} <= {date}", f"{date} < {self._folded(_UNTIL)}"]
        return f"LEFT JOIN {self._name} AS {self._alias} ON {' AND '.join(conditions)}"

    def joined(self) -> list[Selection]:
        """The columns of the folded row as they stand beside those of the member."""
        columns = [self._key(0), *self._alike, *self._columns.values()]
        columns += [_UNDATED, _MIXED] if self.is_dated else []
        return [(self._folded(column), self._beside(column)) for column in columns]

    def _spans(self, source: str) -> Relation:
        """The rows with the time of their fold: from their own date to the next one of their schedule.

        A key of which one row has no usable date gets one fold for all times, which decides nothing.
        """
        as_of = self._dates
        start = f"{ROW}.{self._dialect.identifier(as_of.valid_from)}"
        later = f"{ROW}.{self._dialect.identifier(names.SUPERSEDED_FROM)}"
        partition = ", ".join(f"{ROW}.{self._dialect.identifier(key)}" for key in self.link.link.target_keys)
        undated = f"{self._dialect.any_of(f'{start} IS NULL')} OVER (PARTITION BY {partition})"
        first, last = self._bounds
        selections = [(f"{ROW}.{self._dialect.identifier(name)}", name) for name in self._row_columns()]
        selections += [
            (undated, _UNDATED),
            (f"CASE WHEN {undated} THEN {first} ELSE {start} END", _FROM),
            (f"CASE WHEN {undated} THEN {last} ELSE COALESCE({later}, {last}) END", _UNTIL),
        ]
        return Relation(f"{self._name}_spans", tuple(selections), source)

    def _times(self) -> list[Selection]:
        start, until, undated = (f"{ROW}.{self._dialect.identifier(name)}" for name in (_FROM, _UNTIL, _UNDATED))
        if not self._dates.valid_to:
            return [(start, _FROM), (until, _UNTIL), (undated, _UNDATED), ("FALSE", _MIXED)]
        own_end = f"COALESCE({ROW}.{self._dialect.identifier(self._dates.valid_to)}, {self._bounds[1]})"
        mixed = f"MIN({own_end}) <> MAX({own_end})"
        end = f"CASE WHEN {undated} OR {mixed} THEN {until} ELSE LEAST({until}, MIN({own_end})) END"
        return [(start, _FROM), (end, _UNTIL), (undated, _UNDATED), (f"({mixed})", _MIXED)]

    @property
    def _bounds(self) -> tuple[str, str]:
        declared = self.link.far.object_type.find_property(self._dates.valid_from)
        if declared is None:
            raise LookupError(f"no property {self._dates.valid_from}")
        ends = (self._dialect.end_of_time(declared.type, negative=negative) for negative in (True, False))
        first, last = ends
        return first, last

    def _row_columns(self) -> Iterator[str]:
        for item in self.link.far.properties:
            yield from final_columns(item.name, item.censored is not None)
        yield names.USABLE

    @property
    def _dates(self) -> EffectiveDates:
        if self.link.link.as_of is None:
            raise LookupError(f"link {self.link.link.name} has no effective dates")
        return self.link.link.as_of

    def _key(self, index: int) -> str:
        return f"key {index + 1}"

    def _own(self, column: str) -> str:
        return f"m.{self._dialect.identifier(self._beside(column))}"

    def _folded(self, column: str) -> str:
        return f"{self._alias}.{self._dialect.identifier(column)}"

    def _beside(self, column: str) -> str:
        return f"{self._alias} {column}"
