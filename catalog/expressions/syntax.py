"""Text to tree. The parser is Lark's LALR; the grammar stands in `grammar.lark`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from functools import cache
from importlib.resources import files
from typing import Any, cast

from lark import Lark, Token, Transformer, UnexpectedInput, v_args
from lark.exceptions import UnexpectedCharacters, UnexpectedEOF, UnexpectedToken, VisitError
from lark.tree import Meta

from catalog.datatypes import MAX_DIGITS
from catalog.expressions.baselines import BASELINE
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
    Span,
)
from trivet.documents import shown
from trivet.findings import did_you_mean

MAX_LENGTH = 4000
"""Characters of one condition. A longer one is a table that wants to be data."""
MAX_DEPTH = 50
"""Nested parentheses, so that no tree can exhaust the stack."""
MAX_OPERATORS = 100
"""Arithmetic operators and `not`s of one condition, for the same reason: `a + a + a` nests to the left."""

KEYWORDS = frozenset({"and", "or", "not", "between", "in", "is", "missing", "present", "true", "false"})
"""Words that cannot be the name of a property or link."""

_QUOTED = re.compile(r"""'[^']*'|"[^"]*\"""")
_ASKED_BASELINE = re.compile(rf"\b{BASELINE}\s*\.\s*[A-Za-z_][A-Za-z0-9_]*(?=\s*$)")
_CALLED = re.compile(r"[A-Za-z]+(?=\s*\()")
_NEGATION = re.compile(r"\bnot\b")
_NUMBER_LIKE = re.compile(r"[0-9.][A-Za-z0-9_.,]*")
_LIKE_A_DURATION = re.compile(r"[0-9.]+(y|ms|([smhdw]|min|sec|hour|day|week|month|year)s?)")
_LONGEST = timedelta(microseconds=2**63 - 1)
_DURATION_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_CALLING = frozenset({"any", "all", "exists", "count", "share"})
_CHANGES = ("change", "relative_change")
_SQL_WORDS = frozenset({"select", "where", "null", "like", "from", "case", "cast", "coalesce", "as"})


@dataclass(frozen=True, slots=True)
class SyntaxFault:
    """Why a text is not a condition."""

    message: str
    span: Span


class _LiteralFault(Exception):
    def __init__(self, message: str, span: Span) -> None:
        super().__init__(message)
        self.fault = SyntaxFault(message, span)


def parse_condition(text: str) -> Condition | SyntaxFault:
    """The tree of a condition, or what is wrong with it and where."""
    if not text.strip():
        return SyntaxFault("expected a condition such as `hourly_rate < 25`, found nothing", (0, 0))
    return cast("Condition | SyntaxFault", _parse(text, "start"))


def parse_operand(text: str) -> Operand | SyntaxFault:
    """The tree of an operand that stands alone, or what is wrong with it and where."""
    if not text.strip():
        return SyntaxFault("expected an operand such as `count()`, found nothing", (0, 0))
    return cast("Operand | SyntaxFault", _parse(text, "operand"))


def _parse(text: str, start: str) -> Condition | Operand | SyntaxFault:
    if len(text) > MAX_LENGTH:
        return SyntaxFault(f"a condition has at most {MAX_LENGTH} characters, this one {len(text)}", (0, len(text)))
    if (deep := _too_deep(text)) is not None:
        message = f"nested deeper than {MAX_DEPTH} levels or longer than {MAX_OPERATORS} operators; split the monitor"
        return SyntaxFault(message, (deep, deep + 1))
    try:
        tree = _parser().parse(text, start=start)
        return cast("Condition | Operand", _ToTree().transform(tree))
    except UnexpectedInput as error:
        return _explain(text, error)
    except VisitError as error:
        if isinstance(error.orig_exc, _LiteralFault):
            return error.orig_exc.fault
        raise


@cache
def _parser() -> Lark:
    grammar = files("catalog.expressions").joinpath("grammar.lark").read_text("utf-8")
    return Lark(grammar, parser="lalr", start=["start", "operand"], propagate_positions=True, maybe_placeholders=True)


def _too_deep(text: str) -> int | None:
    """Offset at which the text goes past a bound that keeps every tree shallow; None if it never does."""
    bare = _QUOTED.sub(lambda quoted: " " * len(quoted[0]), text)
    negations = {found.start() for found in _NEGATION.finditer(bare)}
    depth = operators = 0
    for offset, char in enumerate(bare):
        depth += (char == "(") - (char == ")")
        operators += char in "+-*/" or offset in negations
        if depth > MAX_DEPTH or operators > MAX_OPERATORS:
            return offset
    return None


def _explain(text: str, error: UnexpectedInput) -> SyntaxFault:
    if isinstance(error, UnexpectedToken) and (word := _miscalled(text[: error.token.start_pos])) is not None:
        return SyntaxFault(_unexpected(word[0]), word.span())
    match error:
        case UnexpectedEOF():
            return SyntaxFault("the condition ends too early", (len(text), len(text)))
        case UnexpectedToken(token=Token(type="$END")):
            hint = "; compare it with something, as in `b = true`" if "COMPARISON" in error.accepts else ""
            return SyntaxFault(f"the condition ends too early{hint}", (len(text), len(text)))
        case UnexpectedToken(token=token):
            start = token.start_pos or 0
            if text[start - 1 : start + 1] == "==":
                return SyntaxFault("unexpected '=='; write = for equality", (start - 1, start + 1))
            if (misread := _misread(error)) is not None:
                return SyntaxFault(_unexpected(misread), (misread.start_pos or 0, misread.end_pos or 0))
            if str(token) == "is" and (asked := _ASKED_BASELINE.search(text[:start])) is not None:
                return SyntaxFault("a baseline is never missing: without history it is insufficient", asked.span())
            if (instead := _instead(text[:start], str(token))) is not None:
                return SyntaxFault(f"{_unexpected(str(token))}; write {instead}", (start, start + len(token)))
            compared = token.type == "COMPARISON" and "NAME" not in error.accepts
            hint = "; a condition compares once: write `and` between two comparisons" if compared else ""
            return SyntaxFault(f"{_unexpected(str(token))}{hint}", (start, start + len(token)))
        case UnexpectedCharacters():
            start = error.pos_in_stream or 0
            if text[start] in "'\"":
                return SyntaxFault("the text is not closed on this line", (start, len(text)))
            if (word := _NUMBER_LIKE.match(text, start)) is not None:
                kinds = "not a number; write digits with a point"
                if _LIKE_A_DURATION.fullmatch(word[0]):
                    kinds = "neither a number nor a duration; a duration is whole and in s, m, h, d or w: 90m"
                return SyntaxFault(f"'{shown(word[0])}' is {kinds}", word.span())
            return SyntaxFault(_unexpected(text[start : start + 1]), (start, start + 1))
    return SyntaxFault(str(error), (0, len(text)))


def _instead(before: str, found: str) -> str | None:
    """What is to be written in place of a token that SQL has there."""
    before = before.rstrip()
    if found == "not" and before.endswith(" is"):
        return "`is present`"
    if found == "*" and before.replace(" ", "").endswith("count("):
        return "`count()`"
    return None


def _misread(error: UnexpectedToken) -> Token | None:
    """The word before the token, if it was read as a name only because its own meaning had no place there."""
    before: Token | None = error.token_history[-1] if error.token_history else None
    if before is None or before.type != "NAME" or before.lower() not in KEYWORDS | _SQL_WORDS:
        return None
    return before


def _miscalled(before: str) -> re.Match[str] | None:
    """The first `ALL(`, `EXISTS(` or the like, which was read as a function's name."""
    bare = _QUOTED.sub(lambda quoted: " " * len(quoted[0]), before)
    return next(
        (word for word in _CALLED.finditer(bare) if word[0].lower() in _CALLING and word[0] not in _CALLING), None
    )


def _unexpected(found: str) -> str:
    hints = {"&": "; write and", "|": "; write or", ";": "; one condition stands alone"}
    found = shown(found)
    if found.lower() in _SQL_WORDS:
        return f"unexpected '{found}': a condition is not SQL; see the expression reference"
    if found.lower() in KEYWORDS | _CALLING and found not in KEYWORDS | _CALLING:
        return f"unexpected '{found}': keywords are lower case, write '{found.lower()}'"
    return f"unexpected '{found}'{hints.get(found, '')}"


def _span(meta: Meta) -> Span:
    return meta.start_pos, meta.end_pos


@v_args(meta=True)
class _ToTree(Transformer[Token, Any]):
    """One method for each alias of the grammar."""

    def start(self, meta: Meta, items: list[Condition]) -> Condition:
        return items[0]

    def operand(self, meta: Meta, items: list[Operand]) -> Operand:
        return items[0]

    def baseline(self, meta: Meta, items: list[Token]) -> Operand:
        return BaselineRef(str(items[1]), span=_span(meta))

    def disjunction(self, meta: Meta, items: list[Condition]) -> Condition:
        return Or(tuple(items), span=_span(meta))

    def conjunction(self, meta: Meta, items: list[Condition]) -> Condition:
        return And(tuple(items), span=_span(meta))

    def not_(self, meta: Meta, items: list[Condition]) -> Condition:
        return Not(items[0], span=_span(meta))

    def quantified(self, meta: Meta, items: list[Any]) -> Condition:
        quantifier, inner = Quantifier(str(items[0])), items[1]
        span = _span(meta)
        match inner:
            case Comparison():
                return Comparison(inner.operator, inner.left, inner.right, quantifier, span)
            case Between():
                return Between(inner.value, inner.low, inner.high, quantifier, span)
            case Membership():
                return Membership(inner.value, inner.choices, quantifier, span)
        raise _LiteralFault(f"{quantifier}(...) takes exactly one comparison; write `not` outside of it", span)

    def comparison(self, meta: Meta, items: list[Any]) -> Condition:
        operator = ComparisonOperator("!=" if items[1] == "<>" else str(items[1]))
        return Comparison(operator, items[0], items[2], span=_span(meta))

    def between(self, meta: Meta, items: list[Operand]) -> Condition:
        return Between(items[0], items[1], items[2], span=_span(meta))

    def not_between(self, meta: Meta, items: list[Operand]) -> Condition:
        return Not(self.between(meta, items), span=_span(meta))

    def membership(self, meta: Meta, items: list[Operand]) -> Condition:
        return Membership(items[0], tuple(items[1:]), span=_span(meta))

    def not_membership(self, meta: Meta, items: list[Operand]) -> Condition:
        return Not(self.membership(meta, items), span=_span(meta))

    def missing(self, meta: Meta, items: list[PropertyRef]) -> Condition:
        return Presence(items[0], present=False, span=_span(meta))

    def present(self, meta: Meta, items: list[PropertyRef]) -> Condition:
        return Presence(items[0], present=True, span=_span(meta))

    def exists(self, meta: Meta, items: list[Token]) -> Condition:
        return Exists(str(items[1]), span=_span(meta))

    def text_test(self, meta: Meta, items: list[Any]) -> Condition:
        span = _span(meta)
        test = Call(Function(str(items[0])), (items[1], items[2]), span=span)
        return Comparison(ComparisonOperator.EQUAL, test, Literal(True, span=span), span=span)

    def count(self, meta: Meta, items: list[Token | None]) -> Operand:
        if items[1] is None:
            return Aggregate(AggregateFunction.COUNT, None, span=_span(meta))
        return LinkCount(str(items[1]), span=_span(meta))

    def share(self, meta: Meta, items: list[Any]) -> Operand:
        return Aggregate(AggregateFunction.SHARE, items[1], span=_span(meta))

    def call(self, meta: Meta, items: list[Any]) -> Operand:
        name, arguments, span = str(items[0]), tuple(item for item in items[1:] if item is not None), _span(meta)
        if name in _CHANGES or name in set(AggregateFunction):
            if len(arguments) != 1:
                raise _LiteralFault(f"{name}(...) takes one operand", span)
            if name in _CHANGES:
                return Change(arguments[0], relative=name != "change", span=span)
            return Aggregate(AggregateFunction(name), arguments[0], span=span)
        if name.lower() in _SQL_WORDS:
            raise _LiteralFault(_unexpected(name), (span[0], span[0] + len(name)))
        if name not in set(Function):
            known = [*Function, *AggregateFunction, *_CHANGES, "exists", "any", "all", "date", "timestamp"]
            raise _LiteralFault(f"there is no function '{shown(name)}'{did_you_mean(name, known)}", span)
        return Call(Function(name), arguments, span=span)

    def arithmetic(self, meta: Meta, items: list[Any]) -> Operand:
        return Arithmetic(ArithmeticOperator(str(items[1])), items[0], items[2], span=_span(meta))

    def reference(self, meta: Meta, items: list[Token | None]) -> PropertyRef:
        first, second = items
        if second is None:
            return PropertyRef(str(first), span=_span(meta))
        return PropertyRef(str(second), str(first), span=_span(meta))

    def number(self, meta: Meta, items: list[Token]) -> Literal:
        return Literal(_number(str(items[0]), _span(meta)), span=_span(meta))

    def negative(self, meta: Meta, items: list[Token]) -> Literal:
        value = _number(str(items[0]), _span(meta))
        # Unary minus would round to the 28 digits of Python's context.
        return Literal(value.copy_negate() if value else value, span=_span(meta))

    def percent(self, meta: Meta, items: list[Token]) -> Literal:
        sign, digits, exponent = _number(str(items[0])[:-1], _span(meta)).as_tuple()
        # Division would round to the 28 digits of Python's context.
        return Literal(Decimal((sign, digits, int(exponent) - 2)), span=_span(meta), is_percent=True)

    def negative_percent(self, meta: Meta, items: list[Token]) -> Literal:
        value = self.percent(meta, items).value
        negated = value.copy_negate() if isinstance(value, Decimal) and value else value
        return Literal(negated, span=_span(meta), is_percent=True)

    def text(self, meta: Meta, items: list[Token]) -> Literal:
        return Literal(str(items[0])[1:-1], span=_span(meta))

    def true(self, meta: Meta, items: list[Token]) -> Literal:
        return Literal(True, span=_span(meta))

    def false(self, meta: Meta, items: list[Token]) -> Literal:
        return Literal(False, span=_span(meta))

    def duration(self, meta: Meta, items: list[Token]) -> Literal:
        text = str(items[0])
        try:
            value = timedelta(**{_DURATION_UNITS[text[-1]]: int(text[:-1])})
        except (OverflowError, ValueError):
            value = timedelta.max
        if value > _LONGEST:
            raise _LiteralFault(f"{shown(text)} is longer than any duration that can be held", _span(meta))
        return Literal(value, span=_span(meta))

    def date(self, meta: Meta, items: list[Token]) -> Literal:
        try:
            year, month, day = (int(item) for item in items[1:])
            return Literal(date(year, month, day), span=_span(meta))
        except (OverflowError, ValueError):
            message = "no such date; write date(year, month, day) with whole numbers"
            raise _LiteralFault(message, _span(meta)) from None

    def timestamp(self, meta: Meta, items: list[Token]) -> Literal:
        try:
            fields = [int(item) for item in items[1:]]
            if not 3 <= len(fields) <= 6:
                raise ValueError
            year, month, day, hour, minute, second = fields + [0] * (6 - len(fields))
            return Literal(datetime(year, month, day, hour, minute, second), span=_span(meta))
        except (OverflowError, ValueError):
            message = "no such time; write timestamp(year, month, day, hour, minute, second) with whole numbers"
            raise _LiteralFault(message, _span(meta)) from None


def _number(text: str, span: Span) -> Decimal:
    try:
        _, digits, exponent = Decimal(text).as_tuple()
    except InvalidOperation:  # The exponent itself is beyond all bounds.
        digits, exponent = (), MAX_LENGTH
    scale = max(0, -int(exponent))
    whole = max(len(digits) + int(exponent), 0)
    if whole + scale > MAX_DIGITS:
        raise _LiteralFault(f"{shown(text)} has more than {MAX_DIGITS} digits; no type can hold it exactly", span)
    return Decimal(text)
