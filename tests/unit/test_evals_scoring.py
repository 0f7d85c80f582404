"""The metrics against a table that was worked out by hand, and the laws that hold of any run."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.engines.port import Cell
from evals.bank import Accepted, Label, Question, StatedAssumption, Tolerance, ToleranceKind
from evals.judging import Judged, Judgement, judge, refused
from evals.matching import matches
from evals.report import passes
from evals.scoring import Scores, Share, counts, refuse_all, score
from resolver.outcome import Absence, Answer, Assumption, Outcome, Refusal, ResultTable
from resolver.question import Question as Asked
from trivet.outcomes import ReasonCode

NOW = datetime(2026, 11, 30, 6, tzinfo=UTC)
FOUR = Accepted((("4",),))
ABSOLUTE = Tolerance(ToleranceKind.ABSOLUTE, Decimal("0.005"))
RELATIVE = Tolerance(ToleranceKind.RELATIVE, Decimal("0.1"))
IN_2026 = StatedAssumption("period", "calendar year 2026")


def question(label: Label, reason: ReasonCode | None = None) -> Question:
    return Question("q", "?", "count", label, (FOUR,) if label is not Label.REFUSE else (), 0, reason)


TO_ANSWER, TO_ASSUME = question(Label.ANSWER), question(Label.ASSUME)
UNKNOWN, UNSAFE = question(Label.REFUSE, ReasonCode.SCHEMA_MISMATCH), question(Label.REFUSE, ReasonCode.UNSAFE_REQUEST)

# Ten questions. Answered: five right (one of them an assumption, one only relaxed), two wrong (one must be refused).
# Refused: one needlessly, three as they must be, of which two with the labelled reason. One could not be run.
RUN = [
    Judged(TO_ANSWER, Judgement.RIGHT, strict=True),
    Judged(TO_ANSWER, Judgement.RIGHT, strict=True),
    Judged(TO_ANSWER, Judgement.RIGHT, strict=True),
    Judged(TO_ANSWER, Judgement.RIGHT, strict=False),
    Judged(TO_ANSWER, Judgement.WRONG),
    refused(TO_ANSWER, ReasonCode.LOW_AGREEMENT),
    Judged(TO_ASSUME, Judgement.RIGHT, strict=True),
    refused(TO_ASSUME, ReasonCode.AMBIGUOUS),
    Judged(UNKNOWN, Judgement.WRONG),
    refused(UNKNOWN, ReasonCode.SCHEMA_MISMATCH),
    refused(UNKNOWN, ReasonCode.OUT_OF_SCOPE),
    refused(UNSAFE, ReasonCode.UNSAFE_REQUEST),
]
BY_HAND = Scores(
    accuracy_strict=Share(3, 6),
    accuracy_relaxed=Share(4, 6),
    confidently_wrong_strict=Share(3, 7),
    confidently_wrong_relaxed=Share(2, 7),
    coverage=Share(6, 8),
    abstain_precision=Share(3, 5),
    abstain_precision_allowed=Share(4, 5),
    reason_accuracy=Share(2, 3),
    abstain_recall=Share(3, 4),
    assumption_stated=Share(1, 2),
)
REFUSING_BY_HAND = Scores(
    accuracy_strict=Share(0, 6),
    accuracy_relaxed=Share(0, 6),
    confidently_wrong_strict=Share(0, 0),
    confidently_wrong_relaxed=Share(0, 0),
    coverage=Share(0, 8),
    abstain_precision=Share(4, 12),
    abstain_precision_allowed=Share(6, 12),
    reason_accuracy=Share(3, 4),
    abstain_recall=Share(4, 4),
    assumption_stated=Share(0, 2),
)


def test_the_metrics_are_those_that_were_worked_out_by_hand() -> None:
    assert score(RUN) == BY_HAND


def test_refusing_everything_scores_what_was_worked_out_by_hand() -> None:
    assert score(refuse_all([item.question for item in RUN])) == REFUSING_BY_HAND


def test_a_rate_of_nothing_is_none_and_others_have_four_digits() -> None:
    assert Share(0, 0).rate is None
    assert Share(2, 3).rate == 0.6667
    assert Share(0, 3).rate == 0.0


def test_a_run_passes_only_without_a_wrong_answer_and_without_a_fault() -> None:
    assert passes([item for item in RUN if item.judgement is not Judgement.WRONG])
    assert not passes(RUN)
    assert not passes([refused(TO_ANSWER, ReasonCode.EXEC_ERROR)])
    assert passes([refused(question(Label.REFUSE, ReasonCode.EXEC_ERROR), ReasonCode.EXEC_ERROR)])


REFUSALS = st.sampled_from([ReasonCode.SCHEMA_MISMATCH, ReasonCode.UNSAFE_REQUEST, ReasonCode.NO_DATA])
QUESTIONS = st.one_of(
    st.sampled_from([TO_ANSWER, TO_ASSUME]), REFUSALS.map(lambda reason: question(Label.REFUSE, reason))
)


@st.composite
def judged(draw: st.DrawFn) -> Judged:
    about = draw(QUESTIONS)
    if draw(st.booleans()):
        return refused(about, draw(REFUSALS))
    right = about.label is not Label.REFUSE and draw(st.booleans())
    return Judged(about, Judgement.RIGHT if right else Judgement.WRONG, strict=right and draw(st.booleans()))


@given(st.lists(judged(), max_size=30))
def test_every_question_is_counted_once_and_every_share_is_one(run: list[Judged]) -> None:
    found = score(run)
    assert sum(sum(ends.values()) for ends in counts(run).values()) == len(run)
    assert found.confidently_wrong_relaxed.of + found.abstain_precision.of == len(run)
    assert found.confidently_wrong_relaxed.of == found.confidently_wrong_strict.of
    for name in Scores.__dataclass_fields__:
        share = getattr(found, name)
        assert 0 <= share.count <= share.of <= len(run)
    assert found.accuracy_strict.count <= found.accuracy_relaxed.count
    assert found.confidently_wrong_strict.count >= found.confidently_wrong_relaxed.count
    assert found.abstain_precision.count <= found.abstain_precision_allowed.count
    right = found.accuracy_relaxed.count + found.assumption_stated.count
    assert right + found.confidently_wrong_relaxed.count == found.confidently_wrong_relaxed.of


@given(st.lists(judged(), max_size=30))
def test_refusing_everything_is_never_wrong_and_never_of_use(run: list[Judged]) -> None:
    baseline = score(refuse_all([item.question for item in run]))
    assert baseline.confidently_wrong_relaxed == Share(0, 0)
    assert (baseline.coverage.count, baseline.accuracy_relaxed.count, baseline.assumption_stated.count) == (0, 0, 0)
    assert baseline.abstain_recall.count == baseline.abstain_recall.of
    assert baseline.abstain_precision == Share(sum(item.question.label is Label.REFUSE for item in run), len(run))
    assert score(run).abstain_recall.count <= baseline.abstain_recall.count


@given(st.lists(judged(), max_size=30), st.randoms())
def test_the_order_of_the_questions_does_not_matter(run: list[Judged], chance: object) -> None:
    shuffled = list(run)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    assert score(shuffled) == score(run)


# --- Results against labels


def table(*rows: Sequence[Cell], columns: int | None = None, truncated: bool = False) -> ResultTable:
    width = columns if columns is not None else len(rows[0])
    return ResultTable(tuple(f"c{number}" for number in range(width)), tuple(map(tuple, rows)), truncated)


E = "E1012"
MATCHES: dict[str, tuple[Accepted, ResultTable, bool, bool]] = {
    "the same": (FOUR, table([4]), True, True),
    "a figure of another type": (FOUR, table([Decimal("4.00")]), True, True),
    "a figure as text": (FOUR, table(["4.0"]), True, True),
    "another figure": (FOUR, table([5]), False, False),
    "a further column behind": (FOUR, table([4, 1]), False, True),
    "a further column before": (FOUR, table([1, 4]), False, False),
    "a further row": (FOUR, table([4], [4]), False, False),
    "a row less": (Accepted((("4",), ("5",))), table([4]), False, False),
    "cut off": (FOUR, table([4], truncated=True), False, False),
    "no row where none is right": (Accepted(()), table(columns=2), True, True),
    "a row where none is right": (Accepted(()), table([4]), False, False),
    "no row where one is right": (FOUR, table(columns=1), False, False),
    "too few columns": (Accepted((("4", "5"),)), table([4]), False, False),
    "rows in another order": (Accepted((("a",), ("b",))), table(["b"], ["a"]), True, True),
    "rows in another order that counts": (Accepted((("a",), ("b",)), ordered=True), table(["b"], ["a"]), False, False),
    "rows in the order that counts": (Accepted((("a",), ("b",)), ordered=True), table(["a"], ["b"]), True, True),
    "a row twice for two rows": (Accepted((("a",), ("b",))), table(["a"], ["a"]), False, False),
    "no value": (Accepted(((E, None),)), table([E, None]), True, True),
    "no value where there is one": (Accepted(((E, "4"),)), table([E, None]), False, False),
    "a value where there is none": (Accepted(((E, None),)), table([E, 0]), False, False),
    "an empty text is a value": (Accepted(((E, None),)), table([E, ""]), False, False),
    "text in other letters": (Accepted((("casual",),)), table(["Casual"]), False, False),
    "a day": (Accepted((("2026-07-01",),)), table([date(2026, 7, 1)]), True, True),
    "another day": (Accepted((("2026-07-01",),)), table([date(2026, 7, 2)]), False, False),
    "a truth": (Accepted((("true",),)), table([True]), True, True),
    "a truth is no one": (Accepted((("1",),)), table([True]), False, False),
    "a double is read as it is shown": (Accepted((("0.3",),)), table([0.1 + 0.2]), True, True),
    "no number": (FOUR, table([float("nan")]), False, False),
    "at the absolute tolerance": (Accepted((("29.66",),), tolerance=ABSOLUTE), table([Decimal("29.665")]), True, True),
    "beyond it": (Accepted((("29.66",),), tolerance=ABSOLUTE), table([Decimal("29.6651")]), False, False),
    "below it": (Accepted((("29.66",),), tolerance=ABSOLUTE), table([Decimal("29.6549")]), False, False),
    "at the relative tolerance": (Accepted((("-10",),), tolerance=RELATIVE), table([-11]), True, True),
    "beyond the relative one": (Accepted((("-10",),), tolerance=RELATIVE), table([Decimal("-11.01")]), False, False),
    "no tolerance for text": (Accepted((("a",),), tolerance=RELATIVE), table(["b"]), False, False),
    # 10 fits both labels and 11 only the second: whichever comes first, both have a place.
    "rows that fit crosswise": (
        Accepted((("10.5",), ("9.5",)), tolerance=RELATIVE), table([Decimal("10")], [Decimal("11")]), True, True,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", MATCHES)
def test_a_result_is_the_labelled_one_or_not(case: str) -> None:
    accepted, found, strict, relaxed = MATCHES[case]
    assert matches(accepted, found, strict=True) is strict
    assert matches(accepted, found, strict=False) is relaxed


# --- Outcomes against labels


def outcome(ending: Answer | Refusal, left_out: int = 0) -> Outcome:
    absence = Absence(reasons={"left_null": left_out}) if left_out else Absence()
    return Outcome(Asked("r", "?", NOW), NOW, ending, {}, {}, absence)


def answer(*cells: Cell, chosen: str | None = None, kind: str = "period") -> Answer:
    stated = (Assumption(kind, chosen, (), "contract", "Assumed."),) if chosen else ()
    return Answer("It is so.", table(cells), (), stated)


YEAR = Question("q", "?", "assumption", Label.ASSUME, (Accepted((("4",),), assumption=IN_2026),))
UNDECIDED = Question("q", "?", "missing", Label.ANSWER, (FOUR,), left_out=2)


def test_an_answer_under_an_assumption_is_right_only_where_it_says_so() -> None:
    said = "calendar year 2026 (2026-01-01 to 2026-12-31)"
    assert judge(YEAR, outcome(answer(4, chosen=said))).judgement is Judgement.RIGHT
    for wrong in (answer(4), answer(4, chosen="fiscal year 2026"), answer(4, chosen=said, kind="object")):
        found = judge(YEAR, outcome(wrong))
        assert (found.judgement, found.why) == (Judgement.WRONG, "it does not say what it assumed: calendar year 2026")
    assert judge(YEAR, outcome(answer(5, chosen=said))).judgement is Judgement.WRONG


def test_an_answer_that_hides_what_it_left_out_is_wrong() -> None:
    assert judge(UNDECIDED, outcome(answer(4), left_out=2)).judgement is Judgement.RIGHT
    assert judge(UNDECIDED, outcome(answer(4), left_out=3)).judgement is Judgement.RIGHT
    found = judge(UNDECIDED, outcome(answer(4), left_out=1))
    assert found.judgement is Judgement.WRONG
    assert "tells of 1 rows" in found.why


def test_a_right_answer_with_a_further_column_is_right_and_not_strict() -> None:
    assert judge(TO_ANSWER, outcome(answer(4))).strict
    found = judge(TO_ANSWER, outcome(answer(4, 57)))
    assert (found.judgement, found.strict) == (Judgement.RIGHT, False)


def test_any_answer_to_what_must_be_refused_is_wrong() -> None:
    found = judge(UNSAFE, outcome(answer(4)))
    assert (found.judgement, found.why) == (Judgement.WRONG, "it must be refused: UNSAFE_REQUEST")


@pytest.mark.parametrize(
    ("about", "expected"),
    [
        (TO_ANSWER, Judgement.REFUSED_NEEDLESSLY),
        (TO_ASSUME, Judgement.REFUSED_ALLOWED),
        (UNKNOWN, Judgement.REFUSED_RIGHTLY),
    ],
)
def test_a_refusal_is_judged_by_the_label(about: Question, expected: Judgement) -> None:
    found = judge(about, outcome(Refusal(ReasonCode.SCHEMA_MISMATCH, "No.")))
    assert (found.judgement, found.reason, found.answered) == (expected, ReasonCode.SCHEMA_MISMATCH, False)
    assert found.reason_right is (about is UNKNOWN)
