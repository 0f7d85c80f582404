"""From a tree of text to a model: strict field types, and every fault at once in words of our own.

Pydantic judges; its errors are turned into findings by walking the model's annotations in step with
their places, so that each finding names its line, what was expected, what was found and the nearest
known name. The field types take a text as written and decide what it means: nothing is coerced
(`no` is no boolean, `012` no integer), and a `StrictModel` refuses field types that would.
"""

from __future__ import annotations

import re
import types
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import partial
from itertools import islice
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, Union, get_args, get_origin

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    PlainSerializer,
    PlainValidator,
    Tag,
    ValidationError,
    WithJsonSchema,
    WrapValidator,
)
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import CoreSchema, ErrorDetails, PydanticCustomError, core_schema

from trivet.documents import (
    EMPTY,
    MOST_FINDINGS,
    TOO_MANY_FINDINGS,
    Document,
    Path,
    Scalar,
    in_order,
    shown,
)
from trivet.durations import DURATION_PATTERN, duration_text, parse_duration
from trivet.findings import Finding, did_you_mean

M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with one value of a tree, before anyone knows which file it stands in."""

    path: Path
    message: str
    at_key: bool = False
    """The key itself is at fault and not its value."""


def validate(document: Document, model: type[M]) -> tuple[M | None, tuple[Finding, ...]]:
    """The document as a `model`, or every fault of it in the order of the file."""

    def finding(fault: Fault) -> Finding:
        return document.finding(fault.path, fault.message, key=fault.at_key)

    valid, faults = examine(document.root, model)
    return valid, findings_of(faults, finding, document.file)


def examine(tree: object, model: type[M]) -> tuple[M | None, tuple[Fault, ...]]:
    """The tree as a `model`, or its faults: at most `MOST_FINDINGS`, and one more if there are more."""
    try:
        return model.model_validate(tree), ()
    except ValidationError as error:
        errors = [(detail["loc"], detail) for detail in error.errors(include_url=False)]
    return None, tuple(islice(_explain(model, tree, errors, ()), MOST_FINDINGS + 1))


def findings_of(faults: Sequence[Fault], place: Callable[[Fault], Finding], file: str) -> tuple[Finding, ...]:
    """The faults as findings, each once and in order; `place` knows where each stands."""
    findings = in_order(dict.fromkeys(place(fault) for fault in faults[:MOST_FINDINGS]))
    if len(faults) > MOST_FINDINGS:
        return (*findings, Finding(file, None, "", TOO_MANY_FINDINGS))
    return findings


def expected(what: str, *, found: str | None = None, advice: str = "") -> PydanticCustomError:
    """The error of a field type: `expected {what}, found {found}; {advice}`.

    Args:
        what: a noun phrase; where a union fails, those of its members are joined with "or".
        found: in place of the value itself, which must not be shown if it could be a secret.
        advice: what to do about it.
    """
    return PydanticCustomError("expected", "expected {what}", {"what": what, "found": found, "advice": advice})


def refused(*faults: Fault | str) -> PydanticCustomError:
    """The error of a validator that says everything itself: of the value, or of places inside it."""
    inside = [Fault((), fault) if isinstance(fault, str) else fault for fault in faults]
    message = "; ".join(fault.message for fault in inside)
    return PydanticCustomError("refused", "{message}", {"message": message, "faults": inside})


@dataclass(frozen=True, slots=True)
class Between:
    """A number written plainly, within inclusive bounds: `Annotated[int, Between(1, 64)]`, or a `Decimal`."""

    low: int = -(2**53) + 1
    high: int = 2**53 - 1

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """`source` is `int` or `Decimal`."""
        inner = core_schema.int_schema() if source is int else core_schema.decimal_schema()
        read = partial(self._read, _INTEGERS if source is int else _NUMBERS)
        return core_schema.no_info_before_validator_function(read, inner)

    def __get_pydantic_json_schema__(self, schema: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """What editors complete and check by."""
        kind = "integer" if schema["schema"]["type"] == "int" else "number"
        bounds = {"minimum": self.low, "maximum": self.high}
        return {"type": kind} | {name: bound for name, bound in bounds.items() if abs(bound) < 2**53 - 1}

    def _read(self, kind: _NumberKind, value: object) -> Any:
        number = kind.parse(value)
        what = f"{kind.noun} {self._range(kind.example if number is None else '')}"
        if number is None or not self.low <= number <= self.high:
            raise expected(what)
        return _unquoted(value, number, what)

    def _range(self, example: str) -> str:
        low, high = self.low > Between().low, self.high < Between().high
        if low and high:
            return f"from {self.low} to {self.high}"
        if low or high:
            return f"of at least {self.low}" if low else f"of at most {self.high}"
        return f"such as {example}" if example else "within 2**53 - 1"


@dataclass(frozen=True, slots=True)
class _NumberKind:
    noun: str
    example: str
    pattern: re.Pattern[str]
    type: Callable[[Any], Any]

    def parse(self, value: object) -> Any:
        if isinstance(value, str):
            return self.type(value) if self.pattern.fullmatch(value) else None
        return value if isinstance(value, (int, Decimal)) and not isinstance(value, bool) else None


_INTEGERS = _NumberKind("an integer", "5", re.compile(r"-?(0|[1-9][0-9]{0,15})"), int)
_NUMBERS = _NumberKind("a number", "0.8", re.compile(r"-?(0|[1-9][0-9]{0,15})(\.[0-9]{1,15})?"), Decimal)


def _unquoted(value: object, meaning: T, what: str) -> T:
    """`meaning`, unless `value` was quoted: who quotes a number or a boolean means a text."""
    if isinstance(value, Scalar) and value.quoted:
        raise expected(what, found=f"'{shown(value)}' in quotes", advice="remove the quotes")
    return meaning


def _read_flag(value: object) -> bool:
    if isinstance(value, bool):
        return value
    text = value if isinstance(value, str) else ""
    if text in _FLAGS:
        return _unquoted(value, _FLAGS[text], "true or false")
    meant = _FLAGS.get(_FLAG_WORDS.get(text.lower(), text.lower()))
    advice = "" if meant is None else f"write {str(meant).lower()}"
    raise expected("true or false", advice=advice)


_FLAGS = {"true": True, "false": False}
_FLAG_WORDS = {"yes": "true", "y": "true", "on": "true", "no": "false", "n": "false", "off": "false"}


def _text_reader(*, lines: bool) -> Callable[[object], str]:
    def read(value: object) -> str:
        if not isinstance(value, str):
            raise expected("text")
        # The last line end of a `|` or `>` block comes from the notation and says nothing.
        text = str(value).rstrip("\n") if lines else str(value).removesuffix("\n")
        if not text.strip():
            raise expected("text", found="only blanks" if text else "an empty text")
        if not lines and "\n" in text:
            raise expected("text on one line", found="several lines")
        for char in text.translate({10: None, 9: None}) if lines else text:
            if unicodedata.category(char) in _CONTROLS or char in _DIRECTION_MARKS:
                raise refused(f"the control character U+{ord(char):04X} is not accepted; remove it")
        if not unicodedata.is_normalized("NFC", text):
            raise refused("the text is not in Unicode's composed form (NFC); type its accented letters anew")
        return text

    return read


_CONTROLS = frozenset({"Cc", "Cs", "Zl", "Zp"})
# Marks that make a text read otherwise than it is ("Trojan Source", CVE-2021-42574).
_DIRECTION_MARKS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def _pattern_reader(pattern: str, what: str) -> Callable[[object], str]:
    compiled = re.compile(pattern.strip("^$"))

    def read(value: object) -> str:
        if not isinstance(value, str) or not compiled.fullmatch(value):
            raise expected(what)
        return str(value)

    return read


def _read_duration(value: object) -> timedelta:
    duration = parse_duration(value) if isinstance(value, str) else value
    if not isinstance(duration, timedelta):
        raise expected("a duration such as 15m")
    return duration


def _text_schema(**more: Any) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", **more})


_NAME = r"^[A-Za-z_][A-Za-z0-9_]{0,62}$"
_SLUG = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$"

Integer = Annotated[int, Between()]
"""`-?(0|[1-9][0-9]*)`, at most 2**53 - 1 either way; bounds: `Annotated[int, Between(1, 64)]`."""
Number = Annotated[Decimal, Between()]
"""An exact decimal such as `0.8`; bounds: `Annotated[Decimal, Between(0, 1)]`."""
Flag = Annotated[bool, BeforeValidator(_read_flag)]
"""`true` or `false`, and no other word."""
Text = Annotated[str, BeforeValidator(_text_reader(lines=False)), _text_schema(minLength=1)]
"""One line, not blank, NFC, without control characters. Never coerced: `title: 012` is the text `012`."""
Prose = Annotated[str, BeforeValidator(_text_reader(lines=True)), _text_schema(minLength=1)]
"""As `Text`, of any number of lines, and with tabs; line ends at its end are dropped."""
Name = Annotated[
    str,
    BeforeValidator(_pattern_reader(_NAME, "a name such as pay_date (letters, digits and _, at most 63)")),
    _text_schema(pattern=_NAME),
]
"""An identifier, as views, properties and links have them."""
Slug = Annotated[
    str,
    BeforeValidator(_pattern_reader(_SLUG, "a name such as pay-floor (letters, digits, - _ . and at most 63)")),
    _text_schema(pattern=_SLUG),
]
"""A name that people and URLs share, as monitors and receivers have them."""
DurationText = Annotated[
    timedelta,
    BeforeValidator(_read_duration),
    PlainSerializer(duration_text, return_type=str, when_used="json"),
    _text_schema(pattern=DURATION_PATTERN),
]
"""A whole number and a unit: `5s`, `15m`, `1h`, `8d`, `2w`."""


class _DocumentSchema(GenerateJsonSchema):
    def encode_default(self, dft: Any) -> Any:
        """Defaults as a file would spell them."""
        if isinstance(dft, timedelta):
            return duration_text(dft)
        return float(dft) if isinstance(dft, Decimal) else super().encode_default(dft)


class StrictModel(BaseModel):
    """Base of what a YAML file may hold: unknown keys are refused, values never change.

    Raises:
        TypeError: at definition, for a field whose type pydantic would coerce text to.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True, hide_input_in_errors=True)

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        for name, field in cls.model_fields.items():
            if _coerces(field.annotation, field.metadata):
                raise TypeError(f"{cls.__name__}.{name}: use Integer, Number, Flag or DurationText")

    @classmethod
    def model_json_schema(cls, *args: Any, **options: Any) -> dict[str, Any]:
        """As pydantic's, with defaults as a file would spell them."""
        return super().model_json_schema(*args, **{"schema_generator": _DocumentSchema, **options})


_COERCED = (bool, int, float, Decimal, date, datetime, time, timedelta, bytes)


def _coerces(annotation: Any, metadata: Sequence[object]) -> bool:
    if any(isinstance(item, (BeforeValidator, PlainValidator, WrapValidator, Between)) for item in metadata):
        return False
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _coerces(arguments[0], arguments[1:])
    if origin is Literal:
        return False
    return annotation in _COERCED or any(_coerces(argument, ()) for argument in arguments)


# From here on: pydantic's errors as faults. A place that pydantic gives counts from the value it
# belongs to; where a union failed, its first part names a member and not a key.

_Errors: TypeAlias = "Sequence[tuple[tuple[str | int, ...], ErrorDetails]]"


def _explain(shape: Any, value: object, errors: _Errors, path: Path) -> Iterator[Fault]:
    """What pydantic's `errors` say of `value`, which stands at `path` and should be a `shape`."""
    shape = bare_type(shape)
    for place, error in errors:
        if not place:
            yield from _faults(error, value, path)
    groups: dict[str | int, list[tuple[tuple[str | int, ...], ErrorDetails]]] = {}
    for place, error in errors:
        if place:
            groups.setdefault(place[0], []).append((place[1:], error))
    if _is_union(shape):
        if groups:
            yield from _explain_union(_members(shape), groups, value, path)
        return
    for part, inner in groups.items():
        deeper = []
        for place, error in inner:
            if not place and error["type"] in ("missing", "extra_forbidden"):
                yield _key_fault(error["type"], str(part), shape, path)
            elif place == ("[key]",):
                yield from (replace(fault, at_key=True) for fault in _faults(error, part, (*path, part)))
            else:
                deeper.append((place, error))
        if deeper:
            yield from _explain(child_shape(shape, part), _child(value, part), deeper, (*path, part))


def _explain_union(
    members: Sequence[Any], groups: Mapping[str | int, _Errors], value: object, path: Path
) -> Iterator[Fault]:
    """Of the members, the one that was meant; where none has the right kind, what each expected."""
    if len(groups) == 1 and len(members) > 1:
        (tag, errors), *_ = groups.items()
        yield from _explain(_tagged(members, tag), value, errors, path)
        return
    tries = list(zip(members, groups.values(), strict=False))
    meant = [(member, errors) for member, errors in tries if all(place for place, _ in errors)]
    if meant:
        member, errors = min(meant, key=lambda each: _distance(*each))
        yield from _explain(member, value, errors, path)
        return
    firsts = [errors[0][1] for _, errors in tries]
    told = [error for error in firsts if _wanted(error) is None]
    if told:
        yield from _faults(told[0], value, path)
    else:
        yield Fault(path, _expectation(firsts, value))


def _distance(member: Any, errors: _Errors) -> tuple[int, int]:
    """How far a value is from a member of a union: its faults, then its keys that are not even misspelt."""
    unknown = [str(place[0]) for place, error in errors if error["type"] == "extra_forbidden"]
    strange = [key for key in unknown if "did you mean" not in did_you_mean(key, fields_of(member))]
    return len(errors), len(strange)


def _faults(error: ErrorDetails, value: object, path: Path) -> Iterator[Fault]:
    """The faults of one error that is about `value` itself."""
    context: Mapping[str, Any] = error.get("ctx", {})
    match error["type"]:
        case "too_short" if isinstance(value, list) and len(value) >= context["min_length"]:
            return  # Pydantic counts valid items only, and what ails the others is said of them.
        case "refused":
            for fault in context["faults"]:
                yield replace(fault, path=(*path, *fault.path))
        case "union_tag_not_found" if isinstance(value, dict):
            key = context["discriminator"].strip("'")
            if key in value:
                yield Fault((*path, key), f"expected text, found {_found(value[key])}")
            else:
                yield Fault(path, f"missing key '{key}'")
        case "union_tag_invalid":
            key = context["discriminator"].strip("'")
            yield Fault((*path, key), _expectation([error], _child(value, key)))
        case _ if _wanted(error) is not None:
            yield Fault(path, _expectation([error], value))
        case "value_error" | "assertion_error":
            yield Fault(path, str(context["error"]))
        case _:
            yield Fault(path, error["msg"][:1].lower() + error["msg"][1:])


def _key_fault(kind: str, key: str, shape: Any, path: Path) -> Fault:
    if kind == "missing":
        return Fault(path, f"missing key '{key}'")
    hint = did_you_mean(shown(key), fields_of(shape))
    return Fault((*path, key), f"unknown key '{shown(key)}'{hint}", at_key=True)


_KINDS = {
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "union_tag_not_found": "a mapping",
    "dict_type": "a mapping",
    "list_type": "a list",
    "tuple_type": "a list",
    "set_type": "a list",
    "frozen_set_type": "a list",
    "string_type": "text",
    "none_required": "nothing",
}


def _wanted(error: ErrorDetails) -> str | None:
    """What was expected, as a noun phrase; None where the error is not of that form."""
    context: Mapping[str, Any] = error.get("ctx", {})
    match error["type"]:
        case "expected":
            return str(context["what"])
        case "enum" | "literal_error" | "union_tag_invalid":
            choices = _choices(context)
            return f"one of {', '.join(choices)}" if len(choices) > 1 else f"'{choices[0]}'"
        case "too_short":
            return f"at least {context['min_length']} {'item' if context['min_length'] == 1 else 'items'}"
        case "too_long":
            return f"at most {context['max_length']} {'item' if context['max_length'] == 1 else 'items'}"
        case kind:
            return _KINDS.get(kind)


def _choices(context: Mapping[str, Any]) -> list[str]:
    return re.findall("'([^']*)'", context.get("expected_tags") or context.get("expected", ""))


def _expectation(errors: Sequence[ErrorDetails], value: object) -> str:
    """`expected a or b, found c; advice` of errors that all have the form of an expectation."""
    wanted = " or ".join(dict.fromkeys(_wanted(error) or "" for error in errors))
    contexts: list[Mapping[str, Any]] = [error.get("ctx", {}) for error in errors]
    instead = next((context["found"] for context in contexts if context.get("found")), None)
    advice = next((f"; {context['advice']}" for context in contexts if context.get("advice")), "")
    choices = [choice for context in contexts for choice in _choices(context)]
    if choices and isinstance(value, str):
        hint = did_you_mean(shown(value), choices)
        advice = hint if "did you mean" in hint else advice
    return f"expected {wanted}{';' if ', ' in wanted else ','} found {instead or _found(value)}{advice}"


def _found(value: object) -> str:
    if value is EMPTY or value is None:
        return "nothing"
    if isinstance(value, (list, tuple)):
        return "a list" if value else "an empty list"
    return "a mapping" if isinstance(value, dict) else f"'{shown(str(value))}'"


def bare_type(shape: Any) -> Any:
    """The type under annotations, field descriptions and `| None`."""
    if isinstance(shape, FieldInfo):
        return bare_type(shape.annotation)
    if get_origin(shape) is Annotated:
        return bare_type(get_args(shape)[0])
    if _is_union(shape) and len(_members(shape)) == 1:
        return bare_type(_members(shape)[0])
    return shape


def _is_union(shape: Any) -> bool:
    return get_origin(shape) in (Union, types.UnionType)


def _members(shape: Any) -> list[Any]:
    return [member for member in get_args(shape) if member is not types.NoneType]


def _tagged(members: Sequence[Any], tag: str | int) -> Any:
    """The member of a discriminated union that `tag` names."""
    for member in members:
        if any(isinstance(item, Tag) and item.tag == tag for item in get_args(member)[1:]):
            return member
        if any(tag in get_args(bare_type(field)) for field in fields_of(member).values()):
            return member
    return Any


def fields_of(shape: Any) -> dict[str, FieldInfo]:
    """The keys that a model accepts; none for what is no model."""
    model = bare_type(shape)
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        return {}
    return {field.alias or name: field for name, field in model.model_fields.items()}


def child_shape(shape: Any, part: str | int) -> Any:
    """The type of what stands under a key or an index of a bare type; `Any` where it has none."""
    if isinstance(part, str) and fields_of(shape):
        return fields_of(shape).get(part, Any)
    arguments = get_args(shape)
    if not arguments:
        return Any
    if get_origin(shape) is tuple and isinstance(part, int) and Ellipsis not in arguments:
        return arguments[part]
    return arguments[1] if get_origin(shape) is dict else arguments[0]


def _child(value: object, part: str | int) -> object:
    if isinstance(value, Mapping):
        return value.get(part, EMPTY)
    return value[part] if isinstance(value, (list, tuple)) and isinstance(part, int) else EMPTY
