"""Every proposal of `tests/cases/questions/slots.yaml` keeps to its question, or is told what it does not keep."""

from __future__ import annotations

from typing import Any

import pytest

from resolver.plan import Filter, Measure, MonitorAsk, MonitorQuestion, Operator, SemanticPlan, SqlText
from resolver.slots import unmet_by_monitor, unmet_in_sql, unmet_slot
from tests.unit.questions import aruma, cases, linked


def unmet(case: dict[str, Any]) -> str | None:
    about = linked(case["ask"])
    match case:
        case {"plan": [name, measure, measured, by, filters]}:
            read = tuple(Filter(item, Operator(operator), tuple(values)) for item, operator, values in filters)
            return unmet_slot(SemanticPlan(name, Measure(measure), measured, by, read), about, aruma()[0])
        case {"monitor": [name, asks]}:
            return unmet_by_monitor(MonitorQuestion(name, MonitorAsk(asks)), about)
        case _:
            return unmet_in_sql(SqlText(case["sql"]), about)


@pytest.mark.parametrize("case", cases("slots"), ids=lambda case: f"{case['ask']} {case['unmet']}")
def test_a_proposal_keeps_to_its_question_or_is_told_what_it_does_not_keep(case: dict[str, Any]) -> None:
    found = unmet(case)
    assert (found is None) == (case["unmet"] is None), found
    assert (case["unmet"] or "") in (found or "")
