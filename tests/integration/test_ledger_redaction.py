"""Text is erased, the ledger stays valid, and it tells of it for ever: on both databases."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
import sqlalchemy as sa

from ledger.reading import entry
from ledger.verification.findings import Report
from ledger.verification.verify import verify_store
from tests.integration.store import lift_guards, record_evaluation, record_silence
from trivet.errors import UsageError
from worker.redacting import redact_member
from worker.stores import read_only
from worker.tables import member

NOW = datetime(2026, 11, 30, 6, tzinfo=UTC)


@pytest.fixture
def store(any_store: sa.Engine) -> sa.Engine:
    with any_store.begin() as connection:
        record_evaluation(connection, "E1", members=3)
        record_silence(connection, "S1")
    return any_store


def verified(store: sa.Engine) -> Report:
    with read_only(store).connect() as connection:
        return verify_store(connection)


def rows(store: sa.Engine) -> list[sa.RowMapping]:
    with read_only(store).connect() as connection:
        return list(connection.execute(sa.select(member).order_by(member.c.ordinal)).mappings())


def erase(store: sa.Engine, ordinal: int = 2) -> int:
    return redact_member(store, "E1", ordinal, "data officer", "asked for", NOW).entry.seq


def test_what_is_erased_is_gone_and_everything_else_stands(store: sa.Engine) -> None:
    before = rows(store)
    assert erase(store) == 3
    after = rows(store)
    assert (after[0], after[2]) == (before[0], before[2])
    assert {name: after[1][name] for name in ("member_key", "operands", "provenance", "salt")} == {
        "member_key": "{}",
        "operands": "{}",
        "provenance": "[]",
        "salt": None,
    }
    assert after[1]["verdict"] == before[1]["verdict"]
    report = verified(store)
    assert (report.ok, report.redactions, report.entries) == (True, 1, 3)
    with read_only(store).connect() as connection:
        told = entry(connection, 3)
    assert told is not None
    content = told.content()
    assert (content["by"], content["reason"], content["of"], content["key"]) == (
        "data officer",
        "asked for",
        "E1",
        {"ordinal": 2},
    )
    assert content["text"] == after[1]["erased"]
    assert before[1]["member_key"] not in told.payload


def test_nothing_is_erased_twice_and_nothing_that_is_not_there(store: sa.Engine) -> None:
    erase(store)
    with pytest.raises(UsageError, match="member/E1/2 was erased before"):
        erase(store)
    with pytest.raises(UsageError, match="there is no member/E1/9"):
        erase(store, 9)
    assert verified(store).entries == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("verdict = 'no_data'", "are not those that were recorded"),
        ("partial = NOT partial", "are not those that were recorded"),
        ('operands = \'{"rate":"1"}\'', "is said to be erased and is not: operands"),
        ("salt = 'aa'", "is said to be erased and is not: salt"),
        ("erased = 'aa'", "is erased, and no entry tells of it"),
        ("erased = NULL", "are not those that were recorded"),
    ],
)
def test_an_erased_row_is_bound_like_any_other(store: sa.Engine, change: str, message: str) -> None:
    erase(store)
    with store.begin() as connection:
        lift_guards(connection)
        connection.exec_driver_sql(f"UPDATE member SET {change} WHERE ordinal = 2")
    (damage,) = verified(store).damage
    assert (damage.seq, damage.kind) == (1, "rows")
    assert message in damage.message


def test_erasing_without_telling_is_damage(store: sa.Engine) -> None:
    blank = "member_key = '{}', operands = '{}', provenance = '[]', salt = NULL"
    with store.begin() as connection:
        lift_guards(connection)
        connection.exec_driver_sql(f"UPDATE member SET {blank}, erased = 'aa' WHERE ordinal = 2")
    (damage,) = verified(store).damage
    assert (damage.seq, damage.kind) == (1, "rows")


def test_the_store_lets_no_row_be_erased_that_the_ledger_does_not_tell_of(store: sa.Engine) -> None:
    blank = "member_key = '{}', operands = '{}', provenance = '[]', salt = NULL, erased = 'aa'"
    with pytest.raises(sa.exc.IntegrityError, match="append-only"), store.begin() as connection:
        connection.exec_driver_sql(f"UPDATE member SET {blank} WHERE ordinal = 2")
    erase(store)
    with pytest.raises(sa.exc.IntegrityError, match="append-only"), store.begin() as connection:
        connection.exec_driver_sql("UPDATE member SET verdict = 'no_data' WHERE ordinal = 2")
