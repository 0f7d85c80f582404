"""Documents that were never files: trees that something else kept, to be read by the loaders of files."""

from __future__ import annotations

from collections.abc import Mapping

from trivet.documents import EMPTY, Document, Place, Scalar, Value
from trivet.findings import Position


def document_of(tree: Mapping[str, object], file: str) -> Document:
    """A document made from a tree of mappings, lists, texts and None, as if it were read from a file.

    Its scalars are plain ones, so that each is what its field takes it for. Everything stands in the first place.

    Args:
        tree: the values; None stands for a key with nothing behind it.
        file: how findings name it.
    """
    root = {key: _plain_value(value) for key, value in tree.items()}
    return Document(file, root, (), _place(root))


def _plain_value(value: object) -> Value:
    if isinstance(value, Mapping):
        return {str(key): _plain_value(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain_value(item) for item in value]
    if isinstance(value, bool):
        return Scalar("true" if value else "false")
    return EMPTY if value is None else Scalar(str(value))


def _place(value: Value) -> Place:
    """A place for each value, by which it is known that a key is there at all."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return Place(Position(1, 1), children={key: _place(item) for key, item in pairs})
