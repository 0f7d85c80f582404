"""The reference pages hold exactly what there is: no code, key, command, column or word without its line.

Tables are compared as wholes, so a line about something that is gone fails as well.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Iterator
from datetime import timedelta
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any, get_args, get_origin

import click
import pytest
import sqlalchemy as sa
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from alerts.states import AlertEvent, AlertKind, AlertState, DeliveryState, MemberState
from catalog.contract import Contract
from catalog.expressions.checking import Scope, check_condition
from catalog.expressions.satisfiability import never_faults
from catalog.expressions.syntax import KEYWORDS, SyntaxFault, parse_condition
from catalog.expressions.tree import ArithmeticOperator, ComparisonOperator, Quantifier
from catalog.loading import load_contract
from catalog.referee.certified import Clause, Purpose
from catalog.referee.decisions import DecisionWord
from cli.invocation import Invocation
from cli.main import trivet
from cli.schema import MODELS
from ledger.entries import EntryType
from ledger.verification.findings import DamageKind
from monitors.alerting import Lasting, Threshold
from resolver.candidates import Drop
from resolver.outcome import ClaimVerdict
from tests.markdown import blocks, code, prose, sections, tables
from trivet.documents import read_yaml
from trivet.durations import duration_text
from trivet.exits import Exit
from trivet.metadata import metadata
from trivet.outcomes import OutcomeState, ReasonCode
from trivet.validation import validate
from trivet.verdicts import (
    Cause,
    EvaluationStatus,
    NotMadeReason,
    Reason,
    ReplayResult,
    Severity,
    SlotCause,
    Trigger,
    Verdict,
)

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
NO_DEFAULT = "—"


def read(page: str) -> str:
    return (DOCS / page).read_text("utf-8")


def rows_of(page: str, first_column: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Heading and row of every table whose first column has that name."""
    for table in tables(read(page)):
        if table.columns[0] == first_column:
            yield from ((table.heading, row) for row in table.rows)


# --- Codes

CODES: dict[str, type[Enum]] = {
    "Verdicts": Verdict,
    "Reasons of a member": Reason,
    "Causes": Cause,
    "Reasons of an evaluation": NotMadeReason,
    "Causes of a slot that was not evaluated": SlotCause,
    "Statuses": EvaluationStatus,
    "Triggers": Trigger,
    "Results of a replay": ReplayResult,
    "Severities": Severity,
    "States of an alert": AlertState,
    "Kinds of an alert": AlertKind,
    "States of a flagged member": MemberState,
    "Events of an alert": AlertEvent,
    "States of a delivery": DeliveryState,
    "Exit codes": Exit,
    "Ledger entry types": EntryType,
    "Kinds of damage": DamageKind,
    "Clauses of the referee": Clause,
    "Decisions of the referee": DecisionWord,
    "States of an outcome": OutcomeState,
    "Reason codes of a question": ReasonCode,
    "Fates of a dropped proposal": Drop,
    "Verdicts of a claim": ClaimVerdict,
    "Purposes of a statement": Purpose,
}


@pytest.mark.parametrize("heading", CODES)
def test_every_code_has_its_line_in_the_order_of_its_definition(heading: str) -> None:
    documented = [code(row[0])[0] for found, row in rows_of("reference/codes.md", "Code") if found == heading]
    assert documented == [str(member.value) for member in CODES[heading]]


def test_every_table_of_codes_belongs_to_an_enumeration() -> None:
    assert {heading for heading, _ in rows_of("reference/codes.md", "Code")} == set(CODES)


def test_every_exit_code_is_named_in_its_line() -> None:
    named = {row[0].strip("`"): row[1] for found, row in rows_of("reference/codes.md", "Code") if found == "Exit codes"}
    assert all(named[str(int(item))].startswith(f"`{item.name}`") for item in Exit)
    listed = {row[0] for heading, row in rows_of("reference/commands.md", "code") if heading == "Exit codes"}
    assert {str(int(item)) for item in Exit} <= listed


# --- Keys of the workspace's files

PAGES = {
    "settings": "reference/settings.md",
    "contract": "reference/contract.md",
    "monitors": "reference/monitors.md",
    "sources": "reference/sources.md",
}


def inner_model(annotation: Any) -> tuple[type[BaseModel] | None, str]:
    """The model inside a field's type, and what stands between the field and its keys: nothing, `[]` or `.NAME`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation, ""
    mark = {list: "[]", tuple: "[]", dict: ".NAME"}.get(get_origin(annotation), "")
    for argument in get_args(annotation):
        model, inner = inner_model(argument)
        if model is not None:
            return model, mark + inner
    return None, ""


def default_text(field: FieldInfo) -> str:
    """A default as the pages write it."""
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    match value:
        case None | "":
            return NO_DEFAULT
        case bool():
            return f"`{str(value).lower()}`"
        case timedelta():
            return f"`{duration_text(value)}`"
        case list() | tuple():
            return f"`[{', '.join(map(str, value))}]`"
        case dict():
            assert not value
            return "`{}`"
        case Enum():
            return f"`{value.value}`"
        case Lasting():
            return f"`{value.evaluations}`"
        case Threshold():
            return f"`{value}`"
        case int() | str() | Decimal():
            return f"`{value}`"
    raise AssertionError(f"no spelling for the default {value!r}")


def keys(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Every key below a model with its default; a section itself is none."""
    for name, field in model.model_fields.items():
        path = f"{prefix}{field.alias or name}"
        section, mark = inner_model(field.annotation)
        if section is None:
            yield path, default_text(field)
        else:
            yield from keys(section, f"{path}{mark}.")


def documented_keys(page: str) -> Iterator[tuple[str, str]]:
    for heading, row in rows_of(page, "Key"):
        section = re.fullmatch("`(.+)`", heading)
        assert section, f"{page}: the heading '{heading}' over a table of keys names no section"
        yield f"{section[1]}.{code(row[0])[0]}", row[2]


@pytest.mark.parametrize("kind", MODELS)
def test_every_key_of_a_file_has_its_line_with_its_default(kind: str) -> None:
    documented = list(documented_keys(PAGES[kind]))
    assert len(documented) == len(dict(documented)), "a key is documented twice"
    assert dict(documented) == dict(keys(MODELS[kind]))


@pytest.mark.parametrize("kind", MODELS)
def test_the_example_of_a_page_is_valid(kind: str) -> None:
    examples = [block for block in blocks(read(PAGES[kind])) if block.language == "yaml"]
    assert examples
    for example in examples:
        document = read_yaml(example.text, file=PAGES[kind])
        assert document.document is not None, document.findings
        assert validate(document.document, MODELS[kind])[1] == ()


# --- Commands

GENERAL = "Options of every command"


def commands(group: click.Group, name: str = "trivet") -> Iterator[tuple[str, click.Command]]:
    for item in group.commands.values():
        path = f"{name} {item.name}"
        if isinstance(item, click.Group):
            yield from commands(item, path)
        else:
            yield path, item


COMMANDS = dict(commands(trivet))


def options(command: click.Command) -> set[str]:
    context = click.Context(command, obj=Invocation())
    return {name for item in command.get_params(context) if isinstance(item, click.Option) for name in item.opts}


def documented_options(heading: str) -> set[str]:
    rows = [row for found, row in rows_of("reference/commands.md", "Option") if found == heading]
    return {name for row in rows for name in code(row[0])}


def test_every_command_has_its_section_and_no_other_has_one() -> None:
    headings = {match[1] for item in sections(read("reference/commands.md")) if (match := re.fullmatch("`(.+)`", item))}
    assert headings == set(COMMANDS)


def test_the_options_of_every_command_are_those_of_the_program() -> None:
    shared = documented_options(GENERAL)
    assert shared == options(trivet) | {"-h", "--help"}
    for command in COMMANDS.values():
        assert {"-C", "--json"} <= options(command)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_and_argument_of_a_command_has_its_line(name: str) -> None:
    command = COMMANDS[name]
    assert documented_options(f"`{name}`") == options(command) - documented_options(GENERAL)
    text = sections(read("reference/commands.md"))[f"`{name}`"]
    for item in command.params:
        if isinstance(item, click.Argument):
            shown = (item.metavar or str(item.name).upper()).strip("[].")
            assert re.search(rf"`{name} [^`]*\[?{shown}\b", text), f"{name} takes {shown}"
        if isinstance(item.type, click.Choice) and set(item.type.choices) != set(EntryType):
            assert {f"`{choice}`" for choice in item.type.choices} <= set(re.findall("`[^`]+`", text))


# --- The store


def stored_tables() -> dict[str, sa.Table]:
    """Every table of the store: each package that stores something defines its own in `tables.py`."""
    for path in sorted(ROOT.glob("*/tables.py")):
        importlib.import_module(f"{path.parent.name}.tables")
    return dict(metadata.tables)


TABLES = stored_tables()


def column_type(column: sa.Column[Any]) -> str:
    match column.type:
        case sa.LargeBinary(length=length):
            return f"{length} bytes"
        case sa.Boolean():
            return "boolean"
        case sa.Integer():
            return "integer"
        case sa.Text():
            return "text"
    raise AssertionError(f"no word for the type of {column}")


def test_every_table_of_the_store_has_its_section() -> None:
    assert {heading for heading, _ in rows_of("reference/store.md", "Column")} == {f"`{name}`" for name in TABLES}


@pytest.mark.parametrize("name", TABLES)
def test_every_column_has_its_line_with_type_and_null(name: str) -> None:
    documented = [row[:3] for heading, row in rows_of("reference/store.md", "Column") if heading == f"`{name}`"]
    assert documented == [
        (f"`{column.name}`", column_type(column), "yes" if column.nullable else "no") for column in TABLES[name].columns
    ]


def test_the_store_page_says_what_is_hashed_and_how() -> None:
    page = " ".join(read("reference/store.md").split())
    for promise in (
        'SHA-256("trivet/ledger/v1\\n"',
        "SHA-256(0x00",
        "SHA-256(0x01",
        '`{"row": {column: value}, "table": name}`',
        "Row leaves leave NULL columns out",
        "`rows_root`",
        "RFC 8785",
        "Not hashed:",
    ):
        assert promise in page


# --- Conditions


def grammar_words() -> set[str]:
    """Every word and sign that the grammar reads, but for names, numbers and texts."""
    grammar = (ROOT / "catalog" / "expressions" / "grammar.lark").read_text("utf-8")
    rules = "\n".join(line for line in grammar.splitlines() if not line.startswith(("//", "TEXT")))
    calls = set(re.findall(r": /([a-z]+)\(\?=", rules))
    units = set(re.search(r"^DURATION.*?\(([a-z|]+)\)", rules, re.MULTILINE)[1].split("|"))  # type: ignore[index]
    enumerated = {str(item) for kind in (ArithmeticOperator, ComparisonOperator, Quantifier) for item in kind}
    return set(re.findall(r'"([^"]+)"', rules)) | calls | units | enumerated | KEYWORDS


def test_every_word_and_sign_of_the_grammar_has_its_line() -> None:
    documented = [code(row[0])[0] for heading, row in rows_of("reference/expressions.md", "Written")]
    assert len(documented) == len(set(documented))
    assert set(documented) - {"name"} == grammar_words()


@pytest.fixture(scope="module")
def contract() -> Contract:
    file = ROOT / "examples" / "aruma" / "contract.yaml"
    document = read_yaml(file.read_bytes(), file=file.name).document
    assert document is not None
    loaded = load_contract([document]).contract
    assert loaded is not None
    return loaded


def faults(condition: str, contract: Contract) -> Iterable[str]:
    tree = parse_condition(condition)
    if isinstance(tree, SyntaxFault):
        return [tree.message]
    object_type = contract.object_type("employee_pay")
    assert object_type is not None
    scope = Scope(contract, object_type)
    return [fault.message for fault in check_condition(tree, scope) or never_faults(tree, scope)]


ACCEPTED = [
    line
    for block in blocks(read("reference/expressions.md"))
    if block.language == "condition"
    for line in block.text.splitlines()
]
REFUSED = [code(row[0])[0] for heading, row in rows_of("reference/expressions.md", "condition")]


@pytest.mark.parametrize("condition", ACCEPTED)
def test_an_example_of_a_condition_is_accepted(condition: str, contract: Contract) -> None:
    assert list(faults(condition, contract)) == []


@pytest.mark.parametrize("condition", REFUSED)
def test_a_condition_that_is_said_to_be_refused_is_refused(condition: str, contract: Contract) -> None:
    assert list(faults(condition, contract)) != []


def test_there_are_examples_of_both_kinds() -> None:
    assert len(ACCEPTED) >= 5
    assert len(REFUSED) >= 5


# --- The site


def test_every_page_is_in_the_navigation() -> None:
    navigation = set(re.findall(r"[\w/-]+\.md", (ROOT / "mkdocs.yml").read_text("utf-8")))
    assert navigation == {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_links_between_files_of_the_repository_lead_somewhere(name: str) -> None:
    targets = re.findall(r"\]\(([^)#:]+)\)", "\n".join(prose((ROOT / name).read_text("utf-8"))))
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_every_page_that_code_refers_to_exists() -> None:
    packages = [path.parent for path in ROOT.glob("*/__init__.py")]
    missing = [
        f"{path.relative_to(ROOT)}: {page}"
        for package in packages
        for path in package.rglob("*.py")
        for page in re.findall(r"docs/[\w/-]+\.md", path.read_text("utf-8"))
        if not (ROOT / page).exists()
    ]
    assert missing == []
