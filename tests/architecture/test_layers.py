"""The layers and doors of `docs/architecture.md`, held by import-linter, and import-linter held to them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
LINTER = PYPROJECT["tool"]["importlinter"]
WHEEL = PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
NOT_PACKAGED = {"benchmarks", "tests"}
NOT_LAYERED = {"evals", "benchmarks", "tests"}
NOT_TYPED = {"tests"}


class Violation(NamedTuple):
    contract: str
    importer: str
    imported: str


VIOLATIONS = [
    Violation("layers", "trivet.upward", "catalog"),
    Violation("layers", "catalog.sideways", "ledger"),
    Violation("layers", "ledger.sideways", "catalog"),
    Violation("layers", "catalog.upward", "monitors"),
    Violation("layers", "monitors.upward", "compiler"),
    Violation("layers", "compiler.upward", "worker"),
    Violation("layers", "alerts.sideways", "resolver"),
    Violation("layers", "resolver.sideways", "sources"),
    Violation("layers", "sources.upward", "worker"),
    Violation("layers", "worker.upward", "api"),
    Violation("layers", "api.upward", "cli"),
    Violation("evals", "worker.judged", "evals"),
    Violation("evals", "trivet.judged", "evals"),
    Violation("oracle", "evals.oracle.leak", "compiler"),
    Violation("oracle", "evals.oracle.leak", "worker"),
    Violation("oracle", "evals.oracle.leak", "catalog.engines"),
    Violation("oracle", "evals.oracle.leak", "catalog.referee"),
    Violation("duckdb", "catalog.leak", "duckdb"),
    Violation("duckdb", "catalog.referee.leak", "duckdb"),
    Violation("duckdb", "worker.leak", "duckdb"),
    Violation("pint", "catalog.expressions.leak", "pint"),
    Violation("pint", "compiler.leak", "pint"),
    Violation("sqlalchemy", "trivet.leak", "sqlalchemy"),
    Violation("sqlalchemy", "catalog.engines.leak", "sqlalchemy"),
    Violation("celery", "worker.leak", "celery"),
    Violation("celery", "alerts.leak", "celery"),
    Violation("apscheduler", "worker.leak", "apscheduler"),
    Violation("terminal", "api.leak", "click"),
    Violation("terminal", "worker.leak", "rich"),
    Violation("pydantic", "catalog.leak", "pydantic"),
    Violation("pydantic", "trivet.leak", "pydantic"),
    Violation("pydantic", "evals.leak", "pydantic"),
    Violation("yaml", "monitors.document", "yaml"),
    Violation("yaml", "trivet.settings", "yaml"),
    Violation("lark", "catalog.expressions.leak", "lark"),
    Violation("lark", "compiler.leak", "lark"),
    Violation("httpx", "alerts.leak", "httpx"),
    Violation("httpx", "resolver.leak", "httpx"),
    Violation("httpx", "cli.leak", "httpx"),
    Violation("apprise", "alerts.leak", "apprise"),
    Violation("apprise", "alerts.notifiers.leak", "apprise"),
    Violation("http", "cli.leak", "starlette"),
    Violation("http", "api.leak", "uvicorn"),
    Violation("http", "worker.leak", "prometheus_client"),
    Violation("http", "api.leak", "prometheus_client"),
    Violation("cryptography", "ledger.append", "cryptography"),
    Violation("cryptography", "worker.leak", "cryptography"),
    Violation("verifier", "ledger.verification.leak", "ledger.append"),
    Violation("verifier-alone", "ledger.verification.leak", "trivet"),
    Violation("servers", "worker.leak", "redis"),
    Violation("servers", "worker.leak", "kombu"),
    Violation("servers", "worker.leak", "psycopg"),
]

OPEN_DOORS = [
    ("catalog.engines.warehouse", "duckdb"),
    ("catalog.referee.certify", "trivet"),
    ("sources.reader", "duckdb"),
    ("ledger.tables", "sqlalchemy"),
    ("worker.bootstrap", "sqlalchemy"),
    ("ledger.verification.tables", "sqlalchemy"),
    ("ledger.verification.notes", "cryptography"),
    ("ledger.keys", "cryptography"),
    ("alerts.tables", "sqlalchemy"),
    ("trivet.metadata", "sqlalchemy"),
    ("worker.app", "celery"),
    ("worker.tasks", "celery"),
    ("worker.embedded", "apscheduler"),
    ("api.app", "starlette"),
    ("api.server", "uvicorn"),
    ("api.metrics", "prometheus_client"),
    ("trivet.watch_settings", "pydantic"),
    ("cli.main", "click"),
    ("cli.output", "rich"),
    ("monitors.document", "pydantic"),
    ("catalog.document", "pydantic"),
    ("trivet.faults", "pydantic_core"),
    ("trivet.fields", "pydantic"),
    ("trivet.references", "pydantic"),
    ("trivet.settings", "pydantic"),
    ("trivet.shapes", "pydantic"),
    ("trivet.validation", "pydantic"),
    ("trivet.documents", "yaml"),
    ("catalog.expressions.syntax", "lark"),
    ("alerts.notifiers.webhook", "httpx"),
    ("resolver.models.openai", "httpx"),
    ("alerts.notifiers.apprise_notifier", "apprise"),
    ("cli.main", "evals"),
    ("cli.main", "trivet"),
    ("evals.runner", "resolver"),
    ("evals.proving.proof", "worker"),
    ("evals.proving.proof", "evals.oracle"),
    ("evals.oracle.evaluation", "catalog"),
    ("evals.oracle.groups", "monitors"),
]


def top_level_packages() -> set[str]:
    return {file.parent.name for file in ROOT.glob("*/__init__.py")}


def lint(tree: Path) -> subprocess.CompletedProcess[str]:
    """Run import-linter on `tree`, as `make lint` does, in a process of its own."""
    program = "import sys, importlinter.cli as cli; sys.exit(cli.lint_imports(no_cache=True, no_logo=True))"
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=tree,
        # Wide enough that no reported import is folded.
        env={**os.environ, "COLUMNS": "250"},
        capture_output=True,
        text=True,
        check=False,
    )


def plant(tree: Path, imports: list[tuple[str, str]]) -> Path:
    """Build an otherwise empty project under our contracts whose modules make these imports."""
    shutil.copy(ROOT / "pyproject.toml", tree)
    for package in LINTER["root_packages"]:
        (tree / package).mkdir()
        (tree / package / "__init__.py").touch()
    for importer, imported in imports:
        file = tree.joinpath(*importer.split(".")).with_suffix(".py")
        file.parent.mkdir(exist_ok=True)
        (file.parent / "__init__.py").touch()
        with file.open("a", encoding="utf-8") as module:
            module.write(f"import {imported}\n")
    return tree


@pytest.fixture(scope="module")
def broken_report(tmp_path_factory: pytest.TempPathFactory) -> str:
    tree = plant(tmp_path_factory.mktemp("broken"), [(v.importer, v.imported) for v in VIOLATIONS])
    result = lint(tree)
    assert result.returncode == 1, result.stdout + result.stderr
    return result.stdout


def test_every_import_in_the_project_keeps_the_contracts() -> None:
    result = lint(ROOT)
    assert result.returncode == 0, result.stdout + result.stderr


def test_every_door_lets_through_what_it_is_for(tmp_path: Path) -> None:
    result = lint(plant(tmp_path, OPEN_DOORS))
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("violation", VIOLATIONS, ids=lambda v: f"{v.contract}: {v.importer} -> {v.imported}")
def test_a_forbidden_import_is_reported(violation: Violation, broken_report: str) -> None:
    name = next(c["name"] for c in LINTER["contracts"] if c["id"] == violation.contract)
    detail = broken_report.split("Broken contracts", 1)[1]
    assert name in detail
    section = detail.split(name, 1)[1]
    others = [c["name"] for c in LINTER["contracts"] if c["name"] != name]
    for other in others:
        section = section.split(other, 1)[0]
    assert f"{violation.importer} -> {violation.imported} (l." in section


def test_every_module_of_the_writer_is_kept_from_the_verifier() -> None:
    layers = next(contract["layers"] for contract in LINTER["contracts"] if contract["id"] == "verifier")
    kept = {name.strip(" ()") for name in layers[0].split(":")}
    assert kept == {file.stem for file in (ROOT / "ledger").glob("*.py")} - {"__init__"}


def test_every_contract_is_shown_to_bite() -> None:
    assert {violation.contract for violation in VIOLATIONS} == {contract["id"] for contract in LINTER["contracts"]}


def test_every_package_but_evals_and_tests_is_on_a_layer() -> None:
    layers = next(contract["layers"] for contract in LINTER["contracts"] if contract["type"] == "layers")
    layered = {package.strip() for layer in layers for package in layer.split("|")}
    assert layered == top_level_packages() - NOT_LAYERED


def test_every_package_is_linted() -> None:
    assert set(LINTER["root_packages"]) == top_level_packages() - NOT_PACKAGED


def test_every_package_is_type_checked() -> None:
    assert set(PYPROJECT["tool"]["mypy"]["files"]) == top_level_packages() - NOT_TYPED


def test_every_package_ships_in_the_wheel_and_nothing_else_at_its_top() -> None:
    rewritten = set(WHEEL["sources"])
    assert rewritten == {"migrations", "examples"}
    assert set(WHEEL["only-include"]) == (top_level_packages() - NOT_PACKAGED) | rewritten
