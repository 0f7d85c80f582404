"""`trivet schema`: JSON Schemas by which an editor takes the example files and marks broken ones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.acceptance.command import ROOT, trivet
from tests.acceptance.json_schema import definition, violations

KINDS = ("contract", "monitors", "settings", "sources")
FILES = {"trivet.yaml": "settings", "contract.yaml": "contract", "sources.yaml": "sources"}
EXAMPLES = sorted((ROOT / "examples").rglob("*.yaml"))


@pytest.fixture(scope="module")
def schemas() -> dict[str, Any]:
    """Every schema, as the command prints them in one document."""
    ended = trivet("schema")
    assert (ended.code, ended.err) == (0, "")
    found: dict[str, Any] = json.loads(ended.out)
    return found


def test_there_is_a_schema_of_each_kind_of_file(schemas: dict[str, Any]) -> None:
    assert set(schemas) == set(KINDS)
    for kind in KINDS:
        assert json.loads(trivet("schema", kind).out) == schemas[kind]
        assert json.loads(trivet("schema", kind, "--json").out) == schemas[kind]


def test_schemas_need_no_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert trivet("schema", "monitors").code == 0
    assert list(tmp_path.iterdir()) == []


def _parts(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        yield schema
        schema = list(schema.values())
    if isinstance(schema, list):
        for part in schema:
            yield from _parts(part)


@pytest.mark.parametrize("kind", KINDS)
def test_a_schema_is_whole_and_refuses_unknown_keys(schemas: dict[str, Any], kind: str) -> None:
    schema = schemas[kind]
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["type"] == "object"
    for part in _parts(schema):
        if isinstance(part.get("$ref"), str):
            assert definition(part["$ref"], schema)
        if part.get("type") == "object" and "patternProperties" not in part:
            assert part.get("additionalProperties") not in (None, True)


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: str(file.relative_to(ROOT)))
def test_the_example_files_are_valid(schemas: dict[str, Any], file: Path) -> None:
    # A day is a text to a JSON Schema, and to a file of ours.
    tree = json.loads(json.dumps(yaml.safe_load(file.read_text("utf-8")), default=str))
    assert violations(tree, schemas[FILES.get(file.name, "monitors")]) == []


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("settings", "{store: {uri: x}}", ["$.store.uri: additionalProperties"]),
        ("settings", "{warehouse: {keep: 0}}", ["$.warehouse.keep: minimum"]),
        ("settings", "{scheduler: {tick: soon}}", ["$.scheduler.tick: pattern"]),
        ("monitors", "{}", ["$: required"]),
        ("monitors", "{monitors: []}", ["$.monitors: minItems"]),
        ("monitors", "{monitors: [{id: a, object: b, breach_when: c, severty: info}]}", ["$.monitors[0].severty:"]),
        ("monitors", "{monitors: [{id: a, object: b, breach_when: c, severity: severe}]}", ["$.monitors[0].severity:"]),
        ("monitors", "{monitors: [{id: a, object: b, breach_when: c, enabled: maybe}]}", ["$.monitors[0].enabled:"]),
        ("sources", "{sources: [{name: pay}]}", ["$.sources[0]: required"]),
        ("contract", "{contract: {id: a, version: 1.0.0, status: final}}", ["$.contract"]),
    ],
)
def test_a_broken_file_is_marked_where_it_is_broken(
    schemas: dict[str, Any], kind: str, text: str, expected: list[str]
) -> None:
    found = violations(yaml.safe_load(text), schemas[kind])
    assert len(found) == len(expected)
    assert all(one.startswith(place) for one, place in zip(found, expected, strict=True)), found


def test_a_schema_says_what_a_key_means(schemas: dict[str, Any]) -> None:
    monitor = schemas["monitors"]["$defs"]["MonitorModel"]["properties"]
    assert monitor["breach_when"]["description"].startswith("Condition that makes a member a breach")
    assert "for" in monitor
    assert "consecutive" not in monitor
