"""`check`, `init`, `db` and `doctor`: what keeps a workspace in order."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.acceptance.command import trivet
from tests.acceptance.files import by_hand, files_of, replace_in
from worker.migrating import LATEST


def change_warehouse(workspace: Path, sql: str) -> None:
    """Changes the warehouse by hand, as no one should."""
    file = workspace / "warehouse.duckdb"
    content = file.read_bytes()
    # The name is one of two hard links, and the generation beside it stays as it is.
    file.unlink()
    file.write_bytes(content)
    with duckdb.connect(str(file)) as connection:
        connection.execute(sql)


def test_a_workspace_without_faults_is_fine(demo: Path) -> None:
    ended = trivet("check", at=demo)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == "fine: contract aruma 1.0.0, 2 object types, 1 link, 3 monitors\n"
    assert trivet("check", "--json", at=demo).document == {"ok": True, "findings": []}
    assert trivet("check", "--live", "--json", at=demo).document == {"ok": True, "findings": [], "warnings": []}


def test_checking_needs_no_warehouse_and_writes_nothing(workspace: Path) -> None:
    for file in [*workspace.glob("warehouse*"), *workspace.glob("trivet.db*")]:
        file.unlink()
    before = files_of(workspace)
    assert trivet("check", at=workspace).code == 0
    assert files_of(workspace) == before


def test_a_live_check_holds_the_contract_against_the_warehouse(workspace: Path) -> None:
    renamed = "SELECT * RENAME (min_hourly_rate AS minimum_hourly_rate) FROM ontology.award_rate"
    change_warehouse(
        workspace,
        f"CREATE TABLE ontology.kept AS {renamed}; DROP VIEW ontology.award_rate;"
        "CREATE VIEW ontology.award_rate AS FROM ontology.kept",
    )
    assert trivet("check", at=workspace).code == 0
    ended = trivet("check", "--live", at=workspace)
    place = "contract.yaml:53:15: object_types[1].properties[3].name"
    message = "view ontology.award_rate has no column 'min_hourly_rate'; did you mean 'minimum_hourly_rate'?"
    assert (ended.code, ended.out, ended.err) == (4, "", f"{place}: {message}\n")
    given = trivet("check", "--live", "--json", at=workspace)
    assert (given.code, given.document["ok"]) == (4, False)
    assert [finding["message"] for finding in given.document["findings"]] == [message]


def test_a_live_check_finds_a_view_that_is_gone(workspace: Path) -> None:
    change_warehouse(workspace, "DROP VIEW ontology.award_rate")
    ended = trivet("check", "--live", at=workspace)
    assert ended.code == 4
    place = "contract.yaml:44:11: object_types[1].view"
    assert ended.err.startswith(f"{place}: view ontology.award_rate does not exist")


@pytest.mark.parametrize("damage", ["missing", "garbage"])
def test_a_live_check_without_a_warehouse_says_so(workspace: Path, damage: str) -> None:
    (workspace / "warehouse.duckdb").unlink()
    if damage == "garbage":
        (workspace / "warehouse.duckdb").write_bytes(b"garbage" * 2000)
    ended = trivet("check", "--live", at=workspace)
    assert (ended.code, ended.out) == (69, "")
    expected = {"missing": "`trivet ingest` builds it", "garbage": "not a valid DuckDB database file"}
    assert expected[damage] in ended.err


def test_a_new_workspace_works_from_check_to_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made = trivet("init", "cold-store")
    assert (made.code, made.err) == (0, "")
    assert "trivet -C cold-store check && trivet -C cold-store ingest && trivet -C cold-store evaluate" in made.out
    assert trivet("check", at=Path("cold-store")).code == 0
    assert trivet("ingest", at=Path("cold-store")).code == 0
    document = trivet("evaluate", "--json", at=Path("cold-store")).document
    assert document["badge"] == "1 breach / 1 no-data"
    assert document["samples"]["breach"][0]["key"] == {"reading_id": "R2"}
    assert (document["samples"]["no_data"][0]["reason"], document["compliant"]) == ("left_null", 2)
    assert trivet("ledger", "verify", at=Path("cold-store")).code == 0
    assert trivet("doctor", at=Path("cold-store")).code == 0


def test_a_new_workspace_holds_only_what_is_written_by_people(tmp_path: Path) -> None:
    ended = trivet("init", tmp_path / "new", "--json")
    assert ended.document == {"workspace": str(tmp_path / "new")}
    assert sorted(files_of(tmp_path / "new")) == [
        "contract.yaml",
        "monitors/example.yaml",
        "sources.yaml",
        "sources/readings.csv",
        "trivet.yaml",
        "views/reading.sql",
    ]


def test_ingest_reports_what_it_loaded(workspace: Path) -> None:
    document = trivet("ingest", "--json", at=workspace).document
    assert {table["name"]: table["rows"] for table in document["tables"]} == {"payroll": 57, "agreement_rates": 164}
    assert {view["name"]: view["rows"] for view in document["views"]} == {
        "ontology.award_rate": 164,
        "ontology.employee_pay": 57,
    }
    shown = trivet("ingest", at=workspace)
    assert (shown.code, shown.err) == (0, "")
    assert "is in place" in shown.out


def test_an_evaluation_after_an_ingest_speaks_of_the_new_data(workspace: Path) -> None:
    before = trivet("evaluate", "hours-over-limit", "--json", at=workspace).document
    replace_in(workspace / "sources" / "payroll.csv", ",38.25,", ",38.00,")
    generation = trivet("ingest", "--json", at=workspace).document["generation"]
    after = trivet("evaluate", "hours-over-limit", "--json", at=workspace).document
    assert (before["breach"], after["breach"]) == (2, 1)
    assert after["snapshot"] == generation != before["snapshot"]
    assert after["definition_hash"] == before["definition_hash"]


def test_db_current_tells_where_the_store_is(small: Path) -> None:
    ended = trivet("db", "current", at=small)
    assert (ended.code, ended.out) == (0, f"at revision none; the latest is {LATEST}: run `trivet db upgrade`\n")
    assert trivet("db", "current", "--json", at=small).document == {"current": None, "latest": LATEST}
    assert not (small / "trivet.db").exists()


def test_db_upgrade_makes_the_store_and_may_be_repeated(small: Path) -> None:
    assert trivet("db", "upgrade", "--json", at=small).document == {"before": None, "after": LATEST}
    ended = trivet("db", "upgrade", at=small)
    assert (ended.code, ended.out) == (0, f"at revision {LATEST}\n")
    assert trivet("db", "current", at=small).out == f"at revision {LATEST}, which is the latest\n"
    covered = "no checkpoints: tail uncovered (0 of 0 entries)"
    assert trivet("ledger", "verify", at=small).out == f"fine: 0 entries and 0 bound rows verified\n{covered}\n"


def test_db_upgrade_keeps_what_is_recorded(workspace: Path) -> None:
    before = files_of(workspace)
    assert trivet("db", "upgrade", at=workspace).code == 0
    assert files_of(workspace) == before


def observations(workspace: Path) -> dict[str, tuple[bool, str]]:
    """What the doctor found, with the exit code and the table held against the document."""
    ended = trivet("doctor", "--json", at=workspace)
    document: dict[str, Any] = ended.document
    found = {item["what"]: (item["fine"], item["message"]) for item in document["observations"]}
    assert document["fine"] is all(fine for fine, _ in found.values())
    assert ended.code == (0 if document["fine"] else 4)
    shown = trivet("doctor", at=workspace)
    assert shown.code == ended.code
    words = " ".join(shown.out.split())
    assert all(f"{'fine' if fine else 'wrong'} {what}" in words for what, (fine, _) in found.items())
    return found


def test_the_doctor_finds_nothing_wrong_with_the_demo(demo: Path) -> None:
    found = observations(demo)
    assert list(found) == [
        "program",
        "files",
        "warehouse",
        "ontology.employee_pay",
        "ontology.award_rate",
        "store",
        "in force",
        "checkpoints",
        "daemon",
        "receiver console",
        "space for the store",
        "space for the warehouse",
        "space for spilling",
    ]
    assert all(fine for fine, _ in found.values())
    assert found["files"][1] == "read and checked"
    assert found["in force"][1].startswith("nothing was published yet")
    assert found["ontology.employee_pay"][1] == "14 columns as declared"
    assert found["store"][1].startswith("ledger at entry ")


def test_the_doctor_finds_faults_in_files(workspace: Path) -> None:
    replace_in(workspace / "monitors" / "pay.yaml", "severity: warning", "severity: severe")
    assert observations(workspace)["files"] == (False, "1 fault; `trivet check` lists them")
    replace_in(workspace / "monitors" / "pay.yaml", "ordinary_hours > 38", "hours > 38")
    assert observations(workspace)["files"][0] is False


def test_the_doctor_sees_nothing_but_the_files_where_the_settings_are_at_fault(workspace: Path) -> None:
    (workspace / "trivet.yaml").write_text("store: [\n")
    assert list(observations(workspace)) == ["program", "files"]


def test_the_doctor_misses_the_warehouse(workspace: Path) -> None:
    (workspace / "warehouse.duckdb").unlink()
    message = "warehouse.duckdb is not there; `trivet ingest` builds it"
    assert observations(workspace)["warehouse"] == (False, message)


def test_the_doctor_finds_a_warehouse_that_is_none(workspace: Path) -> None:
    (workspace / "warehouse.duckdb").unlink()
    (workspace / "warehouse.duckdb").write_bytes(b"garbage" * 2000)
    fine, message = observations(workspace)["warehouse"]
    assert not fine
    assert "not a valid DuckDB database file" in message


def test_the_doctor_misses_views_and_columns(workspace: Path) -> None:
    change_warehouse(
        workspace,
        "CREATE TABLE ontology.kept AS SELECT * EXCLUDE (super_rate, pay_date) FROM ontology.employee_pay;"
        "DROP VIEW ontology.employee_pay; CREATE VIEW ontology.employee_pay AS FROM ontology.kept;"
        "DROP VIEW ontology.award_rate",
    )
    found = observations(workspace)
    assert found["warehouse"][0] is True
    assert found["ontology.employee_pay"] == (False, "lacks super_rate, pay_date; mend the view or the contract")
    assert found["ontology.award_rate"] == (
        False,
        "the view is not there; write views/*.sql and run `trivet ingest`",
    )


def test_the_doctor_knows_a_store_that_is_yet_to_be_made(small: Path) -> None:
    assert observations(small)["store"] == (True, "none yet; the first evaluation makes it")
    assert not (small / "trivet.db").exists()


def test_the_doctor_finds_a_store_that_waits_for_its_migration(workspace: Path) -> None:
    with closing(sqlite3.connect(workspace / "trivet.db")) as store:
        store.execute("DELETE FROM alembic_version")
        store.commit()
    message = f"the store is at revision none and this version needs {LATEST}; run `trivet db upgrade`"
    assert observations(workspace)["store"] == (False, message)


def test_the_doctor_finds_a_store_that_is_no_database(workspace: Path) -> None:
    for file in workspace.glob("trivet.db*"):
        file.unlink()
    (workspace / "trivet.db").write_bytes(b"garbage" * 2000)
    fine, message = observations(workspace)["store"]
    assert not fine
    assert message.endswith("is damaged: file is not a database; restore it from a backup")


def test_the_doctor_finds_a_ledger_whose_head_was_cut_off(workspace: Path) -> None:
    with by_hand(workspace) as store:
        store.execute("DELETE FROM ledger_head")
    assert observations(workspace)["store"] == (False, "the ledger has no head row; run `trivet ledger verify`")


def test_the_doctor_finds_a_secret_that_is_not_set(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIVET_STORE__URL", "env:AUDIT_STORE")
    fine, message = observations(workspace)["store"]
    assert not fine
    assert message.startswith("env:AUDIT_STORE: the secret is missing")
