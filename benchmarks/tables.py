"""Tables of figures, and their places in `docs/performance.md`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Table:
    """What one benchmark found."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    """What the floor took, so that ratios can be turned into seconds."""

    def markdown(self) -> str:
        """As the page shows it."""
        lines = [self.columns, tuple("---" if index == 0 else "---:" for index in range(len(self.columns))), *self.rows]
        table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        return f"**{self.title}**" + (f" {self.note}" if self.note else "") + f"\n\n{table}\n"


def ratio(figure: float | None, floor: float) -> str:
    """A ratio as the tables show it; a dash where one of both was not measured."""
    return f"{figure / floor:.2f}" if figure is not None and floor else "-"


def written(page: str, bench: str, tables: Sequence[Table]) -> str:
    """The page with the tables of one benchmark in their place.

    Raises:
        ValueError: the page has no place for them.
    """
    begin, end = f"<!-- bench {bench} -->\n", "<!-- end -->"
    before, found, rest = page.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"the page has no place for the tables of '{bench}': {begin.strip()} ... {end}")
    return f"{before}{begin}\n" + "\n".join(table.markdown() for table in tables) + f"\n{end}{after}"


def write(page: Path, bench: str, tables: Sequence[Table]) -> None:
    """Sets the tables of one benchmark into a page."""
    page.write_text(written(page.read_text("utf-8"), bench, tables), "utf-8")
