"""One proposal judged: is it of the contract, does it keep to the question, and does the referee let it through."""

from __future__ import annotations

import re
from dataclasses import replace

from catalog.referee.certified import Clause, Purpose
from catalog.referee.certify import certify
from catalog.referee.decisions import Allowed
from resolver.candidates import Candidate, Drop, Dropped
from resolver.filed_periods import with_days
from resolver.measuring import as_metric, metric_fault, missing_filters
from resolver.plan import CannotAnswer, MonitorQuestion, SemanticPlan, SqlText, monitor_fault, plan_fault
from resolver.plan_sql import plan_sql
from resolver.running import run_own
from resolver.slots import unmet_by_monitor, unmet_in_sql, unmet_slot
from resolver.state import Declined, Parts, Ready, Weighed
from resolver.vocabulary import Linked


def weigh(candidate: Candidate, linked: Linked, parts: Parts) -> Weighed:
    """What becomes of a proposal before anything of it runs.

    Raises:
        EngineFault: the contract's calendar cannot be read.
    """
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
            if (fault := plan_fault(plan, parts.contract) or metric_fault(plan, parts.contract)) is not None:
                return Weighed(candidate, Dropped(Drop.UNKNOWN_NAME, fault))
            if (unmet := unmet_slot(plan, linked, parts.contract)) is not None:
                return Weighed(candidate, Dropped(Drop.UNMET_SLOT, unmet))
            return _measured(candidate, as_metric(plan, parts.contract), parts)
        case SqlText(text) as proposed:
            # The referee first: what it stops is told by its clause, whatever else is wrong with it.
            weighed = _certified(candidate, text, parts)
            if not isinstance(weighed.fate, Ready) or proposed.verified:
                return weighed
            if (unmet := unmet_in_sql(proposed, linked) or _other_metric(weighed.fate, linked)) is not None:
                return Weighed(candidate, Dropped(Drop.UNMET_SLOT, unmet), text)
            return weighed


def _other_metric(ready: Ready, linked: Linked) -> str | None:
    """Whether SQL takes none of the metrics that the question names, by the certificate of the referee."""
    named = linked.metrics_named
    if not named or isinstance(ready.run, MonitorQuestion):
        return None
    lines = [line.satisfied_by for line in ready.run.certificate if line.clause is Clause.CERTIFIED_METRIC]
    taken = {word for line in lines for word in re.findall(r"\w+", line)}
    return None if named & taken else f"it leaves out '{min(named)}'"


def _measured(candidate: Candidate, plan: SemanticPlan, parts: Parts) -> Weighed:
    """A plan that keeps to the question, held against the contract's metrics and mandatory filters."""
    dated = with_days(plan, parts.contract, lambda sql: run_own(sql, parts.contract, parts.engine))
    if isinstance(dated, Dropped):
        return Weighed(candidate, dated)
    plan = dated
    candidate = replace(candidate, proposed=plan)
    if (fault := plan_fault(plan, parts.contract) or metric_fault(plan, parts.contract)) is not None:
        return Weighed(candidate, Dropped(Drop.UNKNOWN_NAME, fault))
    if missing := missing_filters(plan, parts.contract):
        return Weighed(candidate, Dropped(Drop.MISSING_FILTER, _wanted(plan, missing)))
    return _certified(candidate, plan_sql(plan, parts.contract).answer, parts)


def _wanted(plan: SemanticPlan, missing: tuple[str, ...]) -> str:
    """Which values the contract wants, in words."""
    about = (plan.metric or plan.object).replace("_", " ")
    names = " and one ".join(name.replace("_", " ") for name in missing)
    return f"{about} is asked for one {names} at a time, and the question names none"


def _certified(candidate: Candidate, sql: str, parts: Parts) -> Weighed:
    decision = certify(sql, parts.contract, Purpose.QUESTION)
    if isinstance(decision, Allowed):
        return Weighed(candidate, Ready(decision.query), decision.query.sql)
    return Weighed(candidate, decision, sql)
