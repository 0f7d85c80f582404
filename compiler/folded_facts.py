"""The facts of a member over folded linked rows: plain expressions on one joined row, no subquery.

A comparison is folded in one of three ways:

- *apart*: it names no own property, so each linked row decides it alone, inside the fold;
- *extremes*: an own operand against a linked one; the lowest and highest linked value say whether
  some row makes it true, and whether some row makes it false;
- *alike*: anything else is decided on one linked row, if all matching rows are alike in what it names.

Where this tells nothing of a member (rows that differ, bounds in place of values, dates that are
unusable), the member is *open*: the readable queries decide it, and nothing is guessed.

Where no row decides a comparison, both facts of it are NULL, which spares a COALESCE for every row.
T of a condition is then true or not as ever, and so is F; and where one is true, the other is false
and not NULL, as follows from Kleene's tables step by step. `unknown` must not be asked of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from catalog.expressions.tree import Comparing, Comparison, ComparisonOperator, Deciding, Exists, Presence, PropertyRef
from catalog.expressions.walking import atom_links, atom_references, references
from compiler import names
from compiler.comparisons import RowComparisons
from compiler.dialects.dialect import Dialect
from compiler.facts import conjunction, disjunction
from compiler.folding import ROW, Fold
from compiler.plan import LinkPlan, MonitorPlan
from compiler.pruning import Selection
from compiler.relations import can_match
from trivet.verdicts import Cause


class Folding(StrEnum):
    """How a comparison over links is decided on folded rows."""

    APART = "apart"
    EXTREMES = "extremes"
    ALIKE = "alike"


def folding_of(atom: Comparing) -> Folding:
    """The way in which a comparison that names a link is folded."""
    links = atom_links(atom)
    own = any(ref.link is None for ref in atom_references(atom))
    if len(links) == 1 and not own:
        return Folding.APART
    if len(links) == 1 and isinstance(atom, Comparison) and _sides(atom) is not None:
        return Folding.EXTREMES
    return Folding.ALIKE


def _sides(atom: Comparison) -> tuple[bool, bool] | None:
    """Whether left and right name the link, if exactly one does and names nothing else."""
    kinds = []
    for side in (atom.left, atom.right):
        linked = {ref.link is not None for ref in references(side)}
        if len(linked) > 1:
            return None
        kinds.append(True in linked)
    return (kinds[0], kinds[1]) if kinds[0] != kinds[1] else None


class FactColumns:
    """The columns that facts are left in, each expression once, for all monitors of a scan."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._names: dict[str, str] = {}

    def add(self, expression: str) -> str:
        """The column of an expression over the joined row, as it is named over the facts `m`."""
        name = self._names.setdefault(expression, f"fact {len(self._names) + 1}")
        return f"m.{self._dialect.identifier(name)}"

    def selections(self) -> list[Selection]:
        """Every column."""
        return list(self._names.items())


@dataclass(frozen=True, slots=True)
class FoldedFacts:
    """The facts of one monitor; `compiler/member_facts.py` is the port."""

    plan: MonitorPlan
    dialect: Dialect
    folds: dict[str, Fold]
    """By the name of the link."""
    columns: FactColumns
    _open: dict[str, None] = field(default_factory=dict)

    def truth(self, atom: Comparing) -> str:
        """An own comparison as a boolean, NULL where it is unknown."""
        return self.columns.add(self._rows({None: "m"}).truth(atom))

    def holds(self, atom: Presence) -> str:
        """Whether a presence test holds; never NULL."""
        link = atom.property.link
        alias = ROW if link is not None else "m"
        present = f"COALESCE({self._rows({link: alias}).cause(atom.property)}, '') <> '{Cause.NULL}'"
        if link is not None:
            fold = self._fold(link)
            present = f"COALESCE({fold.column(self.dialect.any_of(present))}, FALSE)"
        return self.columns.add(f"({present})" if atom.present else f"(NOT ({present}))")

    def some_true(self, atom: Comparing) -> str:
        """Whether a determinate matching row makes it true."""
        return self.columns.add(self._facts(atom)[0])

    def some_false(self, atom: Comparing) -> str:
        """Whether a determinate matching row makes it false."""
        return self.columns.add(self._facts(atom)[1])

    def some_unknown(self, atom: Comparing) -> str:
        """Whether a matching row is indeterminate for it."""
        return self.columns.add(self._facts(atom)[2])

    def exists_true(self, atom: Exists) -> str:
        """Whether a row certainly matches."""
        fold = self._fold(atom.link)
        found = fold.is_matched if not fold.is_dated else self._any_row(fold, self._is_usable())
        strictly = [f"NOT {self._some_unusable(fold)}"] if self.plan.definition.strict and fold.is_dated else []
        return self.columns.add(conjunction([self._can_match(fold), found, *strictly]))

    def exists_false(self, atom: Exists) -> str:
        """Whether certainly no row matches."""
        fold = self._fold(atom.link)
        return self.columns.add(conjunction([self._can_match(fold), f"NOT {fold.is_matched}"]))

    def met_unknown(self, atom: Deciding) -> list[str]:
        """Tests, each of them that some matching row which the atom meets is indeterminate for it."""
        if isinstance(atom, Exists):
            fold = self._fold(atom.link)
            return [self.columns.add(self._some_unusable(fold))] if fold.is_dated else []
        return [self.some_unknown(atom)] if atom_links(atom) else []

    def partial_figures(self) -> list[str]:
        """None: a pass judges rows."""
        return []

    def links_of(self, atom: Comparing | Presence) -> list[LinkPlan]:
        """The links that an atom names."""
        return [self.plan.link(name) for name in atom_links(atom)]

    def is_to_one(self, atom: Comparing) -> bool:
        """Whether rows that would decide differently make it unknown."""
        return any(link.link.cardinality.is_to_one for link in self.links_of(atom))

    def certainly(self, test: str) -> str:
        """The test as it is: whoever reads these facts takes NULL for false."""
        return test

    def is_open(self) -> str:
        """Whether the folded rows leave open what holds of the member. Ask it after all facts."""
        return disjunction(self.columns.add(test) for test in self._open) if self._open else "FALSE"

    def _facts(self, atom: Comparing) -> tuple[str, str, str]:
        """Some row makes it true; some makes it false; some is indeterminate."""
        match folding_of(atom):
            case Folding.APART:
                return self._apart(atom)
            case Folding.EXTREMES if isinstance(atom, Comparison) and not self._prefers_alike(atom):
                return self._extremes(atom)
            case _:
                return self._alike(atom)

    def _apart(self, atom: Comparing) -> tuple[str, str, str]:
        (link,) = atom_links(atom)
        fold = self._fold(link)
        truth = self._usable(fold, f"({self._rows({link: ROW}).truth(atom)})")
        tests = (f"COALESCE({truth}, FALSE)", f"COALESCE(NOT {truth}, FALSE)", f"{truth} IS NULL")
        true, false, unknown = (fold.column(self.dialect.any_of(test)) for test in tests)
        return true, false, f"COALESCE({unknown}, FALSE)"

    def _extremes(self, atom: Comparison) -> tuple[str, str, str]:
        (link,) = atom_links(atom)
        fold = self._fold(link)
        left, right = self._rows({None: "m", link: ROW}).in_one_type(atom.left, atom.right)
        is_linked_left = any(ref.link is not None for ref in references(atom.left))
        own, linked = (right, left) if is_linked_left else (left, right)
        self._open_where_censored(atom, fold)
        linked = self._usable(fold, linked)
        low, high = fold.column(f"MIN({linked})"), fold.column(f"MAX({linked})")
        some_null = fold.column(f"COUNT({linked}) < COUNT(*)")
        operator = _mirrored(atom.operator) if is_linked_left else atom.operator
        differs = f"({own} <> {low} OR {own} <> {high})"
        match operator:
            case ComparisonOperator.LESS:
                true, false = f"{own} < {high}", f"{own} >= {low}"
            case ComparisonOperator.LESS_OR_EQUAL:
                true, false = f"{own} <= {high}", f"{own} > {low}"
            case ComparisonOperator.GREATER:
                true, false = f"{own} > {low}", f"{own} <= {high}"
            case ComparisonOperator.GREATER_OR_EQUAL:
                true, false = f"{own} >= {low}", f"{own} < {high}"
            case ComparisonOperator.EQUAL:
                true, false = self._equals_some(own, fold, linked), differs
            case ComparisonOperator.NOT_EQUAL:
                true, false = differs, self._equals_some(own, fold, linked)
        unknown = f"({fold.is_matched} AND ({own} IS NULL OR {some_null}))"
        return true, false, unknown

    def _equals_some(self, own: str, fold: Fold, linked: str) -> str:
        low, high = fold.column(f"MIN({linked})"), fold.column(f"MAX({linked})")
        values = fold.column(self.dialect.distinct_values(linked))
        between = f"{own} > {low} AND {own} < {high}"
        listed = self.dialect.is_listed(values, own)
        equal = f"CASE WHEN {own} = {low} OR {own} = {high} THEN TRUE WHEN {between} THEN {listed} ELSE FALSE END"
        return f"CASE WHEN {own} IS NOT NULL AND {low} IS NOT NULL THEN {equal} END"

    def _open_where_censored(self, atom: Comparison, fold: Fold) -> None:
        """A bound in place of a value decides in ways that extremes do not tell."""
        rows = self._rows({None: "m", fold.link.link.name: ROW})
        for side in (atom.left, atom.right):
            if not (isinstance(side, PropertyRef) and rows.is_censored(side)):
                continue
            bound = f"{rows.column(side, names.side(side.name))} <> ''"
            if side.link is None:
                self._open[f"({bound})"] = None
            else:
                self._open[f"COALESCE({fold.column(self.dialect.any_of(bound))}, FALSE)"] = None

    def _alike(self, atom: Comparing) -> tuple[str, str, str]:
        folds = {link: self._fold(link) for link in atom_links(atom)}
        rows = AlikeRows(self.plan.scope, self.dialect, {None: "m"}, self.plan.at, folds)
        truth = f"({rows.truth(atom)})"
        for fold in folds.values():
            if fold.is_dated:
                truth = f"(CASE WHEN {rows.of_fold(fold, names.USABLE)} THEN {truth} END)"
        matched = conjunction(fold.is_matched for fold in folds.values())
        for link, fold in folds.items():
            alike = fold.are_alike([column for of, column in rows.named if of == link])
            self._open[f"({matched} AND NOT COALESCE({alike}, TRUE))"] = None
        decided = f"CASE WHEN {matched} THEN {truth} END"
        return decided, f"NOT {decided}", f"({matched} AND {truth} IS NULL)"

    def _prefers_alike(self, atom: Comparison) -> bool:
        """Of a link to one row the rows are nearly always alike, and then bounds are decided too."""
        rows = self._rows({})
        censored = any(isinstance(side, PropertyRef) and rows.is_censored(side) for side in (atom.left, atom.right))
        return censored and self.is_to_one(atom)

    def _can_match(self, fold: Fold) -> str:
        return f"({can_match(fold.link, 'm', self.dialect)})"

    def _some_unusable(self, fold: Fold) -> str:
        return self._any_row(fold, f"NOT {self._is_usable()}")

    def _any_row(self, fold: Fold, test: str) -> str:
        return f"COALESCE({fold.column(self.dialect.any_of(test))}, FALSE)"

    def _is_usable(self) -> str:
        return f"{ROW}.{self.dialect.identifier(names.USABLE)}"

    def _usable(self, fold: Fold, expression: str) -> str:
        """`expression`, NULL for a row inside the fold whose dates let it decide nothing."""
        return f"(CASE WHEN {self._is_usable()} THEN {expression} END)" if fold.is_dated else expression

    def _fold(self, link: str) -> Fold:
        fold = self.folds[link]
        if fold.is_unclear is not None:
            self._open[fold.is_unclear] = None
        return fold

    def _rows(self, aliases: dict[str | None, str]) -> RowComparisons:
        return RowComparisons(self.plan.scope, self.dialect, aliases, self.plan.at)


@dataclass(frozen=True, slots=True)
class AlikeRows(RowComparisons):
    """Comparisons on the one row that stands for all matching rows, where they are alike in what is named."""

    folds: Mapping[str, Fold] = field(default_factory=dict)
    named: dict[tuple[str, str], None] = field(default_factory=dict)
    """Link and column of everything that was named."""

    def column(self, ref: PropertyRef, name: str) -> str:
        """A column of the member, or of the row that stands for the linked ones."""
        if ref.link is None:
            return RowComparisons.column(self, ref, name)
        return self.of_fold(self.folds[ref.link], name)

    def of_fold(self, fold: Fold, name: str) -> str:
        """A column of the row that stands for the rows of a link."""
        self.named[fold.link.link.name, name] = None
        return fold.one_value(name)


def _mirrored(operator: ComparisonOperator) -> ComparisonOperator:
    """The operator that says the same with its sides changed."""
    match operator:
        case ComparisonOperator.LESS:
            return ComparisonOperator.GREATER
        case ComparisonOperator.LESS_OR_EQUAL:
            return ComparisonOperator.GREATER_OR_EQUAL
        case ComparisonOperator.GREATER:
            return ComparisonOperator.LESS
        case ComparisonOperator.GREATER_OR_EQUAL:
            return ComparisonOperator.LESS_OR_EQUAL
        case ComparisonOperator.EQUAL | ComparisonOperator.NOT_EQUAL:
            return operator
