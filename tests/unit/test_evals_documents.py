"""Bank files: good ones mean what they show, bad ones are refused.

Each `tests/cases/bad/banks/NAME.yaml` must be refused with exactly the lines of `NAME.expected`. Add a case by
adding the two files.
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from evals.bank import Accepted, Label, StatedAssumption, Tolerance, ToleranceKind
from evals.banks import shipped_bank
from evals.document import BankModel
from evals.judging import Judgement
from evals.loading import load_bank
from evals.scoring import METRICS
from resolver.models.replay import read_recording
from resolver.question import plain_text
from tests.markdown import code
from tests.unit.test_docs import documented_keys, keys, rows_of
from trivet.outcomes import ReasonCode

CASES = Path(__file__).parent.parent / "cases" / "bad" / "banks"
FILES = sorted(CASES.glob("*.yaml"))
PAGE = "reference/evals.md"
GOOD = """\
bank: {id: small, contract: example, version: 0.1.0}
questions:
  - id: warm
    ask: Which readings are warm?
    kind: filter
    left_out: 1
    note: Counted by hand.
    answer:
      - {rows: [[R2, 6.10, null, "null", ""]], ordered: true, tolerance: {relative: 0.05}}
      - {rows: []}
  - id: year
    ask: How many readings in 2026?
    kind: assumption
    assume: [{rows: [[4]], assumption: {kind: period, chosen: calendar year 2026}}]
  - {id: churn, ask: "What is the churn?", kind: unknown-term, refuse: SCHEMA_MISMATCH}
"""


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_a_bad_bank_is_refused_with_exactly_the_expected_findings(file: Path) -> None:
    read = load_bank(file.read_bytes(), file.name)
    assert read.bank is None
    assert [str(finding) for finding in read.findings] == file.with_suffix(".expected").read_text("utf-8").splitlines()
    assert read.findings


def test_each_bad_bank_has_both_files() -> None:
    assert {file.stem for file in FILES} == {file.stem for file in CASES.glob("*.expected")}
    assert len(FILES) >= 10


def test_a_good_bank_means_what_it_shows() -> None:
    read = load_bank(GOOD.encode(), "good.yaml")
    assert read.findings == ()
    assert read.bank is not None
    assert (read.bank.id, read.bank.contract, read.bank.version) == ("small", "example", "0.1.0")
    warm, year, churn = read.bank.questions
    assert [item.label for item in read.bank.questions] == [Label.ANSWER, Label.ASSUME, Label.REFUSE]
    tolerance = Tolerance(ToleranceKind.RELATIVE, Decimal("0.05"))
    assert warm.accepted == (
        Accepted((("R2", "6.10", None, "null", ""),), ordered=True, tolerance=tolerance),
        Accepted(()),
    )
    assert (warm.left_out, warm.reason, warm.note) == (1, None, "Counted by hand.")
    assert year.accepted == (Accepted((("4",),), assumption=StatedAssumption("period", "calendar year 2026")),)
    assert (churn.reason, churn.accepted) == (ReasonCode.SCHEMA_MISMATCH, ())


def test_comments_and_layout_do_not_change_what_a_bank_is_known_by() -> None:
    bank = load_bank(GOOD.encode(), "good.yaml").bank
    again = load_bank(f"# A comment.\n{GOOD}".encode(), "again.yaml").bank
    other = load_bank(GOOD.replace("6.10", "6.1").encode(), "other.yaml").bank
    assert bank is not None
    assert again is not None
    assert other is not None
    assert bank.hash == again.hash != other.hash


def test_the_shipped_bank_tries_every_kind_of_end() -> None:
    bank = load_bank(shipped_bank().read_bytes(), "aruma.yaml").bank
    assert bank is not None
    labels = [item.label for item in bank.questions]
    assert len(labels) >= 24
    assert min(labels.count(label) for label in Label) >= 5
    kinds = {item.kind for item in bank.questions}
    assert kinds >= {"paraphrase", "sensitive", "unknown-term", "write", "injection", "out-of-scope", "ambiguous"}
    assert kinds >= {"empty", "masked", "missing", "assumption", "monitor"}


def test_the_shipped_recording_is_of_questions_of_the_bank() -> None:
    bank = load_bank(shipped_bank().read_bytes(), "aruma.yaml").bank
    assert bank is not None
    file = shipped_bank().with_suffix(".replay.jsonl")
    recorded = set(read_recording(file.read_text("utf-8"), file.name).recordings)
    assert recorded <= {plain_text(item.ask) for item in bank.questions}
    assert len(recorded) >= 24


# --- The reference page holds exactly what there is


def test_every_key_of_a_bank_has_its_line_with_its_default() -> None:
    documented = list(documented_keys(PAGE))
    assert len(documented) == len(dict(documented))
    assert dict(documented) == dict(keys(BankModel))


def test_every_metric_has_its_line_in_order() -> None:
    assert [code(row[0])[0] for _, row in rows_of(PAGE, "Metric")] == list(METRICS)


def test_every_judgement_has_its_line_in_order() -> None:
    assert [code(row[0])[0] for _, row in rows_of(PAGE, "Judgement")] == [item.value for item in Judgement]
