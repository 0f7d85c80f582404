"""How large a statement becomes when its names are resolved: each use of an alias is replaced by what it stands for."""

from __future__ import annotations

from sqlglot import exp

LARGEST = 5000
"""Nodes of one SELECT. A person's question has a few hundred; `a+a AS b, b+b AS c, ...` doubles with each alias."""


def expands_too_far(tree: exp.Expr) -> exp.Select | None:
    """The first SELECT that would grow beyond `LARGEST` by aliases that stand for aliases; None if none would."""
    return next((select for select in tree.find_all(exp.Select) if _expanded(select) > LARGEST), None)


def _expanded(select: exp.Select) -> int:
    """Nodes after every alias is replaced, at most; 0 where nothing names one."""
    sizes: dict[str, int] = {}
    total, replaced = 0, False
    for part in (*select.selects, *_clauses(select)):
        size = 0
        for node in part.walk():
            grown = sizes.get(node.name.lower(), 0) if isinstance(node, exp.Column) and not node.table else 0
            replaced = replaced or grown > 0
            size += 1 + grown
        if isinstance(part, exp.Alias):
            sizes[part.alias.lower()] = size
        total += size
    return total if replaced else 0


def _clauses(select: exp.Select) -> list[exp.Expr]:
    found = [select.args.get(name) for name in ("where", "group", "having", "order", "distinct")]
    return [clause for clause in found if isinstance(clause, exp.Expr)]
