"""Where words go: documents and tables to standard output, everything else to standard error.

Text from data is shown as data: never as markup, and with its control characters made visible. A reader may go away
(`trivet evaluate | head`): what was asked for is done all the same, and the exit code says how it ended.
"""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from trivet.verdicts import Verdict

STYLES = {Verdict.BREACH: "bold red", Verdict.NO_DATA: "bold yellow", Verdict.COMPLIANT: "green"}


class _Console(Console):
    """A console that outlives its reader; Rich's own would end the program, with the code of a breach."""

    reader_left = False

    def on_broken_pipe(self) -> None:
        """Lets everything that is written from now on go nowhere."""
        self.reader_left = True
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.file.fileno())
        os.close(nowhere)


class Output:
    """The command's two streams."""

    def __init__(self) -> None:
        self.as_json = False
        # Without a terminal nothing tells a width, and 80 columns break what logs and mails could show whole.
        width = None if sys.stdout.isatty() else 120
        self._console = _Console(highlight=False, markup=False, emoji=False, width=width)
        self._errors = _Console(stderr=True, highlight=False, markup=False, emoji=False)

    def document(self, value: Mapping[str, Any] | Sequence[Any]) -> None:
        """One JSON document on one line of standard output.

        It is ASCII: some readers of JSON Lines break lines at U+2028 too, a terminal obeys U+009B, and a file's name
        need not be UTF-8.
        """
        self.raw(json.dumps(value, default=str))

    def print(self, *parts: str | Text | Table, style: str | None = None) -> None:
        """Words for a person; left out where a program reads."""
        if not self.as_json:
            # Lines of text are left to the terminal: a fold would break the columns and what is copied from them.
            self._console.print(*parts, style=style, soft_wrap=not any(isinstance(part, Table) for part in parts))

    def raw(self, text: str) -> None:
        """Text as it is, without wrapping: SQL and schemas that are meant to be copied."""
        try:
            sys.stdout.write(text + "\n")
        except BrokenPipeError:
            self.let_go()

    def flush(self) -> None:
        """Hands on what was written so far."""
        try:
            sys.stdout.flush()
        except BrokenPipeError:
            self.let_go()

    def let_go(self) -> None:
        """Writes nothing more to standard output."""
        self._console.on_broken_pipe()

    def complain(self, text: str, *, style: str | None = None) -> None:
        """Words on standard error."""
        self._errors.print(Text(visible(text, keep_lines=True), style=style or ""), soft_wrap=True)

    def progress(self, text: str) -> None:
        """How far long work is, on standard error, for whoever watches; nothing without a terminal."""
        if self._errors.is_terminal:
            self._errors.print(Text(visible(text), style="dim"), soft_wrap=True)

    def tell(self, text: str) -> None:
        """An alert for whoever stands at the terminal: beside the document, not in it, where a program reads.

        Raises:
            BrokenPipeError: nobody reads any more.
        """
        if self.as_json:
            self.complain(text)
        else:
            self.print(Text(visible(text, keep_lines=True)))
        if (self._errors if self.as_json else self._console).reader_left:
            raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[str | Text | None]], title: str = "") -> None:
        """A table for a person."""
        if not self.as_json:
            self._console.print(make_table(columns, rows, title))


def make_table(columns: Sequence[str], rows: Iterable[Sequence[str | Text | None]], title: str = "") -> Table:
    """A plain table; None is shown as a dash."""
    table = Table(box=box.SIMPLE_HEAD, title=title or None, title_justify="left", title_style="bold", pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(
            *(cell if isinstance(cell, Text) else Text(visible("—" if cell is None else cell)) for cell in row)
        )
    return table


def visible(text: str, *, keep_lines: bool = False) -> str:
    """Text from data with control, format and bidirectional characters made visible."""
    return "".join(
        char if char.isprintable() or (keep_lines and char == "\n") else char.encode("unicode_escape").decode("ascii")
        for char in text
    )


def verdict_text(verdict: Verdict) -> Text:
    """The verdict in its colour."""
    return Text(verdict.value, style=STYLES[verdict])
