"""No module is named as a standard-library one."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
FOLDERS = [*PYPROJECT["tool"]["importlinter"]["root_packages"], "tests"]


def module_names(folder: Path) -> dict[str, str]:
    """Each module and package in `folder`, itself included: its path from the root, and its last name."""
    files = folder.rglob("*.py")
    modules = [file.parent if file.stem == "__init__" else file for file in files]
    return {str(module.relative_to(folder.parent)): module.stem for module in modules}


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_module_is_named_as_a_standard_library_one(folder: str) -> None:
    names = module_names(ROOT / folder)
    assert names, f"{folder} holds no module"
    assert [path for path, name in names.items() if name in sys.stdlib_module_names] == []


def test_a_module_and_a_package_with_such_a_name_are_found(tmp_path: Path) -> None:
    package = tmp_path / "catalog" / "json"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "types.py").touch()
    assert set(module_names(tmp_path / "catalog").values()) == {"json", "types"}
    assert {"json", "types"} <= sys.stdlib_module_names
