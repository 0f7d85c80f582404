"""The SQL that a grouped monitor compiles to, as a reviewer last approved it.

`python -m tests.snapshots.test_grouped_sql` writes the files anew; read the difference before committing it.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from compiler.compile import compile_groups, compile_monitor
from monitors.loading import load_monitors
from tests.conformance.test_group_cases import CONTRACT
from trivet.documents import read_yaml

FOLDER = Path(__file__).parent / "groups"
MONITOR = """\
monitors:
  - id: site-and-year
    object: reading
    where: status = 'ok'
    group_by: [site, {period: year, of: taken}]
    expect: {object: site, keys: [code], periods: {last: 3}}
    breach_when: avg(turbidity) > limited_by.most or relative_change(sum(ph)) > 0.5
    min_coverage: {share: 0.75, per: month}
"""
QUERIES = ("breach", "no_data", "population")
HELD = ("groups", "breach over groups", "no_data over groups", "population over groups")


def _compiled() -> dict[str, str]:
    """File name to SQL, for each query, over views that hold text as exports do."""
    document = read_yaml(MONITOR, file="monitor.yaml").document
    assert document is not None
    (monitor,) = load_monitors([document], CONTRACT).monitors
    physical = {item.view: dict.fromkeys(item.columns, "VARCHAR") for item in CONTRACT.object_types}
    at = datetime(2024, 6, 15, tzinfo=UTC)
    made = compile_monitor(monitor, CONTRACT, physical, at=at)
    held = compile_groups(monitor, CONTRACT, physical, at=at)
    queries = (made.breach.query, made.no_data.query, made.population)
    over_held = (held.groups, held.breach.query, held.no_data.query, held.population)
    named = zip((*QUERIES, *HELD), (*queries, *over_held), strict=True)
    return {f"{name.replace(' ', '-')}.sql": query.sql + "\n" for name, query in named}


@pytest.mark.parametrize("query", [*QUERIES, *HELD])
def test_compiled_sql_of_groups_is_as_approved(query: str) -> None:
    name = f"{query.replace(' ', '-')}.sql"
    assert _compiled()[name] == (FOLDER / name).read_text("utf-8")


def test_every_approved_file_belongs_to_a_query() -> None:
    assert {path.name for path in FOLDER.glob("*.sql")} == set(_compiled())


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for file_name, text in _compiled().items():
        (FOLDER / file_name).write_text(text, "utf-8")
