"""The page on architecture and its pictures name what there is: files, packages, and stages in their order."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from resolver.pipeline import PIPELINE
from tests.markdown import code, prose, sections, tables

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGE = (DOCS / "architecture.md").read_text("utf-8")
PICTURES = sorted((DOCS / "pictures").glob("*.svg"))
STAGES = [name for name, _ in PIPELINE]
PACKAGES = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"benchmarks", "tests"}
NOT_BUILT = {name for name in PACKAGES if [path.name for path in (ROOT / name).rglob("*.py")] == ["__init__.py"]}
"""Packages that hold their place and nothing else."""

PATH = re.compile(r"[a-z_.]+(?:/[a-z_.]*)+|[a-z_]+\.(?:py|toml)")
SHAPE = re.compile(r'<rect class="(?P<style>\w+)"|<text class="(?P<kind>\w+)"[^>]*>(?P<words>[^<]*)</text>')


def paths(text: str) -> list[str]:
    return [span for span in code(text) if PATH.fullmatch(span)]


def exists(path: str) -> bool:
    """Whether it stands at the root or, of a name without a folder, in some package."""
    return (ROOT / path).exists() or ("/" not in path and any(any((ROOT / name).rglob(path)) for name in PACKAGES))


def boxes(picture: Path) -> Iterator[tuple[str, str]]:
    """Style and name of each box of a picture, in its order."""
    style = ""
    for shape in SHAPE.finditer(picture.read_text("utf-8")):
        style = shape["style"] or style
        if shape["kind"] == "name":
            yield style, shape["words"]


# --- Files


def test_every_path_that_the_page_names_exists() -> None:
    named = paths("\n".join(prose(PAGE)))
    assert len(named) > 50
    assert [path for path in named if not exists(path)] == []


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.stem)
def test_every_path_that_a_picture_names_exists(picture: Path) -> None:
    texts = [shape["words"] or "" for shape in SHAPE.finditer(picture.read_text("utf-8"))]
    named = [path for text in texts for path in re.findall(r"\w+/[\w/]*(?:\.py)?", text)]
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_every_picture_is_shown_with_words_for_those_who_cannot_see_it() -> None:
    shown = dict(re.findall(r"!\[([^\]]{40,})\]\(pictures/([a-z]+\.svg)\)", PAGE))
    assert sorted(shown.values()) == [picture.name for picture in PICTURES]


# --- Packages


def test_every_package_has_its_line() -> None:
    listed = [code(row[0]) for table in tables(PAGE) if table.columns[0] == "package" for row in table.rows]
    assert {name.strip("/") for names in listed for name in names} == PACKAGES | {"migrations"}


def test_the_picture_of_the_house_has_the_layers_that_are_held() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["id"] == "layers")
    drawn = [name for _, name in boxes(DOCS / "pictures" / "house.svg") if name in PACKAGES]
    assert drawn == [*(name for layer in layers for name in layer.split(" | ")), "evals"]


def test_page_and_picture_call_unbuilt_what_holds_nothing_yet_and_nothing_else() -> None:
    dashed = {name for style, name in boxes(DOCS / "pictures" / "house.svg") if style == "later" and name in PACKAGES}
    rows = [row for table in tables(PAGE) if table.columns[0] == "package" for row in table.rows]
    told = {name.strip("/") for row in rows if "not built yet" in row[1] for name in code(row[0])}
    assert dashed == told == NOT_BUILT


# --- The way of one question


def test_the_page_has_every_stage_in_its_order() -> None:
    listed = [code(row[0])[0] for table in tables(PAGE) if table.columns[0] == "stage" for row in table.rows]
    assert listed == STAGES


def test_the_picture_has_every_stage_in_its_order() -> None:
    assert [name for _, name in boxes(DOCS / "pictures" / "question.svg") if name in STAGES] == STAGES


def test_the_explanation_of_questions_has_every_stage_in_its_order() -> None:
    text = sections((DOCS / "explanation" / "questions.md").read_text("utf-8"))["The way of a question"]
    assert [name.lower() for name in re.findall(r"^\d+\. \*\*(\w+)\.\*\*", text, re.MULTILINE)] == STAGES
