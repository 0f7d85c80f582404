"""Every direct dependency is justified in the docs and locked; the lock names no index."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def normal(name: str) -> str:
    """A distribution name as PEP 503 compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def named(requirement: str) -> str:
    """The distribution that a PEP 508 requirement asks for."""
    match = re.match(r"[A-Za-z0-9][A-Za-z0-9._-]*", requirement)
    assert match, f"no distribution name in {requirement!r}"
    return normal(match[0])


def group(name: str) -> set[str]:
    """The distributions of a dependency group, with the groups it includes (PEP 735)."""
    names: set[str] = set()
    for entry in PYPROJECT["dependency-groups"][name]:
        names |= group(entry["include-group"]) if isinstance(entry, dict) else {named(entry)}
    return names


RUNTIME = {named(requirement) for requirement in PYPROJECT["project"]["dependencies"]}
BUILD = {named(requirement) for requirement in PYPROJECT["build-system"]["requires"]}
DIRECT = RUNTIME | BUILD | group("dev")

JUSTIFICATION = re.compile(r"^- `(?P<name>[^`]+)`: (?P<why>.+)$", re.MULTILINE)
JUSTIFIED = {
    normal(match["name"]): match["why"]
    for match in JUSTIFICATION.finditer((ROOT / "docs" / "dependencies.md").read_text("utf-8"))
}


def lock(name: str) -> str:
    return (ROOT / "requirements" / name).read_text("utf-8")


def pins(text: str) -> dict[str, set[str]]:
    """Each locked distribution with its versions: more than one where they depend on the Python version."""
    found: dict[str, set[str]] = {}
    for match in re.finditer(r"^(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^\s;\\]+)", text, re.MULTILINE):
        found.setdefault(normal(match["name"]), set()).add(match["version"])
    return found


@pytest.mark.parametrize("name", sorted(DIRECT))
def test_every_direct_dependency_has_a_line_of_justification(name: str) -> None:
    assert name in JUSTIFIED, f"docs/dependencies.md has no line '- `{name}`: why it is here'"
    assert len(JUSTIFIED[name].split()) >= 5, f"the line on {name} says too little: {JUSTIFIED[name]!r}"


def test_no_line_justifies_what_is_not_a_dependency() -> None:
    assert set(JUSTIFIED) - DIRECT == set()


def test_what_builds_the_wheel_also_installs_the_project_in_place() -> None:
    assert group("build") == BUILD


def test_every_runtime_and_build_dependency_is_locked_in_base() -> None:
    assert (RUNTIME | BUILD) - pins(lock("base.txt")).keys() == set()


def test_every_direct_dependency_is_locked_in_dev() -> None:
    assert DIRECT - pins(lock("dev.txt")).keys() == set()


def test_dev_holds_base_at_the_same_versions() -> None:
    base, dev = pins(lock("base.txt")), pins(lock("dev.txt"))
    assert {name: versions for name, versions in base.items() if dev.get(name) != versions} == {}


@pytest.mark.parametrize("name", ["base.txt", "dev.txt"])
def test_every_locked_version_carries_a_hash(name: str) -> None:
    entries = re.split(r"^(?=[A-Za-z0-9])", lock(name), flags=re.MULTILINE)[1:]
    assert entries
    assert [entry for entry in entries if "--hash=sha256:" not in entry] == []


@pytest.mark.parametrize("name", ["base.txt", "dev.txt"])
def test_the_lock_names_no_index_no_address_and_no_folder(name: str) -> None:
    text = lock(name)
    assert "://" not in text
    assert re.search(r"--(extra-)?index-url|--find-links|^-[fi] ", text, re.MULTILINE) is None
    assert re.search(r"(^|\s)/\w", text) is None
