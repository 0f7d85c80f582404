"""Names inside the warehouse file."""

from __future__ import annotations

RAW_SCHEMA = "raw"
VIEW_SCHEMA = "ontology"
"""Where a view lives whose file only says SELECT."""
OWN_SCHEMA = "_trivet"
"""What ingestion records about itself."""
RESERVED_SCHEMAS = frozenset({RAW_SCHEMA, OWN_SCHEMA, "main", "temp", "system", "information_schema", "pg_catalog"})
"""Schemas that no governed view may be put into."""


def quoted(*parts: str) -> str:
    """A name as SQL, such as `"raw"."payroll"`: each part quoted, quotes in it doubled."""
    return ".".join('"' + part.replace('"', '""') + '"' for part in parts)
