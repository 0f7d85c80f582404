"""The SQL that the example's monitors compile to, as a reviewer last approved it.

`python -m tests.snapshots.test_compiled_sql` writes the files anew; read the difference before committing it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from catalog.contract import Contract
from compiler.compile import compile_monitor
from monitors.definition import MonitorDefinition
from worker.workspace import read_workspace

FOLDER = Path(__file__).parent
EXAMPLE = FOLDER.parents[1] / "examples" / "aruma"
MONITORS = ("pay-below-floor", "hours-over-limit", "entitlements-short")


def _compiled() -> dict[str, str]:
    """File name to SQL, for each query of each monitor, over views that hold text as exports do."""
    _, contract, monitors = read_workspace(EXAMPLE, {}).require()
    physical = {item.view: dict.fromkeys(item.columns, "VARCHAR") for item in contract.object_types}
    return {name: sql for monitor in monitors for name, sql in _queries(monitor, contract, physical)}


def _queries(
    monitor: MonitorDefinition, contract: Contract, physical: dict[str, dict[str, str]]
) -> list[tuple[str, str]]:
    compiled = compile_monitor(monitor, contract, physical)
    return [
        (f"{monitor.id}.breach.sql", compiled.breach.query.sql + "\n"),
        (f"{monitor.id}.no_data.sql", compiled.no_data.query.sql + "\n"),
        (f"{monitor.id}.population.sql", compiled.population.sql + "\n"),
    ]


@pytest.mark.parametrize("query", ["breach", "no_data", "population"])
@pytest.mark.parametrize("monitor", MONITORS)
def test_compiled_sql_is_as_approved(monitor: str, query: str) -> None:
    name = f"{monitor}.{query}.sql"
    assert _compiled()[name] == (FOLDER / name).read_text("utf-8")


def test_every_approved_file_belongs_to_a_query() -> None:
    assert {path.name for path in FOLDER.glob("*.sql")} == set(_compiled())


if __name__ == "__main__":
    for file_name, text in _compiled().items():
        (FOLDER / file_name).write_text(text, "utf-8")
