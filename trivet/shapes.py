"""The shape of a model, read from its annotations: which keys there are, and what may stand under each."""

from __future__ import annotations

import types
from collections.abc import Sequence
from enum import Enum
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, Tag
from pydantic.fields import FieldInfo


def bare_type(shape: Any) -> Any:
    """The type under annotations, field descriptions and `| None`."""
    if isinstance(shape, FieldInfo):
        return bare_type(shape.annotation)
    if get_origin(shape) is Annotated:
        return bare_type(get_args(shape)[0])
    if is_union(shape) and len(union_members(shape)) == 1:
        return bare_type(union_members(shape)[0])
    return shape


def is_union(shape: Any) -> bool:
    """Whether a type is `A | B`; `A | None` is one, too."""
    return get_origin(shape) in (Union, types.UnionType)


def union_members(shape: Any) -> list[Any]:
    """The members of a union, None aside."""
    return [member for member in get_args(shape) if member is not types.NoneType]


def tagged_member(members: Sequence[Any], tag: str | int) -> Any:
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


def choices_of(shape: Any, key: str) -> tuple[list[str], str]:
    """The closed list of values that may stand under a key of a model, and what the model says of the key."""
    field = fields_of(shape).get(key)
    kind = bare_type(field)
    if field is None or not (isinstance(kind, type) and issubclass(kind, Enum)):
        return [], ""
    return [str(member.value) for member in kind], field.description or ""


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
