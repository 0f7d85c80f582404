"""The compose file and the Dockerfile say what the program understands. No container engine is needed."""

from __future__ import annotations

import re
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
    assert set(SERVICES) == {"redis", "postgres", "migrate", "beat", "worker", "serve"}
    assert OURS == ["beat", "migrate", "serve", "worker"]


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
    assert store.url.name in environment


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


def test_no_secret_stands_in_the_file() -> None:
    text = (ROOT / "docker-compose.yml").read_text("utf-8")
    assert {match[1] for match in re.finditer(r"PASSWORD: (.+)", text)} == {"${POSTGRES_PASSWORD:?put it into .env}"}
    assert re.search(r"://[^:\s]+:[^$@\s]+@", text) is None
    assert ".env" in (ROOT / ".dockerignore").read_text("utf-8").splitlines()


def test_the_image_copies_files_that_there_are_and_runs_as_an_ordinary_user() -> None:
    copied = re.findall(r"^COPY (?!--from)(\S+) ", DOCKERFILE, re.MULTILINE)
    assert copied
    assert all((ROOT / path).exists() for path in copied)
    last = DOCKERFILE.split("\nFROM ")[-1]
    assert re.findall(r"^USER (\S+)", last, re.MULTILINE) == ["trivet"]
    assert 'ENTRYPOINT ["trivet"]' in last
    assert "TRIVET_WORKSPACE=/workspace" in last
    assert all("/workspace" in volume for name in OURS for volume in SERVICES[name]["volumes"])
