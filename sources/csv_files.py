"""CSV files, read by one strict parser and rewritten for the loader in one plain form.

RFC 4180 with the liberties of real exports: any line ending, a byte-order mark, blank lines. Every
cell is kept exactly as written; nothing is trimmed, guessed, padded or left out. An empty cell is
empty text, quoted or not: the two are the same to every reader of the format.

The copy quotes every cell and carries each record's row number, so that the loader, which reads
in parallel, has nothing left to decide.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sources.layout import Column, StagedFile, header_findings
from sources.source_bytes import BUFFER, WitnessedReader, byte_findings
from sources.workspace_files import WorkspaceFile, open_regular
from trivet.errors import InputError
from trivet.findings import Finding, Position

_FINDINGS_PER_FILE = 20
_MISREAD_MARKS = (b"\xef\xbb\xbf".decode("cp1252"), b"\xef\xbb\xbf".decode("latin-1"))


@dataclass(frozen=True, slots=True)
class CsvDialect:
    """How a CSV file is written."""

    delimiter: str = ","
    encoding: str = "utf-8"
    """`utf-8` (a byte-order mark is accepted), `cp1252` or `latin-1`."""
    quote: str = '"'
    header: int = 1
    """The row that names the columns, counted as in a spreadsheet; rows above it are no records."""
    number_unnamed: bool = False
    """Whether a column without a name is called `column_<its number>`, instead of being refused."""


def stage_csv(file: WorkspaceFile, dialect: CsvDialect, copy: Path) -> StagedFile:
    """Checks a CSV file to its last byte and writes the plain copy.

    Raises:
        InputError: with a finding, line included, for each fault: up to 20 of a file.
    """
    with open_regular(file) as raw:
        original = WitnessedReader(raw)
        # "utf-8-sig" skips a byte-order mark, which would otherwise hide a quote that follows it.
        encoding = "utf-8-sig" if dialect.encoding == "utf-8" else dialect.encoding
        text = io.TextIOWrapper(io.BufferedReader(original, BUFFER), encoding=encoding, newline="")
        records = _Records(file.document, text, dialect)
        is_text = True
        try:
            columns = records.header()
            with copy.open("w", encoding="utf-8", newline="") as plain:
                csv.writer(plain, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(records)
        except UnicodeDecodeError:
            is_text = False
    if original.has_nul or not is_text:
        records.findings.extend(byte_findings(file, dialect.encoding, _FINDINGS_PER_FILE))
    if records.findings:
        raise InputError(records.findings)
    return StagedFile(
        document=file.document,
        path=copy,
        columns=columns,
        rows=records.rows,
        blank_lines=records.blank_lines,
        sha256=original.digest.hexdigest(),
        size=original.size,
    )


class _Records:
    """The records of one file, each with its row number behind it; faults are kept, not raised."""

    def __init__(self, document: str, text: io.TextIOWrapper, dialect: CsvDialect) -> None:
        self.document = document
        self.findings: list[Finding] = []
        self.rows = 0
        self.blank_lines = 0
        self._dialect = dialect
        self._reader = csv.reader(text, delimiter=dialect.delimiter, quotechar=dialect.quote, strict=True)
        self._width = 0

    def header(self) -> tuple[Column, ...]:
        """The columns, from the row that the dialect declares.

        Raises:
            InputError: there is no usable header, so that no record could be judged.
        """
        names, position = self._header_record()
        if self._dialect.number_unnamed:
            names = [name if name.strip() else f"column_{number}" for number, name in enumerate(names, start=1)]
        if found := header_findings(names, self.document, position):
            raise InputError(found)
        self._width = len(names)
        return tuple(Column(name, "VARCHAR") for name in names)

    def _header_record(self) -> tuple[list[str], Position]:
        """The cells of the header row, and where it stands; the rows above it may be of any width."""
        wanted, position, cells = self._dialect.header, Position(1, 1), None
        for row in range(1, wanted + 1):
            position = Position(self._reader.line_num + 1, 1)
            try:
                cells = next(self._reader, None)
            except csv.Error as error:
                raise InputError([self._syntax_finding(position.line, error)]) from None
            if cells is None:
                raise self._refusal(None, self._no_header(row - 1))
            if row == 1 and cells and cells[0].startswith(_MISREAD_MARKS):
                mark = "the file begins with a UTF-8 byte-order mark"
                raise self._refusal(position, f"{mark} but is declared {self._dialect.encoding}; declare utf-8")
        if not cells:
            row_or_line = "line 1" if wanted == 1 else f"row {wanted}"
            raise self._refusal(position, f"{row_or_line} is blank; the header was expected there")
        return cells, position

    def _no_header(self, rows: int) -> str:
        if not rows:
            return "the file is empty; a header line was expected"
        ends = "1 row" if rows == 1 else f"{rows} rows"
        return f"the file has {ends}; row {self._dialect.header} is declared to be the header"

    def __iter__(self) -> Iterator[list[str | int]]:
        """Each sound record as its cells and its row number, counted from the file's first row as in a spreadsheet."""
        reader, width, row, line = self._reader, self._width, self._dialect.header, self._reader.line_num
        try:
            for cells in reader:
                row += 1
                if len(cells) == width:
                    self.rows += 1
                    yield [*cells, row]
                elif not cells:
                    self.blank_lines += 1
                elif not self._keep(self._width_finding(line + 1, len(cells))):
                    return
                line = reader.line_num
        except csv.Error as error:
            self.findings.append(self._syntax_finding(line + 1, error))

    def _refusal(self, position: Position | None, message: str) -> InputError:
        return InputError([Finding(self.document, position, "", message)])

    def _keep(self, finding: Finding) -> bool:
        """Keeps a finding; false once there are enough of them."""
        self.findings.append(finding)
        if len(self.findings) < _FINDINGS_PER_FILE:
            return True
        message = f"the first {_FINDINGS_PER_FILE} faults are listed; the rest of the file was not read"
        self.findings.append(Finding(self.document, None, "", message))
        return False

    def _width_finding(self, line: int, width: int) -> Finding:
        many = "too many" if width > self._width else "too few"
        fields = "1 field" if width == 1 else f"{width} fields"
        advice = "a cell that contains the delimiter must be quoted"
        message = f"{many}: {fields} where the header has {self._width}; {advice}"
        return Finding(self.document, Position(line, 1), "", message)

    def _syntax_finding(self, line: int, error: csv.Error) -> Finding:
        text = str(error)
        if "expected after" in text:
            message = "text follows a closing quote; a quote inside a quoted cell must be doubled"
        elif "unexpected end of data" in text:
            message = "a quoted cell of the record that begins here is never closed"
        elif "field larger than" in text:
            size = f"{csv.field_size_limit()} characters"
            message = f"a cell of the record that begins here exceeds {size}; is a quote never closed?"
        else:
            message = f"cannot be read as CSV: {text}"
        return Finding(self.document, Position(line, 1), "", message)
