"""Where a part of a parsed statement stands in the text that it was parsed from."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

Span = tuple[int, int]
"""First offset of a part, and the offset behind its last character."""


def span_of(node: exp.Expr, text: str) -> Span | None:
    """Where `node` stands in `text`; None where the parser kept no position of it or of anything in it."""
    places = list(_places(node, text))
    if not places:
        return None
    start, end = min(first for first, _ in places), max(last for _, last in places)
    # The position of a call is that of its name, and brackets have none.
    missing = text.count("(", start, end) - text.count(")", start, end)
    while missing > 0 and (bracket := text.find(")", end)) >= 0:
        end, missing = bracket + 1, missing - 1
    return start, end


def _places(node: exp.Expr, text: str) -> Iterator[Span]:
    for part in node.walk():
        place = _place(part)
        if place is None or place[1] > len(text):
            continue
        if isinstance(part, exp.Star) and text[slice(*place)] != "*":
            continue  # The one that the parser puts where a statement begins with FROM.
        if isinstance(part.parent, exp.Column) and part is not part.parent.this:
            # Resolving gives a column the qualifier's position in FROM, unless it was written before the column.
            column = _place(part.parent.this)
            if column is None or text[place[1] : column[0]].strip(' "') != ".":
                continue
        yield place


def _place(node: exp.Expr) -> Span | None:
    start, end = node.meta.get("start"), node.meta.get("end")
    return (start, end + 1) if isinstance(start, int) and isinstance(end, int) else None
