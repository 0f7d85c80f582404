"""`trivet schema`: JSON Schemas by which editors complete and check the workspace's files."""

from __future__ import annotations

import json

import click

from catalog.document import ContractModel
from cli.invocation import Invocation, command
from monitors.document import MonitorFileModel
from sources.document import SourcesModel
from trivet.exits import Exit
from trivet.settings import Settings
from trivet.validation import StrictModel

DIALECT = "https://json-schema.org/draft/2020-12/schema"
MODELS: dict[str, type[StrictModel]] = {
    "settings": Settings,
    "contract": ContractModel,
    "monitors": MonitorFileModel,
    "sources": SourcesModel,
}


@click.command()
@click.argument("kind", type=click.Choice(sorted(MODELS)), required=False)
@command
def schema(invocation: Invocation, kind: str | None) -> int:
    """Print the JSON Schema of KIND, or of all kinds in one document."""
    schemas = {name: {"$schema": DIALECT, **model.model_json_schema()} for name, model in MODELS.items()}
    invocation.output.raw(json.dumps(schemas[kind] if kind else schemas, indent=2))
    return Exit.FINE
