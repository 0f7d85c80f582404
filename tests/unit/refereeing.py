"""Questions before the referee, for the tests of it."""

from __future__ import annotations

from catalog.contract import Contract
from catalog.loading import load_contract
from catalog.referee.certified import Clause, Purpose
from catalog.referee.certify import certify
from catalog.referee.decisions import (
    Allowed,
    Approval,
    Decision,
    Escalated,
)
from catalog.referee.rules import RULES
from catalog.referee.statement import Objection
from tests.unit.test_referee import CONTRACT
from trivet.documents import read_yaml

CLAUSES = [Clause.TEXT, *(rule.clause for rule in RULES[Purpose.QUESTION])]


def judge(sql: str, approval: Approval | None = None, contract: Contract = CONTRACT) -> Decision:
    return certify(sql, contract, Purpose.QUESTION, approval=approval)


def objection(sql: str, contract: Contract = CONTRACT) -> Objection:
    decision = judge(sql, contract=contract)
    assert not isinstance(decision, Allowed), decision.query.sql
    return decision.objection


def allowed(sql: str, contract: Contract = CONTRACT) -> Allowed:
    decision = judge(sql, contract=contract)
    assert isinstance(decision, Allowed), decision.objection
    return decision


def escalated(sql: str) -> Escalated:
    decision = judge(sql)
    assert isinstance(decision, Escalated), decision
    return decision


def contract_of(text: str) -> Contract:
    document = read_yaml(text, file="contract.yaml").document
    assert document is not None
    contract = load_contract([document]).contract
    assert contract is not None
    return contract
