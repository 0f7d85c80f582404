"""The compose file and the Dockerfile say what the program understands. No container engine is needed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from cli.invocation import Invocation
from cli.main import trivet
from trivet.references import SecretRef
from trivet.settings import load_settings

ROOT = Path(__file__).resolve().parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))
SERVICES: dict[str, Any] = COMPOSE["services"]
DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8")
OURS = sorted(name for name, service in SERVICES.items() if service.get("build"))


def test_the_topology_is_whole() -> None:
    assert set(SERVICES) == {"redis", "postgres", "migrate", "beat", "worker", "api"}
    assert OURS == ["api", "beat", "migrate", "worker"]


def test_the_file_is_what_the_compose_specification_allows() -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"]
    ended = subprocess.run([*command, ROOT / "docker-compose.yml"], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout


def test_the_dockerfile_is_one_that_its_linter_has_nothing_against() -> None:
    linter = Path(sys.executable).with_name("hadolint")
    ended = subprocess.run([linter, ROOT / "Dockerfile"], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (0, "")


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_is_confined(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert set(service["deploy"]["resources"]["limits"]) == {"cpus", "memory", "pids"}
    # Ours are run by the image's own user.
    assert name in OURS or service["user"] == name
    assert "ports" not in service or all(port.startswith("127.0.0.1:") for port in service["ports"])


def test_only_who_must_reach_others_has_a_way_out() -> None:
    assert COMPOSE["networks"]["servers"] == {"internal": True}
    assert {name for name in SERVICES if SERVICES[name]["networks"] != ["servers"]} == {"worker", "api"}


@pytest.mark.parametrize("name", SERVICES)
def test_whatever_ends_is_started_again_but_for_the_migration(name: str) -> None:
    assert SERVICES[name].get("restart") == (None if name == "migrate" else "unless-stopped")


def test_the_port_is_the_one_that_the_program_listens_at() -> None:
    settings = load_settings(None, {}).settings
    assert settings is not None
    assert SERVICES["api"]["ports"] == [f"127.0.0.1:{settings.api.port}:{settings.api.port}"]
    assert f":{settings.api.port}/healthz" in SERVICES["api"]["healthcheck"]["test"][-1]


@pytest.mark.parametrize("name", OURS)
def test_a_service_runs_a_command_that_there_is(name: str) -> None:
    command: click.Command | None = trivet
    for part in SERVICES[name]["command"]:
        assert isinstance(command, click.Group)
        command = command.get_command(click.Context(command, obj=Invocation()), part)
        assert command is not None, f"there is no command {part}"
    assert not isinstance(command, click.Group)


@pytest.mark.parametrize("name", OURS)
def test_the_environment_of_a_service_holds_settings_that_there_are(name: str) -> None:
    environment = SERVICES[name]["environment"]
    result = load_settings(None, environment)
    assert result.findings == ()
    assert result.settings is not None
    scheduler, store = result.settings.scheduler, result.settings.store
    assert (scheduler.mode, scheduler.broker) == ("celery", "redis://redis:6379/0")
    assert isinstance(store.url, SecretRef)
    assert str(store.url) == "file:/run/secrets/store_url"
    assert SERVICES[name]["secrets"] == ["store_url"]


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_waits_for_services_that_there_are(name: str) -> None:
    for other, how in SERVICES[name].get("depends_on", {}).items():
        assert other in SERVICES
        if how["condition"] == "service_healthy":
            assert "healthcheck" in SERVICES[other]
        else:
            assert how["condition"] == "service_completed_successfully"
            assert "restart" not in SERVICES[other]


def test_redis_loses_no_message_that_it_could_keep() -> None:
    text = " ".join(SERVICES["redis"]["command"])
    assert "--appendonly yes" in text
    assert "--maxmemory-policy noeviction" in text


def test_every_named_volume_is_declared_and_used() -> None:
    used = {volume.split(":")[0] for service in SERVICES.values() for volume in service.get("volumes", [])}
    assert {name for name in used if name.isalpha()} == set(COMPOSE["volumes"])


def test_no_secret_stands_in_the_file_or_goes_into_an_image_or_a_commit() -> None:
    text = (ROOT / "docker-compose.yml").read_text("utf-8")
    assert {match[1] for match in re.finditer(r"PASSWORD\w*: (.+)", text)} == {"/run/secrets/postgres_password"}
    without_comments = re.sub(r"(?m)^\s*#.*$", "", text)
    assert re.search(r"://[^:\s]+:[^$@\s]+@", without_comments) is None
    assert COMPOSE["secrets"] == {name: {"file": f"./secrets/{name}"} for name in ("postgres_password", "store_url")}
    assert "secrets" in (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert "/secrets/" in (ROOT / ".gitignore").read_text("utf-8").splitlines()


def test_the_image_copies_files_that_there_are_and_runs_as_an_ordinary_user() -> None:
    copied = re.findall(r"^COPY (?!--from)(\S+) ", DOCKERFILE, re.MULTILINE)
    assert copied
    assert all((ROOT / path).exists() for path in copied)
    last = DOCKERFILE.split("\nFROM ")[-1]
    assert re.findall(r"^USER (\S+)", last, re.MULTILINE) == re.findall(r"useradd .*--uid (\d+)", last)
    assert 'ENTRYPOINT ["trivet"]' in last
    assert "TRIVET_WORKSPACE=/workspace" in last
    assert all("/workspace" in volume for name in OURS for volume in SERVICES[name]["volumes"])
