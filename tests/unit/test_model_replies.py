"""No reply of a model is trusted: each is read strictly, or dropped with a reason."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resolver.candidates import Drop, Dropped
from resolver.models.document import LONGEST_REPLY, read_reply
from resolver.models.prompt import messages, response_format
from resolver.models.replay import read_recording
from resolver.models.replies import Reply, candidates_of
from resolver.outcome import Refusal
from resolver.plan import (
    CannotAnswer,
    Filter,
    Measure,
    MonitorAsk,
    MonitorQuestion,
    Operator,
    Proposed,
    SemanticPlan,
    SqlText,
)
from resolver.slots import unmet_by_monitor, unmet_in_sql, unmet_slot
from tests.unit.questions import aruma, linked
from trivet.errors import InputError
from trivet.outcomes import ReasonCode

READ: dict[str, Proposed] = {
    '{"object": "employee_pay", "measure": "count", "property": null, "by": null, "filters": []}': SemanticPlan(
        "employee_pay", Measure.COUNT
    ),
    '{"object": "o", "measure": "avg", "property": "p", "by": "b",'
    ' "filters": [{"property": "q", "operator": "<", "values": ["1"]}]}': SemanticPlan(
        "o", Measure.AVG, "p", "b", (Filter("q", Operator.LESS, ("1",)),)
    ),
    '{"monitor": "pay-below-floor", "asks": "list"}': MonitorQuestion("pay-below-floor", MonitorAsk.LIST),
    '{"sql": "SELECT 1"}': SqlText("SELECT 1"),
    '{"cannot_answer": "no such thing"}': CannotAnswer("no such thing"),
}
DROPPED = {
    "SELECT 1": Drop.NOT_JSON,
    '```json\n{"sql": "SELECT 1"}\n```': Drop.NOT_JSON,
    '{"sql": "SELECT 1"': Drop.NOT_JSON,
    "[" * 5000: Drop.NOT_JSON,
    '{"sql": "SELECT\x001"}': Drop.CONTROL_CHARACTERS,
    '{"sql": "SELECT\n1"}': Drop.CONTROL_CHARACTERS,
    '{"sql": "SELECT\\u00001"}': Drop.CONTROL_CHARACTERS,
    '{"cannot_answer": "\\u009b31m"}': Drop.CONTROL_CHARACTERS,
    "[]": Drop.WRONG_SCHEMA,
    "null": Drop.WRONG_SCHEMA,
    '{"sql": 1}': Drop.WRONG_SCHEMA,
    '{"sql": "SELECT 1", "object_types": []}': Drop.WRONG_SCHEMA,
    '{"object": "o", "measure": "median"}': Drop.WRONG_SCHEMA,
    " " * (LONGEST_REPLY + 1): Drop.WRONG_SCHEMA,
}


@pytest.mark.parametrize("text", READ, ids=range(len(READ)))
def test_a_reply_of_a_known_shape_is_read(text: str) -> None:
    assert read_reply(text) == READ[text]


@pytest.mark.parametrize("text", DROPPED, ids=range(len(DROPPED)))
def test_any_other_reply_is_dropped_for_what_is_wrong_with_it(text: str) -> None:
    found = read_reply(text)
    assert isinstance(found, Dropped)
    assert found.kind is DROPPED[text]


@given(st.text(max_size=300) | st.recursive(st.none() | st.text(), st.lists, max_leaves=5).map(json.dumps))
def test_no_reply_at_all_raises(text: str) -> None:
    read_reply(text)


def test_a_reply_that_was_cut_off_is_dropped_although_it_can_be_read() -> None:
    whole, cut, none = candidates_of(
        [Reply('{"sql": "SELECT 1"}', "stop"), Reply('{"sql": "SELECT 1"}', "length"), Reply(None, "stop")], "m"
    )
    assert whole.proposed == SqlText("SELECT 1")
    assert isinstance(cut.proposed, Dropped)
    assert cut.proposed.kind is Drop.TRUNCATED
    assert isinstance(none.proposed, Dropped)


def test_the_schema_names_what_the_contract_has_and_no_text_with_control_characters() -> None:
    contract, monitors = aruma()
    text = json.dumps(response_format(contract, monitors))
    assert '"employee_pay"' in text
    assert '"pay-below-floor"' in text
    assert '"^[ -~]{0,120}$"' in text


def test_the_prompt_holds_descriptions_and_no_row_of_the_data() -> None:
    contract, monitors = aruma()
    text = json.dumps(messages("Who is casual?", contract, monitors))
    assert "ontology.employee_pay" in text
    assert "also called pay rate, base rate" in text
    assert "E1012" not in text


SLOTS: dict[str, tuple[SemanticPlan, str | None]] = {
    "How many casual employees?": (
        SemanticPlan("employee_pay", Measure.COUNT, filters=(Filter("employment_type", Operator.EQUAL, ("casual",)),)),
        None,
    ),
    "How many employees?": (
        SemanticPlan("employee_pay", Measure.COUNT, filters=(Filter("employment_type", Operator.EQUAL, ("casual",)),)),
        "'casual', which the question does not say",
    ),
    "How many full-time employees?": (SemanticPlan("employee_pay", Measure.COUNT), "leaves out 'full-time'"),
    "How many employees above 38 hours?": (SemanticPlan("employee_pay", Measure.COUNT), "leaves out '38'"),
    "How many employees over 38 hours?": (
        SemanticPlan("employee_pay", Measure.COUNT, filters=(Filter("ordinary_hours", Operator.GREATER, ("38.0",)),)),
        None,
    ),
    "How many employees in 2026?": (
        SemanticPlan(
            "employee_pay", Measure.COUNT, filters=(Filter("pay_date", Operator.BETWEEN, ("2026-01-01", "2026-12-31")),)
        ),
        None,
    ),
    "How many employees during 2026?": (
        SemanticPlan("employee_pay", Measure.COUNT, filters=(Filter("pay_date", Operator.GREATER, ("2023-01-01",)),)),
        "'2023-01-01', which the question does not say",
    ),
}


@pytest.mark.parametrize("question", SLOTS)
def test_a_plan_says_what_the_question_says_and_nothing_else(question: str) -> None:
    plan, expected = SLOTS[question]
    found = unmet_slot(plan, linked(question), aruma()[0])
    assert found is None if expected is None else expected in str(found)


def test_literals_of_proposed_sql_are_words_of_the_question() -> None:
    about = linked("How many casual employees?")
    assert unmet_in_sql(SqlText("SELECT COUNT(*) ... WHERE employment_type = 'casual'"), about) is None
    assert "'Mill Pond'" in str(unmet_in_sql(SqlText("... WHERE site = 'Mill Pond'"), about))
    assert "'38'" in str(unmet_in_sql(SqlText("SELECT 1"), linked("Who has over 38 hours?")))


def test_a_monitor_takes_no_account_of_a_figure() -> None:
    asked = MonitorQuestion("pay-below-floor", MonitorAsk.LIST)
    assert unmet_by_monitor(asked, linked("Who is paid below the floor?")) is None
    assert "'30'" in str(unmet_by_monitor(asked, linked("Who is paid below the floor of 30?")))


def test_a_recording_repeats_its_replies() -> None:
    line = {"question": "Who?", "model": "m", "replies": [{"content": '{"sql": "SELECT 1"}', "finish_reason": "stop"}]}
    proposer = read_recording(json.dumps(line) + "\n\n", "r.jsonl")
    found = proposer.propose(linked("  Who?  "))
    assert not isinstance(found, Refusal)
    assert (found.requested, found.candidates[0].source) == (1, "m")
    other = proposer.propose(linked("What?"))
    assert isinstance(other, Refusal)
    assert other.reason is ReasonCode.MODEL_UNAVAILABLE


def test_every_fault_of_a_recording_is_told_with_its_line() -> None:
    good = json.dumps({"question": "Who?", "replies": []})
    text = "\n".join([good, "{", '{"question": 1, "replies": []}', good, '{"question": "W", "replies": [{}]}'])
    with pytest.raises(InputError) as raised:
        read_recording(text, "r.jsonl")
    assert [item.position.line for item in raised.value.findings if item.position] == [2, 3, 4, 5]
