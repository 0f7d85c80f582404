"""`trivet settings`: the settings in force, where each came from, and never a secret."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.command import trivet
from tests.acceptance.files import replace_in

CANARY = "hunter2"


def test_every_setting_is_shown_with_its_origin(demo: Path) -> None:
    document = trivet("settings", "--json", at=demo).document
    assert document["store.url"] == {"value": "sqlite:///trivet.db", "origin": "trivet.yaml:2"}
    assert document["warehouse.keep"] == {"value": 7, "origin": "trivet.yaml:3"}
    assert document["api.port"] == {"value": 8321, "origin": "default"}
    assert {item["origin"].split(":")[0] for item in document.values()} == {"default", "trivet.yaml"}


def test_the_environment_stands_over_the_file(demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIVET_WAREHOUSE__KEEP", "3")
    monkeypatch.setenv("TRIVET_API__PORT", "9000")
    document = trivet("settings", "--json", at=demo).document
    assert document["warehouse.keep"] == {"value": 3, "origin": "TRIVET_WAREHOUSE__KEEP"}
    assert document["api.port"] == {"value": 9000, "origin": "TRIVET_API__PORT"}
    assert document["warehouse.path"]["origin"] == "trivet.yaml:3"


def test_a_person_reads_the_same(demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIVET_API__PORT", "9000")
    document = trivet("settings", "--json", at=demo).document
    lines = {" ".join(line.split()) for line in trivet("settings", at=demo).out.splitlines()}
    assert "warehouse.keep 7 trivet.yaml:3" in lines
    assert "api.port 9000 TRIVET_API__PORT" in lines
    assert {key for key in document if not any(line.startswith(f"{key} ") for line in lines)} == set()


def test_the_environment_decides_which_files_are_used(
    demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRIVET_STORE__URL", f"sqlite:///{tmp_path}/elsewhere.db")
    document = trivet("evaluate", "hours-over-limit", "--json", at=demo).document
    assert document["ledger_seq"] == 3
    assert (tmp_path / "elsewhere.db").is_file()


def test_without_a_file_every_setting_is_the_default(tmp_path: Path) -> None:
    document = trivet("settings", "--json", at=tmp_path).document
    assert {item["origin"] for item in document.values()} == {"default"}
    assert document["store.url"]["value"] == "sqlite:///trivet.db"


@pytest.mark.parametrize("as_json", [True, False])
def test_a_secret_is_shown_as_its_reference_and_never_itself(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, as_json: bool
) -> None:
    receivers = f"{{payroll: {{apprise: ['env:WEBHOOK', 'slack://{CANARY}/{CANARY}']}}}}"
    model = "{provider: openai, base_url: 'http://localhost:8000/v1', name: m, api_key: 'env:MODEL_KEY'}"
    (workspace / "trivet.yaml").write_text(f"receivers: {receivers}\nmodel: {model}\n")
    monkeypatch.setenv("WEBHOOK", f"https://example.org/{CANARY}")
    monkeypatch.setenv("MODEL_KEY", CANARY)
    monkeypatch.setenv("TRIVET_STORE__URL", "env:AUDIT_STORE")
    monkeypatch.setenv("AUDIT_STORE", f"postgresql+psycopg://audit:{CANARY}@db.example/trivet")
    ended = trivet("settings", *(["--json"] if as_json else []), at=workspace)
    assert (ended.code, ended.err) == (0, "")
    for shown in ("env:WEBHOOK", "slack://***", "env:MODEL_KEY", "env:AUDIT_STORE"):
        assert shown in ended.out
    assert CANARY not in ended.out


@pytest.mark.parametrize("command", ["evaluate hours-over-limit", "ledger verify", "doctor", "db current"])
def test_no_secret_leaves_where_the_store_cannot_be_used(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("TRIVET_STORE__URL", "env:AUDIT_STORE")
    monkeypatch.setenv("AUDIT_STORE", f"mysql://audit:{CANARY}@db.example/trivet")
    ended = trivet(*command.split(), at=workspace)
    assert ended.code in (4, 65)
    assert CANARY not in ended.out + ended.err
    assert "mysql://audit:***@db.example/trivet is not a store" in " ".join((ended.out + ended.err).split())


def test_a_secret_may_be_kept_in_a_file_of_the_workspace(workspace: Path, tmp_path: Path) -> None:
    (workspace / "store.secret").write_text(f"sqlite:///{tmp_path}/kept.db\n")
    replace_in(workspace / "trivet.yaml", '"sqlite:///trivet.db"', '"file:store.secret"')
    assert trivet("evaluate", "hours-over-limit", "--json", at=workspace).document["ledger_seq"] == 3
    assert (tmp_path / "kept.db").is_file()
