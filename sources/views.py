"""Governed views: SQL files that people write and review, read before any data is.

A file holds one statement, either a query (it defines `ontology.<file name>`) or
`CREATE [OR REPLACE] VIEW schema.name AS` and a query. It may read raw tables and other governed
views, each named with its schema, and nothing else: no file, no table function, no clock, no
chance. So a view says the same of one warehouse file whenever it is asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path, PurePosixPath

import sqlglot
from sqlglot import Token, exp
from sqlglot.errors import ParseError, SqlglotError

from catalog.sql_bounds import beyond_bounds
from sources.identifiers import RAW_SCHEMA, RESERVED_SCHEMAS, VIEW_SCHEMA, quoted
from sources.view_rules import Relation, position_at, relations, view_faults
from sources.workspace_files import matching_files
from trivet.findings import Finding, Position, did_you_mean

_DIALECT = "duckdb"
_LARGEST_FILE = 256 * 1024
_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True, slots=True)
class View:
    """A governed view as its file defines it."""

    document: str
    """The file, relative to the workspace."""
    schema: str
    name: str
    statement: str
    """The CREATE VIEW statement in the author's own words; its lines are those of the file."""
    reads: tuple[Relation, ...]
    """The raw tables and views that it reads."""

    @property
    def qualified(self) -> str:
        """`schema.name`, as contracts and reports name it."""
        return f"{self.schema}.{self.name}"


def read_views(workspace: Path, directory: str, sources: Iterable[str]) -> tuple[tuple[View, ...], list[Finding]]:
    """The views of a folder in an order in which they can be created, and all that is wrong with them.

    Args:
        workspace: the workspace.
        directory: its folder of `*.sql` files, relative; a workspace without one has no views.
        sources: names of the declared sources, which are those of the raw tables.
    """
    if not any((workspace / directory).glob("*.sql")):
        return (), []
    try:
        files = matching_files(workspace, f"{directory}/*.sql")
    except ValueError as error:
        return (), [Finding(directory, None, "", str(error))]
    views: list[View] = []
    findings: list[Finding] = []
    for file in files:
        view = read_view(file.document, file.path.read_bytes())
        if isinstance(view, View):
            views.append(view)
        else:
            findings += view
    # A view that could not be read would make every view over it look wrong as well.
    if not findings:
        findings += _twice_defined(views) + _unknown_relations(views, sources)
    if findings:
        return (), findings
    return _in_order(views)


def read_view(document: str, content: bytes) -> View | list[Finding]:
    """The view that a file defines, or why it defines none. What it reads is not looked up here."""
    text = _decoded(document, content)
    if isinstance(text, Finding):
        return [text]
    try:
        if (bound := beyond_bounds(text, _DIALECT)) is not None:
            return [Finding(document, None, "", f"cannot be read as SQL: {bound}")]
        tokens = sqlglot.tokenize(text, read=_DIALECT)
        parsed = sqlglot.parse(text, read=_DIALECT)
    except ParseError as error:
        fault = error.errors[0]
        position = Position(fault.get("line") or 1, fault.get("col") or 1)
        return [Finding(document, position, "", f"cannot be read as SQL: {fault.get('description')}")]
    except (SqlglotError, RecursionError) as error:
        return [Finding(document, None, "", f"cannot be read as SQL: {str(error).splitlines()[0]}")]
    statements = [item for item in parsed if item and not isinstance(item, exp.Semicolon)]
    if len(statements) != 1:
        message = f"holds {len(statements)} statements; a view file holds exactly one"
        return [Finding(document, None, "", message)]
    return _view(document, text, tokens, statements[0])


def _decoded(document: str, content: bytes) -> str | Finding:
    if len(content) > _LARGEST_FILE:
        size = f"{_LARGEST_FILE // 1024} KB"
        return Finding(document, None, "", f"is larger than {size}; split it into several views")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        position = Position(content[: error.start].count(b"\n") + 1, 1)
        return Finding(document, position, "", f"byte 0x{content[error.start]:02x} is not UTF-8")


def _view(document: str, text: str, tokens: list[Token], statement: exp.Expr) -> View | list[Finding]:
    created = text
    if isinstance(statement, exp.Create):
        query, schema, name, message = _created(statement)
    else:
        query, schema, name, message = statement, VIEW_SCHEMA, PurePosixPath(document).stem, ""
        created = f"CREATE VIEW {quoted(schema, name)} AS {text}"
    if message := message or _name_fault(schema, name):
        return [Finding(document, position_at(text, tokens[0].start), "", message)]
    if faults := view_faults(query, tokens, text):
        return [Finding(document, fault.position, "", fault.message) for fault in faults]
    return View(document, schema, name, created, tuple(relations(query, text)))


def _created(statement: exp.Create) -> tuple[exp.Expr, str, str, str]:
    """Query, schema and name of a CREATE VIEW, and why it cannot be taken."""
    target = statement.find(exp.Table)
    query = statement.expression
    if statement.kind != "VIEW" or target is None or query is None:
        message = "defines no view; a view file holds SELECT or CREATE VIEW schema.name AS SELECT"
        return statement, "", "", message
    if statement.args.get("properties") or statement.args.get("exists") or target.catalog:
        message = "write plain CREATE VIEW schema.name AS, without TEMP, IF NOT EXISTS or a database"
        return statement, "", "", message
    return query, target.db, target.name, ""


def _name_fault(schema: str, name: str) -> str:
    if not schema:
        return f"{name!r} needs its schema: CREATE VIEW {VIEW_SCHEMA}.{name} AS"
    if schema.lower() in RESERVED_SCHEMAS:
        return f"a governed view cannot be put into the schema {schema!r}; use {VIEW_SCHEMA}.{name}"
    for part in (schema, name):
        if not _NAME.fullmatch(part):
            letters = "lower-case letters, digits and underscores, a letter first"
            return f"{part!r} is no name for a view: {letters}"
    return ""


def _twice_defined(views: Sequence[View]) -> list[Finding]:
    first: dict[str, View] = {}
    findings: list[Finding] = []
    for view in views:
        earlier = first.setdefault(view.qualified, view)
        if earlier is not view:
            message = f"{view.qualified} is defined by {earlier.document} already; a view has one file"
            findings.append(Finding(view.document, Position(1, 1), "", message))
    return findings


def _unknown_relations(views: Sequence[View], sources: Iterable[str]) -> list[Finding]:
    known = {f"{RAW_SCHEMA}.{source}".lower() for source in sources} | {view.qualified for view in views}
    findings: list[Finding] = []
    for view in views:
        for relation in view.reads:
            if relation.name not in known:
                nearest = did_you_mean(relation.name, known)
                message = f"reads {relation.name}, which is neither a source nor a view{nearest}"
                findings.append(Finding(view.document, relation.position, "", message))
    return findings


def _in_order(views: Sequence[View]) -> tuple[tuple[View, ...], list[Finding]]:
    """Views after the views that they read; among equals by name, so that every build is alike."""
    by_name = {view.qualified: view for view in sorted(views, key=lambda view: view.qualified)}
    graph = {
        name: [relation.name for relation in view.reads if relation.name in by_name] for name, view in by_name.items()
    }
    try:
        return tuple(by_name[name] for name in TopologicalSorter(graph).static_order()), []
    except CycleError as error:
        cycle: list[str] = list(reversed(error.args[1]))
        circle = " -> ".join(cycle)
        message = f"these views read each other: {circle}; one of them must stand on raw tables alone"
        return (), [Finding(by_name[cycle[0]].document, None, "", message)]
