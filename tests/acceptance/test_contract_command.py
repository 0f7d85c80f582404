"""`trivet contract verify`, and the contract's questions at `check`, `apply` and `ask`."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from tests.acceptance.command import trivet
from tests.integration.small_workspaces import make_workspace

SOLD = "What was sold in the US in 2025-Q3?"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return make_workspace(tmp_path / "shop")


def change_warehouse(shop: Path, sql: str) -> None:
    with duckdb.connect(str(shop / "warehouse.duckdb")) as connection:
        connection.execute(sql)


def change_contract(shop: Path, old: str, new: str) -> None:
    file = shop / "contract.yaml"
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")


def test_verified_questions_are_compared_with_their_last_run(shop: Path) -> None:
    first = trivet("contract", "verify", "--json", at=shop)
    assert (first.code, first.err) == (0, "")
    assert [item["rerun"] for item in first.document["results"]] == ["first", "first"]
    assert first.document["results"][0]["figures"] == ["180"]

    again = trivet("contract", "verify", at=shop)
    assert again.code == 0
    assert again.out.count("same") == 2

    change_warehouse(shop, "UPDATE ontology.order_line SET amount = 21 WHERE line_id = 'L3'")
    changed = trivet("contract", "verify", at=shop)
    assert changed.code == 4
    assert f"changed  {SOLD}: it was 180 and is 181" in changed.out

    assert trivet("contract", "verify", at=shop).code == 0
    assert trivet("ledger", "verify", at=shop).code == 0


def test_a_verified_question_that_cannot_run_keeps_what_it_last_came_to(shop: Path) -> None:
    assert trivet("contract", "verify", at=shop).code == 0
    change_warehouse(shop, "ALTER TABLE ontology.order_line RENAME COLUMN amount TO value")
    failed = trivet("contract", "verify", "--json", at=shop)
    assert failed.code == 4
    assert [item["rerun"] for item in failed.document["results"]] == ["failed", "same"]
    change_warehouse(shop, "ALTER TABLE ontology.order_line RENAME COLUMN value TO amount")
    assert [item["rerun"] for item in trivet("contract", "verify", "--json", at=shop).document["results"]] == [
        "same",
        "same",
    ]


def test_sql_that_the_referee_does_not_let_through_is_found_by_check_and_keeps_apply_from_publishing(
    shop: Path,
) -> None:
    change_contract(shop, " AND legal_entity = 'US'\n", "\n")
    ended = trivet("check", at=shop)
    assert ended.code == 65
    assert "contract.yaml:" in ended.err
    assert "verified_queries[0].sql: the referee refuses it by clause mandatory_filters" in ended.err
    assert trivet("apply", at=shop).code == 65
    refused = trivet("contract", "verify", at=shop)
    assert refused.code == 4
    assert "refused" in refused.out


def test_a_contract_without_verified_questions_has_nothing_to_rerun(workspace: Path) -> None:
    assert trivet("contract", "verify", at=workspace).code == 0
    ended = trivet("contract", "verify", "--json", at=workspace)
    assert ended.document == {"ok": True, "results": [], "ledger_seq": None}


def test_a_metric_is_asked_for_by_a_word_of_the_glossary(shop: Path) -> None:
    ended = trivet("ask", "What was the turnover in 2025-Q3 in the US?", "--json", at=shop)
    assert ended.code == 0
    assert ended.document["table"]["rows"] == [["180"]]
    assert ended.document["answer"].startswith("The gross revenue of lines with fiscal period 2025-Q3")
    refused = trivet("ask", "What was the turnover in 2025-Q3?", at=shop)
    assert refused.code == 3
    assert "asked for one legal entity at a time" in refused.out


def test_a_stated_gap_is_told_with_its_evidence(shop: Path) -> None:
    ended = trivet("ask", "How much was returned in the US?", "--json", at=shop)
    assert (ended.code, ended.document["reason_code"]) == (3, "NO_DATA")
    assert ended.document["refusal"] == 'Only sales are held. The contract says: "Returns are not held here.".'


STRANGE = "INSERT INTO ontology.order_line (line_id, region) VALUES ('L9', 'Nord'), ('L10', 'Nord'), ('L11', 'East')"


def test_values_outside_their_domain_are_counted_and_named(shop: Path) -> None:
    change_warehouse(shop, STRANGE)
    ended = trivet("check", "--live", at=shop)
    assert ended.code == 0
    assert (
        "warning: contract.yaml:17:77: object_types[0].properties[4].domain: order_line.region: 2 values"
        " in 3 rows of ontology.order_line lie outside its domain sales_area.area: 'Nord' (2 rows), 'East' (1 row)"
    ) in ended.err


def test_no_more_than_ten_values_outside_a_domain_are_named(shop: Path) -> None:
    change_warehouse(
        shop, "INSERT INTO ontology.order_line (line_id, region) SELECT 'M' || i, 'R' || i FROM range(12) t(i)"
    )
    (warning,) = [line for line in trivet("check", "--live", at=shop).err.splitlines() if "domain" in line]
    assert "12 values in 12 rows" in warning
    assert (warning.count("(1 row)"), warning.endswith("and others")) == (10, True)


@pytest.mark.parametrize("where", ["missing: [n/a]", "name: area, type: text"])
def test_restricted_values_outside_a_domain_are_counted_and_never_shown(shop: Path, where: str) -> None:
    change_contract(shop, where, f"{where}, sensitivity: restricted")
    text = (shop / "contract.yaml").read_text("utf-8")
    (shop / "contract.yaml").write_text(text.partition("verified_queries:")[0], "utf-8")
    change_warehouse(shop, STRANGE)
    (warning,) = [line for line in trivet("check", "--live", at=shop).err.splitlines() if "domain" in line]
    assert warning.endswith("2 values in 3 rows of ontology.order_line lie outside its domain sales_area.area")
