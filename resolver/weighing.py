"""One proposal judged: is it of the contract, does it keep to the question, and does the referee let it through."""

from __future__ import annotations

from catalog.referee.certified import Purpose
from catalog.referee.certify import certify
from catalog.referee.decisions import Allowed
from resolver.candidates import Candidate, Drop, Dropped
from resolver.plan import CannotAnswer, MonitorQuestion, SemanticPlan, SqlText, monitor_fault, plan_fault
from resolver.plan_sql import plan_sql
from resolver.slots import unmet_by_monitor, unmet_in_sql, unmet_slot
from resolver.state import Declined, Parts, Ready, Weighed
from resolver.vocabulary import Linked


def weigh(candidate: Candidate, linked: Linked, parts: Parts) -> Weighed:
    """What becomes of a proposal before anything runs."""
    match candidate.proposed:
        case Dropped() as dropped:
            return Weighed(candidate, dropped)
        case CannotAnswer(why):
            return Weighed(candidate, Declined(why))
        case MonitorQuestion() as asked:
            if (fault := monitor_fault(asked, parts.monitors)) is not None:
                return Weighed(candidate, Dropped(Drop.UNKNOWN_NAME, fault))
            if (unmet := unmet_by_monitor(asked, linked)) is not None:
                return Weighed(candidate, Dropped(Drop.UNMET_SLOT, unmet))
            return Weighed(candidate, Ready(asked))
        case SemanticPlan() as plan:
            if (fault := plan_fault(plan, parts.contract)) is not None:
                return Weighed(candidate, Dropped(Drop.UNKNOWN_NAME, fault))
            if (unmet := unmet_slot(plan, linked, parts.contract)) is not None:
                return Weighed(candidate, Dropped(Drop.UNMET_SLOT, unmet))
            return _certified(candidate, plan_sql(plan, parts.contract).answer, parts)
        case SqlText(text) as proposed:
            # The referee first: what it stops is told by its clause, whatever else is wrong with it.
            weighed = _certified(candidate, text, parts)
            if isinstance(weighed.fate, Ready) and (unmet := unmet_in_sql(proposed, linked)) is not None:
                return Weighed(candidate, Dropped(Drop.UNMET_SLOT, unmet), text)
            return weighed


def _certified(candidate: Candidate, sql: str, parts: Parts) -> Weighed:
    decision = certify(sql, parts.contract, Purpose.QUESTION)
    if isinstance(decision, Allowed):
        return Weighed(candidate, Ready(decision.query), decision.query.sql)
    return Weighed(candidate, decision, sql)
