"""A condition over groups, with a property in place of each figure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from catalog.expressions.printing import print_operand
from catalog.expressions.tree import Aggregate, BaselineRef, Change, Condition, PropertyRef

Tree = TypeVar("Tree")


def lift(condition: Condition) -> Condition:
    """The condition with a property, named by its text, for each figure."""
    return swap(condition, _lifted)


def _lifted(node: Any) -> PropertyRef | None:
    return PropertyRef(print_operand(node)) if isinstance(node, Aggregate | Change | BaselineRef) else None


def swap(tree: Tree, instead: Callable[[Any], Any]) -> Tree:
    """A tree in which each part for which `instead` has something else is replaced by that."""
    found = instead(tree)
    if found is not None:
        return found  # type: ignore[no-any-return]
    if isinstance(tree, tuple):
        return tuple(swap(item, instead) for item in tree)  # type: ignore[return-value]
    if not is_dataclass(tree) or isinstance(tree, type):
        return tree
    return replace(tree, **{item.name: swap(getattr(tree, item.name), instead) for item in fields(tree)})
