"""The table of functions in the reference, which is written from the code that checks and compiles them.

`python -m tests.unit.test_function_reference` writes it anew.
"""

from __future__ import annotations

from pathlib import Path

from catalog.expressions.functions import NEVER, SIGNATURES

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "expressions.md"
START = "<!-- functions: written by `python -m tests.unit.test_function_reference` -->\n"
END = "<!-- end of functions -->\n"


def table() -> str:
    """One line for each function, in the order of its definition."""
    lines = ["| Function | takes | gives | what | example | also unknown |", "| --- | --- | --- | --- | --- | --- |"]
    for function, signature in SIGNATURES.items():
        cells = (
            f"`{function}`",
            signature.said or "nothing",
            "what it takes" if signature.gives is None else str(signature.gives),
            signature.meaning,
            f"`{signature.example}` is `{signature.value}`",
            "" if signature.fails == NEVER else signature.fails,
        )
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
