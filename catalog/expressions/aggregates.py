"""Figures of a group: aggregates, and their change against the period before. Types, units, faults.

`docs/reference/expressions.md` is written from `SIGNATURES`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from catalog.contract import Additivity, PropertyRole
from catalog.datatypes import DOUBLE, DURATION, INTEGER, MAX_DIGITS, DataType, Kind, decimal
from catalog.expressions.baselines import Statistic
from catalog.expressions.checking import Fault, Scope, TypeFault, check_condition, type_of, unit_of
from catalog.expressions.printing import print_operand
from catalog.expressions.tree import (
    Aggregate,
    AggregateFunction,
    And,
    Arithmetic,
    ArithmeticOperator,
    BaselineRef,
    Between,
    Call,
    Change,
    Comparison,
    ComparisonOperator,
    Condition,
    Exists,
    LinkCount,
    Literal,
    Membership,
    Not,
    Operand,
    Or,
    Presence,
    PropertyRef,
)
from catalog.expressions.walking import atom_nodes, atoms, nodes, parts, references

Figure: TypeAlias = Aggregate | Change | BaselineRef
"""What a group has instead of properties; called a measure where it stands among them."""

SUM_DIGITS = 12
"""Digits before the point that the sum of decimals has more than they have: room for a million million rows."""

_NUMBERS = frozenset({Kind.INTEGER, Kind.DECIMAL, Kind.DOUBLE})
_IN_THE_UNIT = frozenset(
    {
        AggregateFunction.SUM,
        AggregateFunction.AVG,
        AggregateFunction.MIN,
        AggregateFunction.MAX,
        AggregateFunction.MEDIAN,
    }
)
_ORDERED = frozenset(Kind) - {Kind.BOOLEAN}


@dataclass(frozen=True, slots=True)
class Signature:
    """What an aggregate takes and what it comes to."""

    written: str
    takes: frozenset[Kind]
    """Kinds of its operand; empty where it takes none, or a condition."""
    said: str
    """That in words."""
    gives: str
    meaning: str


_ANY = frozenset(Kind)
_NUMBER = "a number"
_ANYTHING = "anything"

SIGNATURES: dict[AggregateFunction, Signature] = {
    AggregateFunction.COUNT: Signature(
        "count()", frozenset(), "nothing", "integer", "the rows of the group; over none it is 0, and decides"
    ),
    AggregateFunction.SUM: Signature(
        "sum(x)",
        _NUMBERS | {Kind.DURATION},
        "a number or duration",
        f"the type of x; of a decimal, one with {SUM_DIGITS} more digits, at most {MAX_DIGITS} in all",
        "the exact sum; doubles are added with compensation, and their sum rounded to 12 significant digits",
    ),
    AggregateFunction.AVG: Signature(
        "avg(x)", _NUMBERS, _NUMBER, "double", "that sum over the number of inputs, to 12 significant digits"
    ),
    AggregateFunction.MIN: Signature(
        "min(x)", _ORDERED, "anything but a boolean", "the type of x", "the least input; of texts, by code point"
    ),
    AggregateFunction.MAX: Signature(
        "max(x)", _ORDERED, "anything but a boolean", "the type of x", "the greatest input"
    ),
    AggregateFunction.MEDIAN: Signature(
        "median(x)",
        _NUMBERS,
        _NUMBER,
        f"a decimal with one more digit; double where x is one, or has {MAX_DIGITS} digits",
        "the middle input; of an even number of inputs, the mean of the middle two",
    ),
    AggregateFunction.SHARE: Signature(
        "share(c)",
        frozenset(),
        "a condition over rows, with links if need be",
        "double",
        "the rows that satisfy it over those for which it is decided, to 12 significant digits",
    ),
    AggregateFunction.COUNT_DISTINCT: Signature(
        "count_distinct(x)", _ANY, _ANYTHING, "integer", "how many different values the inputs have"
    ),
    AggregateFunction.NULL_SHARE: Signature(
        "null_share(x)",
        _ANY,
        _ANYTHING,
        "double",
        "the rows in which x is indeterminate, for whatever cause, over all rows; so every row in scope is an input",
    ),
}
"""Every aggregate. The order is that of the reference page."""


def figures_of(condition: Condition) -> tuple[Figure, ...]:
    """The figures that a condition names, each once, in the order of the text."""
    return tuple(
        dict.fromkeys(figure for atom in atoms(condition) for part in _parts(atom) for figure in _figures(part))
    )


def aggregates_of(condition: Condition) -> tuple[Aggregate, ...]:
    """The aggregates that a condition names, those inside a change included, each once."""
    found = (figure.operand if isinstance(figure, Change) else figure for figure in figures_of(condition))
    return tuple(dict.fromkeys(item for item in found if isinstance(item, Aggregate)))


def _parts(atom: Comparison | Between | Membership | Presence | Exists) -> tuple[Operand, ...]:
    return () if isinstance(atom, Presence | Exists) else parts(atom)


def _figures(operand: Operand) -> Iterator[Figure]:
    match operand:
        case Aggregate() | Change() | BaselineRef():
            yield operand
        case Arithmetic(left=left, right=right):
            yield from _figures(left)
            yield from _figures(right)
        case Call(arguments=arguments):
            for argument in arguments:
                yield from _figures(argument)
        case PropertyRef() | Literal() | LinkCount():
            return


def figure_type(figure: Operand, scope: Scope) -> DataType:
    """The type of a figure over the rows of `scope`.

    Raises:
        TypeFault: it has none.
    """
    match figure:
        case Change(operand=inner):
            return _change_type(figure, figure_type(inner, scope))
        case BaselineRef():
            rule = scope.baseline(figure)
            of = figure_type(rule.of, scope)
            return middle_type(of) if rule.statistic is Statistic.MEDIAN else DOUBLE
        case Aggregate():
            return _aggregate_type(figure, scope)
    raise LookupError(f"{print_operand(figure)} is no figure; checking refuses it")


def _aggregate_type(aggregate: Aggregate, scope: Scope) -> DataType:
    match aggregate.function:
        case AggregateFunction.COUNT | AggregateFunction.COUNT_DISTINCT:
            return INTEGER
        case AggregateFunction.AVG | AggregateFunction.SHARE | AggregateFunction.NULL_SHARE:
            return DOUBLE
        case AggregateFunction.MIN | AggregateFunction.MAX | AggregateFunction.SUM | AggregateFunction.MEDIAN:
            of = type_of(operand_of(aggregate), scope)
    if aggregate.function is AggregateFunction.SUM:
        return _wider(of, SUM_DIGITS)
    return middle_type(of) if aggregate.function is AggregateFunction.MEDIAN else of


def middle_type(of: DataType) -> DataType:
    """The type of the middle of such numbers: exact wherever the mean of two of them is."""
    digits = of.exact_digits
    return decimal(sum(digits) + 1, digits[1] + 1) if digits and sum(digits) < MAX_DIGITS else DOUBLE


def _wider(of: DataType, digits: int) -> DataType:
    """A decimal with room for more digits before the point, as far as there are any."""
    if of.kind is not Kind.DECIMAL or of.precision is None or of.scale is None:
        return of
    return decimal(min(MAX_DIGITS, of.precision + digits), of.scale)


def _change_type(change: Change, of: DataType) -> DataType:
    if of.is_number:
        return DOUBLE if change.relative else _wider(of, 1)
    if of.kind in (Kind.DATE, Kind.TIMESTAMP, Kind.DURATION) and not change.relative:
        return DURATION
    raise TypeFault(f"`{print_operand(change)}` has no meaning: a {of} has no difference", change.span)


def operand_of(aggregate: Aggregate) -> Operand:
    """What an aggregate of one operand is taken of."""
    match aggregate.argument:
        case None | Comparison() | Between() | Membership() | Presence() | Exists() | And() | Or() | Not():
            raise LookupError(f"{aggregate.function} takes no operand")
        case operand:
            return operand


def figure_unit(figure: Operand, scope: Scope) -> str | None:
    """The unit of a figure: that of its operand, where it is one of the values or a sum of them."""
    match figure:
        case Change(operand=inner, relative=False):
            return figure_unit(inner, scope)
        case BaselineRef():
            return figure_unit(scope.baseline(figure).of, scope)
        case Aggregate(function=function) if function in _IN_THE_UNIT:
            return unit_of(operand_of(figure), scope)
        case _:
            return None


def figure_faults(figure: Figure, scope: Scope, *, over_time: bool) -> Iterator[Fault]:
    """Every fault of a figure over the rows of `scope`.

    Args:
        figure: the aggregate or change.
        scope: what its operand can name.
        over_time: whether the rows of one group are of different days, as far as is known.
    """
    if isinstance(figure, BaselineRef):
        yield from _baseline_faults(figure, scope)
        return
    aggregate = figure.operand if isinstance(figure, Change) else figure
    if not isinstance(aggregate, Aggregate):
        message = f"`{print_operand(figure)}` takes one aggregate, such as {figure_name(figure)}(sum(x))"
        yield Fault(message, figure.span)
        return
    inner = list(_inner_faults(aggregate, scope)) or list(_operand_faults(aggregate, scope, over_time=over_time))
    yield from inner
    if inner or not isinstance(figure, Change):
        return
    try:
        figure_type(figure, scope)
    except TypeFault as error:
        yield error.fault


def _baseline_faults(ref: BaselineRef, scope: Scope) -> Iterator[Fault]:
    """Only the name can be at fault: what it stands for is checked where it is declared."""
    try:
        scope.baseline(ref)
    except TypeFault as error:
        yield error.fault


def figure_name(figure: Aggregate | Change) -> str:
    """The word before the bracket."""
    if isinstance(figure, Change):
        return "relative_change" if figure.relative else "change"
    return figure.function


def _inner_faults(aggregate: Aggregate, scope: Scope) -> Iterator[Fault]:
    """What is wrong inside, before any rule of the aggregate's own."""
    match aggregate.argument:
        case None:
            return
        case Comparison() | Between() | Membership() | Presence() | Exists() | And() | Or() | Not() as condition:
            inside = [node for atom in atoms(condition) for node in atom_nodes(atom)]
            yield from _nested_faults(aggregate, inside) or check_condition(condition, scope)
        case operand:
            yield from _nested_faults(aggregate, list(nodes(operand))) or _named_faults(aggregate, operand, scope)


def _nested_faults(aggregate: Aggregate, inside: list[Operand]) -> list[Fault]:
    nested = next((node for node in inside if isinstance(node, Aggregate | Change | BaselineRef)), None)
    if nested is None:
        return []
    return [Fault(f"`{print_operand(nested)}` cannot stand inside {aggregate.function}(...)", nested.span)]


def _named_faults(aggregate: Aggregate, operand: Operand, scope: Scope) -> list[Fault]:
    linked = [
        node
        for node in nodes(operand)
        if isinstance(node, LinkCount) or (isinstance(node, PropertyRef) and node.link is not None)
    ]
    if linked:
        message = f"`{print_operand(linked[0])}` is behind a link; {aggregate.function}(...) takes what the rows hold"
        return [Fault(message, linked[0].span)]
    if not any(references(operand)):
        return [Fault(f"`{print_operand(aggregate)}` names no property", aggregate.span)]
    # Set beside itself, an operand has every fault that it has anywhere.
    return list(check_condition(Comparison(ComparisonOperator.EQUAL, operand, operand), scope))


def _operand_faults(aggregate: Aggregate, scope: Scope, *, over_time: bool) -> Iterator[Fault]:
    signature = SIGNATURES[aggregate.function]
    if not signature.takes:
        return
    operand = operand_of(aggregate)
    of = type_of(operand, scope)
    if of.kind not in signature.takes:
        instead = "; write avg(days(x)) or the like" if of.kind is Kind.DURATION else ""
        message = f"`{print_operand(operand)}` is {of}, and {aggregate.function}(...) takes no such thing{instead}"
        yield Fault(message, operand.span)
        return
    if aggregate.function not in (AggregateFunction.SUM, AggregateFunction.AVG, AggregateFunction.MEDIAN):
        return
    for ref in dict.fromkeys(references(operand)):
        if scope.resolve(ref).role is PropertyRole.IDENTIFIER:
            message = f"'{ref}' is an identifier, and {aggregate.function}(...) of identifiers means nothing"
            yield Fault(f"{message}; count_distinct({ref}) counts them", ref.span)
    if aggregate.function is AggregateFunction.SUM:
        yield from _additivity_faults(operand, scope, over_time=over_time)


def _additivity_faults(operand: Operand, scope: Scope, *, over_time: bool) -> Iterator[Fault]:
    for ref in dict.fromkeys(_summed(operand)):
        additivity = scope.resolve(ref).additivity
        if additivity is Additivity.NON_ADDITIVE:
            yield Fault(f"'{ref}' is non_additive in the contract: a sum of it means nothing", ref.span)
        elif additivity is Additivity.SEMI_ADDITIVE and over_time:
            message = f"'{ref}' is semi_additive in the contract: it is not summed over time"
            yield Fault(f"{message}; group by day, or take max({ref})", ref.span)


def _summed(operand: Operand) -> Iterator[PropertyRef]:
    """The properties whose own values a sum adds up; a rate times hours is no rate."""
    match operand:
        case PropertyRef():
            yield operand
        case Arithmetic(ArithmeticOperator.ADD | ArithmeticOperator.SUBTRACT, left, right):
            yield from _summed(left)
            yield from _summed(right)
        case Arithmetic(left=Literal(), operator=ArithmeticOperator.MULTIPLY, right=scaled):
            yield from _summed(scaled)
        case Arithmetic(left=scaled, right=Literal()):
            yield from _summed(scaled)
        case _:
            return
