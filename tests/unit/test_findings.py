"""Findings: how they are printed, and which name is suggested."""

from __future__ import annotations

import pytest

from trivet.findings import Finding, Position, did_you_mean, key_path


@pytest.mark.parametrize(
    ("finding", "text"),
    [
        (Finding("a.yaml", Position(7, 19), "monitors[0].id", "is taken"), "a.yaml:7:19: monitors[0].id: is taken"),
        (Finding("a.yaml", Position(1, 1), "", "is empty"), "a.yaml:1:1: is empty"),
        (Finding("TRIVET_API", None, "api.port", "is no port"), "TRIVET_API: api.port: is no port"),
        (Finding("a.yaml", None, "", "cannot be read"), "a.yaml: cannot be read"),
    ],
)
def test_a_finding_is_printed_as_compilers_print_them(finding: Finding, text: str) -> None:
    assert str(finding) == text


def test_a_finding_is_json_with_every_key_always() -> None:
    assert Finding("a.yaml", Position(7, 19), "id", "is taken").to_json() == {
        "file": "a.yaml",
        "line": 7,
        "column": 19,
        "key": "id",
        "message": "is taken",
    }
    nowhere = Finding("a.yaml", None, "", "is empty").to_json()
    assert (nowhere["line"], nowhere["column"], nowhere["key"]) == (None, None, "")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((), ""),
        (("monitors",), "monitors"),
        (("monitors", 0, "id"), "monitors[0].id"),
        (("a", "b", 1, 2, "c"), "a.b[1][2].c"),
        ((3,), "[3]"),
    ],
)
def test_a_path_of_keys_is_read_by_people(path: tuple[str | int, ...], text: str) -> None:
    assert key_path(path) == text


@pytest.mark.parametrize(
    ("name", "known", "hint"),
    [
        ("severty", ["severity", "schedule"], "; did you mean 'severity'?"),
        ("hourly_rat", ["hourly_rate", "hourly_rates"], "; did you mean 'hourly_rate'?"),
        ("xyz", ["b", "a", "a"], "; known: a, b"),
        ("xyz", [f"name_{index}" for index in range(13)], ""),
        ("xyz", [], ""),
    ],
)
def test_the_nearest_name_is_suggested_or_the_few_that_there_are(name: str, known: list[str], hint: str) -> None:
    assert did_you_mean(name, known) == hint
