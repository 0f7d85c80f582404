"""Faults: what validation holds against a tree of text, in words of our own.

A field type or validator raises `expected` or `refused`; `explain` turns these, and what pydantic
says by itself, into faults, by walking the model's annotations in step with their places. So each
fault says what was expected, what was found, and the nearest known name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from pydantic_core import ErrorDetails, PydanticCustomError

from trivet.documents import EMPTY, Path, shown
from trivet.findings import did_you_mean
from trivet.shapes import bare_type, child_shape, choices_of, fields_of, is_union, tagged_member, union_members


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with one value of a tree, before anyone knows which file it stands in."""

    path: Path
    message: str
    at_key: bool = False
    """The key itself is at fault and not its value."""


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


Errors: TypeAlias = "Sequence[tuple[tuple[str | int, ...], ErrorDetails]]"
"""Pydantic's errors with their places, which count from the value that they are about. Where a union
failed, the first part of a place names a member and not a key."""


def explain(shape: Any, value: object, errors: Errors, path: Path) -> Iterator[Fault]:
    """What pydantic's `errors` say of `value`, which stands at `path` and should be a `shape`."""
    shape = bare_type(shape)
    for place, error in errors:
        if not place:
            yield from _faults(error, value, path)
    groups: dict[str | int, list[tuple[tuple[str | int, ...], ErrorDetails]]] = {}
    for place, error in errors:
        if place:
            groups.setdefault(place[0], []).append((place[1:], error))
    if is_union(shape):
        if groups:
            yield from _explain_union(union_members(shape), groups, value, path)
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
            yield from explain(child_shape(shape, part), _child(value, part), deeper, (*path, part))


def _explain_union(
    members: Sequence[Any], groups: Mapping[str | int, Errors], value: object, path: Path
) -> Iterator[Fault]:
    """Of the members, the one that was meant; where none has the right kind, what each expected."""
    if len(groups) == 1 and len(members) > 1:
        (tag, errors), *_ = groups.items()
        yield from explain(tagged_member(members, tag), value, errors, path)
        return
    tries = list(zip(members, groups.values(), strict=False))
    meant = [(member, errors) for member, errors in tries if all(place for place, _ in errors)]
    if meant:
        member, errors = min(meant, key=lambda each: _distance(*each))
        yield from explain(member, value, errors, path)
        return
    firsts = [errors[0][1] for _, errors in tries]
    told = [error for error in firsts if _wanted(error) is None]
    if told:
        yield from _faults(told[0], value, path)
    else:
        yield Fault(path, _expectation(firsts, value))


def _distance(member: Any, errors: Errors) -> tuple[int, int]:
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
        # A choice that nobody can be expected to guess is told with what it decides.
        choices, meaning = choices_of(shape, key)
        expected_one = f": expected one of {', '.join(choices)}" if choices else ""
        return Fault(path, f"missing key '{key}'{expected_one}{f'; {meaning}' if choices and meaning else ''}")
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


def _child(value: object, part: str | int) -> object:
    if isinstance(value, Mapping):
        return value.get(part, EMPTY)
    return value[part] if isinstance(value, (list, tuple)) and isinstance(part, int) else EMPTY
