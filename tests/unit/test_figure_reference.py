"""The table of aggregates in the reference, which is written from the code that checks and compiles them.

`python -m tests.unit.test_figure_reference` writes it anew.
"""

from __future__ import annotations

from pathlib import Path

from catalog.expressions.aggregates import SIGNATURES

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "expressions.md"
START = "<!-- figures: written by `python -m tests.unit.test_figure_reference` -->\n"
END = "<!-- end of figures -->\n"


def table() -> str:
    """One line for each aggregate, in the order of its definition."""
    lines = ["| Figure | takes | gives | what |", "| --- | --- | --- | --- |"]
    for signature in SIGNATURES.values():
        cells = (f"`{signature.written}`", signature.said, signature.gives, signature.meaning)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def written(page: str) -> str:
    """The page with the table as the code has it."""
    before, rest = page.split(START)
    _, after = rest.split(END)
    return f"{before}{START}\n{table()}\n{END}{after}"


def test_the_page_says_what_the_code_does() -> None:
    page = PAGE.read_text("utf-8")
    assert page == written(page)


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text("utf-8")), "utf-8")
