"""`sources.yaml`: which files are loaded, and how they are written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal

from pydantic import BeforeValidator, WithJsonSchema, model_validator

from trivet.documents import read_yaml
from trivet.faults import Fault, expected, refused
from trivet.fields import Between, Name, Text
from trivet.findings import Finding, Position
from trivet.validation import StrictModel, validate

Format = Literal["csv", "parquet"]
Encoding = Literal["utf-8", "cp1252", "latin-1"]
Quote = Literal['"', "'"]
Unnamed = Literal["refuse", "number"]

_FORMATS: dict[str, Format] = {
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
}
_DELIMITER = re.compile(r"[\t,;:|!#$%&*+/<=>?@^`~]")
_CSV_ONLY = ("delimiter", "encoding", "quote", "header", "unnamed")


def _read_delimiter(value: object) -> str:
    text = "\t" if value == "tab" else value
    if not isinstance(text, str) or not _DELIMITER.fullmatch(text):
        raise expected('one character such as "," ";" or "|", or the word tab')
    return str(text)


Delimiter = Annotated[str, BeforeValidator(_read_delimiter), WithJsonSchema({"type": "string", "minLength": 1})]


class SourceModel(StrictModel):
    """One source: files of one layout, which become one raw table."""

    name: Name
    """Name of the raw table, `raw.<name>`."""
    files: Text
    """A path or a glob inside the workspace, with forward slashes."""
    format: Format | None = None
    """`csv` or `parquet`; from the file's name where it is not said."""
    delimiter: Delimiter = ","
    """Between the cells of a CSV file: one character, or the word `tab`."""
    encoding: Encoding = "utf-8"
    """Of a CSV file; `utf-8` may begin with a byte-order mark."""
    quote: Quote = '"'
    """Round the cells of a CSV file that hold a delimiter or a line end."""
    header: Annotated[int, Between(1, 100)] = 1
    """Row of a CSV file that names the columns; the rows above it, such as a title or units, are not loaded."""
    unnamed: Unnamed = "refuse"
    """What becomes of a column of a CSV file without a name; `number` calls it `column_` and its number."""

    @model_validator(mode="after")
    def _format_is_known(self) -> SourceModel:
        if self.kind is None:
            message = "the file's name does not say its format; add `format: csv` or `format: parquet`"
            raise refused(Fault(("files",), message))
        if self.kind == "parquet" and (keys := [key for key in _CSV_ONLY if key in self.model_fields_set]):
            message = "a Parquet file has none; remove this key"
            raise refused(*(Fault((key,), message, at_key=True) for key in keys))
        if self.quote == self.delimiter:
            raise refused(Fault(("quote",), "quote and delimiter are the same character"))
        return self

    @property
    def kind(self) -> Format | None:
        """The format, said or read off the file's name."""
        return self.format or _FORMATS.get(PurePosixPath(self.files).suffix.lower())


class SourcesModel(StrictModel):
    """The file `sources.yaml`."""

    sources: list[SourceModel]
    """What `trivet ingest` loads, in this order."""

    @model_validator(mode="after")
    def _names_differ(self) -> SourcesModel:
        first: dict[str, int] = {}
        faults: list[Fault] = []
        for number, source in enumerate(self.sources):
            earlier = first.setdefault(source.name.lower(), number)
            if earlier != number:
                message = f"sources[{earlier}] has this name already (case is ignored); a source is one table"
                faults.append(Fault(("sources", number, "name"), message))
        if not self.sources:
            faults.append(Fault(("sources",), "declares no source; list at least one"))
        if faults:
            raise refused(*faults)
        return self


@dataclass(frozen=True, slots=True)
class Source:
    """A declared source, with the place of its declaration."""

    name: str
    files: str
    """A path or glob, relative to the workspace."""
    format: Format
    delimiter: str
    encoding: Encoding
    quote: str
    header: int
    """The row that names the columns, counted from 1."""
    unnamed: Unnamed
    file: str
    """The file that declares it."""
    position: Position | None
    """Of its `files` there."""
    key: str

    def finding(self, message: str) -> Finding:
        """A fault in what the source names, at the place where it is named."""
        return Finding(self.file, self.position, self.key, message)


def read_sources(workspace: Path, file: str) -> tuple[tuple[Source, ...], list[Finding]]:
    """The sources that a file of the workspace declares, or all that is wrong with it."""
    try:
        content = (workspace / file).read_bytes()
    except FileNotFoundError:
        return (), [Finding(file, None, "", "does not exist; declare there what is to be loaded")]
    except OSError as error:
        return (), [Finding(file, None, "", f"cannot be read: {error.strerror}")]
    read = read_yaml(content, file=file)
    if read.document is None:
        return (), list(read.findings)
    model, findings = validate(read.document, SourcesModel)
    if model is None:
        return (), list(findings)
    return tuple(
        Source(
            name=source.name,
            files=source.files,
            format=source.kind or "csv",
            delimiter=source.delimiter,
            encoding=source.encoding,
            quote=source.quote,
            header=source.header,
            unnamed=source.unnamed,
            file=file,
            position=read.document.position(("sources", number, "files")),
            key=f"sources[{number}].files",
        )
        for number, source in enumerate(model.sources)
    ), []
