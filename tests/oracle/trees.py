"""Hypothesis strategies for conditions that mean something over a given object type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal

from hypothesis import strategies as st

from catalog.datatypes import DataType, Kind
from catalog.expressions.checking import Scope, check_condition
from catalog.expressions.tree import (
    TESTS,
    And,
    Arithmetic,
    ArithmeticOperator,
    Atom,
    Between,
    Call,
    Comparing,
    Comparison,
    ComparisonOperator,
    Condition,
    Exists,
    Function,
    LinkCount,
    Literal,
    Membership,
    Not,
    Operand,
    Or,
    Presence,
    PropertyRef,
    Quantifier,
)
from catalog.expressions.walking import atom_links

_NUMBERS = ("2", "1", "0", "2.5", "2.50", "-1", "0.1", "0.3", "2.00005", "0.3333333333", "1" + "0" * 20)
_LITERALS: dict[Kind, tuple[Decimal | str | bool | date | datetime | timedelta, ...]] = {
    Kind.TEXT: ("a", "b", "A", "\u00e9", "O'Brien", 'say "hi"', "a "),
    Kind.DECIMAL: tuple(Decimal(text) for text in (*_NUMBERS, "9" * 30, "9" * 37)),
    Kind.BOOLEAN: (True, False),
    Kind.DATE: (date(2025, 7, 1), date(2025, 7, 15), date(2024, 7, 1)),
    Kind.TIMESTAMP: (datetime(2025, 7, 1), datetime(2025, 7, 15, 6, 30)),
    Kind.DURATION: (timedelta(days=1), timedelta(days=14), timedelta(0), timedelta(minutes=90)),
}
_WHOLE_DAYS = (timedelta(days=1), timedelta(days=14), timedelta(weeks=52))
_PARTS = tuple(
    (function, Kind.DECIMAL)
    for function in (Function.YEAR, Function.QUARTER, Function.MONTH, Function.DAY, Function.WEEKDAY)
)
_CALLS: dict[Kind, tuple[tuple[Function, Kind], ...]] = {
    Kind.TEXT: (
        (Function.LOWER, Kind.TEXT),
        (Function.UPPER, Kind.TEXT),
        (Function.TRIM, Kind.TEXT),
        (Function.LENGTH, Kind.DECIMAL),
    ),
    Kind.DATE: (*_PARTS, (Function.AGE, Kind.DURATION), (Function.AGE, Kind.DURATION)),
    Kind.TIMESTAMP: (*_PARTS, (Function.AGE, Kind.DURATION), (Function.DAY_OF, Kind.DATE)),
    Kind.DURATION: (
        *((function, Kind.DECIMAL) for function in (Function.DAYS, Function.HOURS, Function.MINUTES, Function.SECONDS)),
        (Function.ABS, Kind.DURATION),
    ),
    Kind.DECIMAL: ((Function.ABS, Kind.DECIMAL),),
}
"""The functions of one argument, with the kind of what they give."""
_CLOCKS = {Kind.DATE: Function.TODAY, Kind.TIMESTAMP: Function.NOW}
_ADDITIVE = (ArithmeticOperator.ADD, ArithmeticOperator.SUBTRACT)


@dataclass(frozen=True, slots=True)
class _Names:
    """What one comparison may name."""

    properties: tuple[tuple[PropertyRef, DataType], ...]
    links: tuple[str, ...]
    """The links whose rows may be counted."""

    def of_group(self, kind: Kind) -> list[PropertyRef]:
        return [ref for ref, data_type in self.properties if _group(data_type.kind) is kind]


def _group(kind: Kind) -> Kind:
    """The kind that stands for all kinds comparable with it."""
    return Kind.DECIMAL if kind in (Kind.INTEGER, Kind.DOUBLE) else kind


def conditions(scope: Scope, depth: int = 3, *, counting: bool = True) -> st.SearchStrategy[Condition]:
    """Conditions without a fault over `scope`, nested at most `depth` levels deep.

    Args:
        scope: what they can name.
        depth: 1 for a single comparison.
        counting: whether some count linked rows.
    """
    return _conditions(scope, _comparisons(scope, counting), depth)


@st.composite
def _conditions(draw: st.DrawFn, scope: Scope, atoms: st.SearchStrategy[Condition], depth: int) -> Condition:
    shape = draw(st.sampled_from(["atom", "atom", "and", "or", "not"])) if depth > 1 else "atom"
    inner = _conditions(scope, atoms, depth - 1)
    match shape:
        case "and":
            return And((draw(inner), draw(inner)))
        case "or":
            return Or(tuple(draw(st.lists(inner, min_size=2, max_size=3))))
        case "not":
            return Not(draw(inner))
    return draw(atoms)


def _comparisons(scope: Scope, counting: bool) -> st.SearchStrategy[Condition]:
    """Comparisons and presence tests; the few that the checker refuses are drawn again."""
    return _atoms(scope, counting).filter(lambda atom: check_condition(atom, scope) == ())


@st.composite
def close_atoms(draw: st.DrawFn, scope: Scope) -> Atom:
    """Comparisons of a few operands with a few literals, presence and existence: many contradict each other."""
    own = [(PropertyRef(item.name), item.type) for item in scope.object_type.properties if item.name in ("x", "y")]
    links = scope.contract.links_from(scope.object_type.name)
    linked = [
        (PropertyRef(item.name, link.name), item.type)
        for link in links
        for item in scope.target(link).properties
        if item.name in ("u", "x")
    ]
    ref, data_type = draw(st.sampled_from([*own, *linked]))
    kind = _group(data_type.kind)
    shape = draw(st.sampled_from(["literal"] * 6 + ["itself", "other", "presence", "existence", "count"]))
    if shape == "existence" and links:
        return Exists(draw(st.sampled_from([link.name for link in links])))
    if shape == "presence":
        return Presence(ref, draw(st.booleans()))
    operand: Operand = ref
    if shape == "count" and links:
        operand, kind = LinkCount(draw(st.sampled_from([link.name for link in links]))), Kind.DECIMAL
    elif kind in _CALLS and draw(st.integers(0, 5)) == 5:
        function, kind = draw(st.sampled_from(_CALLS[kind]))
        operand = Call(function, (ref,))
    literals = st.sampled_from([Literal(value) for value in _LITERALS[kind][:4]])
    others = [other for other, of in [*own, *linked] if _group(of.kind) is kind]
    right: Operand = draw(literals)
    if shape == "itself":
        right = operand
    elif shape == "other" and others:
        right = draw(st.sampled_from(others))
    equality = [ComparisonOperator.EQUAL, ComparisonOperator.NOT_EQUAL]
    operator = draw(st.sampled_from(equality if kind is Kind.BOOLEAN else [*ComparisonOperator]))
    atom: Comparing = Comparison(operator, operand, right)
    if shape == "literal" and draw(st.integers(0, 3)) == 3:
        several = tuple(draw(st.lists(literals, min_size=1, max_size=2)))
        atom = Membership(operand, several)
        if len(several) == 2 and kind is not Kind.BOOLEAN and draw(st.booleans()):
            atom = Between(operand, *several)
    return _quantified(atom, draw(st.sampled_from(Quantifier))) if atom_links(atom) else atom


@st.composite
def _atoms(draw: st.DrawFn, scope: Scope, counting: bool) -> Condition:
    own = [(PropertyRef(item.name), item.type) for item in scope.object_type.properties]
    linked = {
        link.name: [(PropertyRef(item.name, link.name), item.type) for item in scope.target(link).properties]
        for link in scope.contract.links_from(scope.object_type.name)
    }
    named = draw(st.sampled_from([*([name] for name in linked), [], [*linked]]))
    usable = [*own, *(pair for name in named for pair in linked[name])]
    anchors = [pair for name in named for pair in linked[name]] or own
    anchor, data_type = draw(st.sampled_from(_interesting(anchors)))
    if (asked := draw(st.integers(0, 9))) > 7:
        return (
            Exists(draw(st.sampled_from([*linked]))) if asked == 8 and linked else Presence(anchor, draw(st.booleans()))
        )
    names = _Names(tuple(_interesting(usable)), tuple(linked) if counting else ())
    atom = draw(_comparing(anchor, _group(data_type.kind), names))
    return _quantified(atom, draw(st.sampled_from(Quantifier))) if atom_links(atom) else atom


def _interesting(pairs: Sequence[tuple[PropertyRef, DataType]]) -> list[tuple[PropertyRef, DataType]]:
    """The pairs, with those that are neither keys nor dates of a link twice more."""
    structural = ("id", "key_1", "key_2", "on", "starts", "ends")
    values = [pair for pair in pairs if pair[0].name not in structural]
    return [*pairs, *values, *values]


def _quantified(atom: Comparing, quantifier: Quantifier) -> Comparing:
    match atom:
        case Comparison():
            return Comparison(atom.operator, atom.left, atom.right, quantifier)
        case Between():
            return Between(atom.value, atom.low, atom.high, quantifier)
        case Membership():
            return Membership(atom.value, atom.choices, quantifier)


@st.composite
def _comparing(draw: st.DrawFn, anchor: PropertyRef, kind: Kind, names: _Names) -> Comparing:
    if kind is Kind.TEXT and draw(st.integers(0, 3)) == 3:
        sides = draw(st.permutations([anchor, draw(_operands(Kind.TEXT, names))]))
        test = Call(draw(st.sampled_from(sorted(TESTS))), tuple(sides))
        return Comparison(ComparisonOperator.EQUAL, test, Literal(True))
    left, result = draw(_around(anchor, kind, names))
    others = _operands(result, names)
    shape = draw(st.sampled_from(["comparison"] * 3 + ["between", "membership"]))
    if shape == "membership":
        return Membership(left, tuple(draw(st.lists(others, min_size=1, max_size=3))))
    if shape == "between" and kind is not Kind.BOOLEAN:
        return Between(left, draw(others), draw(others))
    equality = [ComparisonOperator.EQUAL, ComparisonOperator.NOT_EQUAL]
    operator = draw(st.sampled_from(equality if kind is Kind.BOOLEAN else [*ComparisonOperator]))
    right = draw(others)
    return Comparison(operator, right, left) if draw(st.booleans()) else Comparison(operator, left, right)


@st.composite
def _around(draw: st.DrawFn, ref: Operand, kind: Kind, names: _Names) -> tuple[Operand, Kind]:
    """The operand itself, or a function of it, or arithmetic on it, with the kind of the result."""
    # Numbers are drawn most often, and have one function.
    if kind in _CALLS and draw(st.integers(0, 4)) >= (4 if kind is Kind.DECIMAL else 3):
        function, result = draw(st.sampled_from(_CALLS[kind]))
        call = Call(function, (ref,))
        return draw(_around(call, result, names)) if draw(st.booleans()) else (call, result)
    if not draw(st.sampled_from([False, False, True] if kind is not Kind.DECIMAL else [False, True])):
        return ref, kind
    match kind:
        case Kind.DECIMAL:
            return draw(_number_arithmetic(ref, names)), kind
        case Kind.DATE if draw(st.booleans()):
            return draw(_moved(ref, _WHOLE_DAYS)), kind
        case Kind.DATE:
            return Arithmetic(ArithmeticOperator.SUBTRACT, ref, draw(_plain(Kind.DATE, names))), Kind.DURATION
        case Kind.TIMESTAMP if draw(st.booleans()):
            return Arithmetic(draw(st.sampled_from(_ADDITIVE)), ref, draw(_plain(Kind.DURATION, names))), kind
        case Kind.TIMESTAMP:
            return Arithmetic(ArithmeticOperator.SUBTRACT, ref, draw(_plain(kind, names))), Kind.DURATION
        case Kind.DURATION:
            return Arithmetic(draw(st.sampled_from(_ADDITIVE)), ref, draw(_plain(kind, names))), kind
    return ref, kind


@st.composite
def _number_arithmetic(draw: st.DrawFn, ref: Operand, names: _Names) -> Operand:
    operators, plain = st.sampled_from(ArithmeticOperator), _plain(Kind.DECIMAL, names)
    left, right = draw(st.permutations([ref, draw(plain)]))
    once = Arithmetic(draw(operators), left, right)
    if draw(st.booleans()):
        return once
    other = draw(plain)
    return Arithmetic(draw(operators), once, other) if draw(st.booleans()) else Arithmetic(draw(operators), other, once)


def _moved(ref: Operand, lengths: Sequence[timedelta]) -> st.SearchStrategy[Operand]:
    return st.builds(
        lambda operator, length: Arithmetic(operator, ref, Literal(length)),
        st.sampled_from(_ADDITIVE),
        st.sampled_from(lengths),
    )


@st.composite
def _operands(draw: st.DrawFn, kind: Kind, names: _Names) -> Operand:
    """An operand to set beside one of `kind`."""
    plain = draw(_plain(kind, names))
    if isinstance(plain, Literal) or kind not in (Kind.DECIMAL, Kind.TEXT):
        return plain
    around, result = draw(_around(plain, kind, names))
    return around if result is kind else plain


def _plain(kind: Kind, names: _Names) -> st.SearchStrategy[Operand]:
    """A property, a literal, a count or a clock of a kind."""
    refs: list[Operand] = [*names.of_group(kind)]
    literals: list[Operand] = [Literal(value) for value in _LITERALS[kind]]
    counts: list[Operand] = [LinkCount(name) for name in names.links] if kind is Kind.DECIMAL else []
    clocks: list[Operand] = [Call(_CLOCKS[kind], ())] if kind in _CLOCKS else []
    pools = [
        st.sampled_from(pool) for pool in (refs, literals, refs, literals, refs, literals, [*counts, *clocks]) if pool
    ]
    return st.one_of(pools)
