"""How fast the referee decides, and that nothing which it judged before plays a part."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor

from catalog.referee.certified import Purpose
from catalog.referee.certify import certify
from catalog.referee.decisions import decision_document
from tests.unit.test_referee import CERTIFIED, cases, statements

SLOWEST = 0.020
"""Seconds of processor time for a decision, at the 95th percentile, once the referee has warmed up."""

ATTACKS = [case["sql"] for case in cases("attacks")]


def decided(sql: str) -> dict[str, object]:
    return decision_document(None, certify(sql, CERTIFIED, Purpose.QUESTION), CERTIFIED.reference())


def test_a_decision_on_a_typical_question_takes_a_few_milliseconds() -> None:
    typical = [*statements("questions"), *statements("measured_questions")]
    for sql in typical[:10]:
        decided(sql)
    times = []
    for sql in typical:
        begun = time.process_time()
        decided(sql)
        times.append(time.process_time() - begun)
    assert sorted(times)[len(times) * 95 // 100] < SLOWEST


def test_a_decision_is_the_same_whatever_was_judged_before_it_and_in_whichever_thread() -> None:
    forth = [decided(sql) for sql in ATTACKS]
    back = [decided(sql) for sql in reversed(ATTACKS)]
    assert forth == back[::-1]
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(decided, ATTACKS)) == forth


def test_a_process_that_was_forked_decides_the_same() -> None:
    sql = "SELECT site FROM ontology.readings"
    assert decided(sql)["decision"] == "ALLOW"
    child = os.fork()
    if child == 0:
        os._exit(0 if decided(sql)["decision"] == "ALLOW" else 1)
    assert os.waitpid(child, 0)[1] == 0
