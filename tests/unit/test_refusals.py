"""Each reason has its sentence, which claims nothing of its own, and a sentence without ground is never an answer."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, cast

import pytest

from catalog.referee.certified import CertifiedQuery
from resolver.candidates import Candidate
from resolver.conclusion import conclude
from resolver.drafting import Draft
from resolver.outcome import ResultTable
from resolver.plan import SqlText
from resolver.question import Question
from resolver.refusals import TEMPLATES, refuse
from resolver.stages import ground_claims
from resolver.state import Parts, Ran, State, Stopped, Weighed
from tests.unit.questions import NOW, aruma
from trivet.outcomes import OutcomeState, ReasonCode
from trivet.verdicts import Verdict


@pytest.mark.parametrize("reason", ReasonCode)
def test_every_reason_has_a_sentence_with_no_figure_of_its_own(reason: ReasonCode) -> None:
    refusal = refuse(reason, "this and that", clause="no_star")
    assert refusal.text.endswith(".")
    assert "{" not in refusal.text
    assert not any(char.isdigit() for char in TEMPLATES[reason])


def test_a_sentence_without_ground_is_held_back_and_kept_for_the_audit() -> None:
    contract, monitors = aruma()
    table = ResultTable(("n",), ((13,),))
    candidate = Candidate("m", SqlText("SELECT"))
    state = State(
        Question("q1", "How many?", NOW),
        winner=Weighed(candidate, Ran(cast(CertifiedQuery, None), table), "SELECT"),
        drafted=Draft("There are 14."),
    )
    nothing: Any = None
    parts = Parts(contract, monitors, nothing, nothing, nothing, Decimal("0.6"))
    stopped = ground_claims(state, parts)
    assert isinstance(stopped, Stopped)
    outcome = conclude(stopped.state, stopped, parts, NOW)
    document = outcome.to_json(None)
    assert (document["reason_code"], outcome.state) == (ReasonCode.UNGROUNDED_ANSWER, OutcomeState.ABSTAIN)
    assert (document["answer"], document["table"], outcome.draft) == (None, None, "There are 14.")
    assert outcome.verdict is Verdict.BREACH
    assert "'14'" in str(document["refusal"])
