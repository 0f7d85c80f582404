"""From a tree of text to a model, or every fault of it at once.

Pydantic judges; `trivet.fields` has the types that a field may have, `trivet.faults` the words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import islice
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainValidator, ValidationError, WrapValidator
from pydantic.json_schema import GenerateJsonSchema

from trivet.documents import MOST_FINDINGS, TOO_MANY_FINDINGS, Document, in_order
from trivet.durations import duration_text
from trivet.faults import Fault, explain
from trivet.fields import Between
from trivet.findings import Finding

M = TypeVar("M", bound=BaseModel)


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
    return None, tuple(islice(explain(model, tree, errors, ()), MOST_FINDINGS + 1))


def findings_of(faults: Sequence[Fault], place: Callable[[Fault], Finding], file: str) -> tuple[Finding, ...]:
    """The faults as findings, each once and in order; `place` knows where each stands."""
    findings = in_order(dict.fromkeys(place(fault) for fault in faults[:MOST_FINDINGS]))
    if len(faults) > MOST_FINDINGS:
        return (*findings, Finding(file, None, "", TOO_MANY_FINDINGS))
    return findings


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
