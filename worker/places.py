"""Where a workspace's files speak of what the data shows to be otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from catalog.contract import Contract
from trivet.documents import Document, Path, Value
from trivet.findings import Finding

Where: TypeAlias = tuple[str, ...]
"""Keys from the root of a file. What stands in a list is named by its `name` or `id`, a link with its object type."""
_NAMES = ("name", "id")


class Places:
    """Looks things up in files that were read."""

    def __init__(self, documents: Sequence[Document]) -> None:
        """Args: the files of contract and monitors, as far as they are known."""
        self._documents = documents

    def finding(self, where: Where, file: str, message: str) -> Finding:
        """A finding at the last part of `where` that is written; of `file` as a whole where none is."""
        for document in self._documents:
            path = _path(document.root, where)
            if len(path) > 1:
                return document.finding(path, message)
        return Finding(file, None, "", message)


NOWHERE = Places(())
"""For what has no files."""


def where_of_column(contract: Contract, view: str, column: str | None) -> Where:
    """Where a contract names a column of a view, or the view itself."""
    for item in contract.object_types:
        if item.view == view:
            if column is None:
                return ("object_types", item.name, "view")
            for declared in item.properties:
                if column == declared.name:
                    return ("object_types", item.name, "properties", declared.name, "name")
                if column == declared.raw:
                    return ("object_types", item.name, "properties", declared.name, "raw")
                if column == declared.cause:
                    return ("object_types", item.name, "properties", declared.name, "cause")
                if declared.censored is not None and column in (declared.censored.side, declared.censored.limit):
                    return ("object_types", item.name, "properties", declared.name, "censored")
            return ("object_types", item.name, "provenance")
    return ()


def _path(value: Value, where: Where) -> Path:
    """As much of `where` as there is, with numbers for names."""
    path: list[str | int] = []
    for part in where:
        if isinstance(value, dict) and part in value:
            path.append(part)
            value = value[part]
        elif isinstance(value, list) and (number := _number(value, part)) is not None:
            path.append(number)
            value = value[number]
        else:
            break
    return tuple(path)


def _number(items: Sequence[Value], name: str) -> int | None:
    for number, item in enumerate(items):
        if isinstance(item, dict) and name in (*(item.get(key) for key in _NAMES), _link_name(item)):
            return number
    return None


def _link_name(item: Mapping[str, Value]) -> str | None:
    near = item.get("from")
    return f"{near.get('object')}.{item.get('name')}" if isinstance(near, dict) else None
