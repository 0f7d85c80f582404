"""How fast the referee decides, and that nothing which it judged before plays a part."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from catalog.referee.certified import Purpose
from catalog.referee.certify import certify
from catalog.referee.decisions import decision_document
from tests.unit.test_referee import CERTIFIED, cases, statements

ROOT = Path(__file__).parents[2]
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


_FORKS = """
import os, subprocess, sys, threading
from catalog.engines.duckdb_reading import statement_kinds

ready, done = threading.Barrier(3), threading.Event()

def read():
    statement_kinds("SELECT 1")
    ready.wait()
    done.wait()

threads = [threading.Thread(target=read) for _ in range(2)]
for thread in threads:
    thread.start()
statement_kinds("SELECT 1")
ready.wait()
for _ in range(20):
    # With a function to be called first, Python forks as it does for workers.
    assert subprocess.Popen(["true"], preexec_fn=os.setsid).wait() == 0
child = os.fork()
if child == 0:
    os._exit(0 if statement_kinds("SELECT 1") == ("SELECT",) else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
done.set()
print(statement_kinds("SELECT 1; ATTACH 'x'"))
"""


def test_a_process_forks_while_instances_are_kept() -> None:
    """What a parent's threads opened ended every child of theirs with a segmentation fault."""
    command = [sys.executable, "-X", "faulthandler", "-c", _FORKS]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "('SELECT', 'ATTACH')\n", "")
