"""The stages of the pipeline, one function each, in the order in which they run."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from catalog.engines.port import EngineFault
from catalog.referee.certified import Clause
from catalog.referee.decisions import Abstained, Escalated, reason_code
from resolver import intent
from resolver.absence import absence_of, left_unknown, provenance_of, unknown_entity
from resolver.candidates import Drop, Dropped
from resolver.consensus import Vote, agree, is_empty
from resolver.drafting import draft_plan, draft_sql
from resolver.framing import frame
from resolver.gaps import stated_gap, verified_proposal, verified_query, verified_words
from resolver.grounding import ground, is_grounded
from resolver.measuring import find_metric
from resolver.monitor_drafting import monitor_answer
from resolver.outcome import ClaimVerdict, Refusal
from resolver.plan import Measure, MonitorQuestion, SemanticPlan
from resolver.question import LONGEST
from resolver.refusals import refuse
from resolver.running import run, value_lookup
from resolver.state import Declined, Failed, Parts, Ran, Ready, State, Stopped, Weighed
from resolver.vocabulary import contract_nouns, identity_words, link_words, monitor_words
from resolver.weighing import weigh
from trivet.outcomes import ReasonCode


def check_intent(state: State, parts: Parts) -> State | Stopped:
    """Stops what asks for a change or for the system, before anything else looks at it: UNSAFE_REQUEST."""
    if not state.question.words:
        return Stopped(state, refuse(ReasonCode.OUT_OF_SCOPE))
    if len(state.question.text) > LONGEST:
        return Stopped(state, refuse(ReasonCode.COST_LIMIT, f"the question is longer than {LONGEST} characters"))
    unsafe = intent.check_intent(state.question.plain, contract_nouns(parts.contract))
    if unsafe is not None:
        return Stopped(state, refuse(ReasonCode.UNSAFE_REQUEST, f"{unsafe.kind}: '{unsafe.text}'"))
    return state


def link(state: State, parts: Parts) -> State | Stopped:
    """Links the question's words to the contract's.

    A verified question needs no more. One with a word of a stated gap ends with the contract's own reason, and
    one of which not one word is known with OUT_OF_SCOPE.
    """
    try:
        linked = link_words(state.question, parts.contract, value_lookup(parts.contract, parts.engine))
    except EngineFault as error:
        return Stopped(state, refuse(ReasonCode.EXEC_ERROR, str(error)))
    state = replace(state, linked=linked, verified=verified_query(state.question, parts.contract))
    if state.verified is not None:
        return state
    if (gap := stated_gap(linked, parts.contract)) is not None:
        return Stopped(state, gap)
    monitors = (monitor_words(item, parts.contract) for item in parts.monitors)
    known = {word for item in monitors for word in item.title} - identity_words(parts.contract)
    if not linked.spans and not linked.meant_by(known):
        return Stopped(state, refuse(ReasonCode.OUT_OF_SCOPE))
    return state


def propose(state: State, parts: Parts) -> State | Stopped:
    """Takes the SQL of a verified question, else asks the proposer, which may stop with a reason of its own."""
    if state.linked is None:
        raise LookupError("the question's words are not linked")
    if state.verified is not None:
        return replace(state, proposal=verified_proposal(state.verified))
    proposal = parts.proposer.propose(state.linked)
    if isinstance(proposal, Refusal):
        return Stopped(state, proposal)
    return replace(state, proposal=proposal)


def referee(state: State, parts: Parts) -> State | Stopped:
    """Judges each proposal. Where none may run, the commonest reason is the question's."""
    if state.proposal is None or state.linked is None:
        raise LookupError("nothing was proposed")
    try:
        weighed = tuple(weigh(item, state.linked, parts) for item in state.proposal.candidates)
    except EngineFault as error:
        return Stopped(state, refuse(ReasonCode.EXEC_ERROR, str(error)))
    state = replace(state, weighed=weighed)
    if any(isinstance(item.fate, Ready) for item in weighed):
        return state
    return Stopped(state, _nothing_to_run(state))


def execute(state: State, parts: Parts) -> State | Stopped:
    """Runs each certified proposal once, whatever their number: EXEC_ERROR or COST_LIMIT where every run fails."""
    done: dict[object, Ran | Failed] = {}
    weighed = []
    for item in state.weighed:
        if isinstance(item.fate, Ready):
            key = item.fate.run if isinstance(item.fate.run, MonitorQuestion) else item.fate.run.sql
            if key not in done:
                done[key] = run(item.fate.run, parts)
            item = replace(item, fate=done[key])
        weighed.append(item)
    state = replace(state, weighed=tuple(weighed))
    if any(isinstance(item.fate, Ran) for item in weighed):
        return state
    failed = [item.fate for item in weighed if isinstance(item.fate, Failed)]
    costly = all(item.too_costly for item in failed)
    return Stopped(state, refuse(ReasonCode.COST_LIMIT if costly else ReasonCode.EXEC_ERROR, failed[0].message))


def agree_on_one(state: State, parts: Parts) -> State | Stopped:
    """Finds the answer that the proposals agree on: LOW_AGREEMENT where there is none."""
    proposal = state.proposal
    if proposal is None:
        raise LookupError("nothing was proposed")
    votes = [
        Vote(item.candidate.source, item.fate.table, _is_ranked(item), item)
        for item in state.weighed
        if isinstance(item.fate, Ran)
    ]
    requested = 1 if proposal.deterministic else proposal.requested
    found = agree(votes, requested, parts.threshold, proposal.must_agree)
    if isinstance(found, Refusal):
        return Stopped(state, found)
    vote, agreement = found
    return replace(state, winner=vote.of, agreement=agreement)


def account_for_absence(state: State, parts: Parts) -> State | Stopped:
    """Counts what the answer could not take in: NO_SUCH_ENTITY or NO_DATA where nothing is left of it."""
    winner, ran = state.winner, state.ran
    if winner is None:
        raise LookupError("no proposal has won yet")
    if isinstance(ran.run, MonitorQuestion):
        return state
    try:
        proposed = winner.candidate.proposed
        if isinstance(proposed, SemanticPlan) and (entity := unknown_entity(proposed, state.linked, parts)) is not None:
            return Stopped(state, refuse(ReasonCode.NO_SUCH_ENTITY, entity))
        state = replace(state, absence=absence_of(winner, parts), provenance=provenance_of(proposed, parts))
    except EngineFault as error:
        return Stopped(state, refuse(ReasonCode.EXEC_ERROR, str(error)))
    if state.absence.misread is not None:
        return Stopped(state, refuse(ReasonCode.NO_DATA, state.absence.misread))
    if isinstance(proposed, SemanticPlan) and (why := left_unknown(proposed, state.absence, parts)) is not None:
        return Stopped(state, refuse(ReasonCode.NO_DATA, why))
    listed = isinstance(proposed, SemanticPlan) and proposed.measure is Measure.LIST
    if (is_empty(ran.table) and not (listed and not ran.table.rows)) or _counts_no_value(ran):
        return Stopped(state, refuse(ReasonCode.NO_DATA, _no_data_words(state)))
    return state


def draft(state: State, parts: Parts) -> State | Stopped:
    """Writes the sentence by rule."""
    ran = state.ran
    proposed = state.winner.candidate.proposed if state.winner is not None else None
    if isinstance(ran.run, MonitorQuestion):
        if ran.judged is None or ran.counts is None:
            raise LookupError("the monitor was not judged")
        definition = parts.monitor(ran.run.monitor)
        told = monitor_answer(definition, ran.run.asks, ran.judged, ran.counts, parts.contract)
        return replace(
            state, drafted=told.draft, absence=told.absence, monitor=told.document, provenance=told.provenance
        )
    if isinstance(proposed, SemanticPlan):
        object_type = parts.contract.object_type(proposed.object)
        if object_type is None:
            raise LookupError(f"the contract has no object type {proposed.object}")
        metric = find_metric(parts.contract, proposed.metric)
        return replace(state, drafted=draft_plan(proposed, object_type, ran.table, state.absence, metric))
    said = verified_words(state.verified) if state.verified is not None else ""
    return replace(state, drafted=draft_sql(ran.table, state.absence, said))


def frame_assumptions(state: State, parts: Parts) -> State | Stopped:
    """States what the question left open and the answer fixed."""
    proposed = state.winner.candidate.proposed if state.winner is not None else None
    if isinstance(proposed, SemanticPlan) and state.linked is not None:
        return replace(state, assumptions=frame(proposed, state.linked, parts.contract))
    return state


def ground_claims(state: State, parts: Parts) -> State | Stopped:
    """Holds every claim of the sentence against the result: UNGROUNDED_ANSWER where one has no ground."""
    if state.drafted is None:
        raise LookupError("nothing was drafted")
    claims = ground(state.drafted, state.ran.table)
    state = replace(state, claims=claims)
    if is_grounded(claims):
        return state
    loose = next(claim.text for claim in claims if claim.verdict is ClaimVerdict.UNGROUNDED)
    return Stopped(state, refuse(ReasonCode.UNGROUNDED_ANSWER, f"'{loose}'"))


def _is_ranked(item: Weighed) -> bool:
    """Whether the order of the rows is part of the answer: SQL that sorts and cuts ranks, a list does not."""
    sql = (item.sql or "").upper()
    return not isinstance(item.candidate.proposed, SemanticPlan) and "ORDER BY" in sql and "LIMIT" in sql


def _counts_no_value(ran: Ran) -> bool:
    """Whether an aggregate had no value to take together."""
    return len(ran.table.rows) == 1 and ran.table.rows[0][0] is None


def _no_data_words(state: State) -> str:
    total = sum(state.absence.reasons.values())
    if not total:
        return "no row fits, or none of those that do has a value"
    why = ", ".join(f"{count} {reason}" for reason, count in state.absence.reasons.items())
    return f"every row that could have counted is undecided ({why})"


def _nothing_to_run(state: State) -> Refusal:
    """The refusal of a question of whose proposals none may run: the reason that most of them share."""
    fates = [item.fate for item in state.weighed]
    reasons = Counter(_reason(fate) for fate in fates)
    if not reasons:
        return refuse(ReasonCode.MODEL_UNAVAILABLE, "no proposal came")
    commonest = max(reasons, key=lambda reason: reasons[reason])
    fate = next(fate for fate in fates if _reason(fate) is commonest)
    many = f" ({reasons[commonest]} of {len(fates)} proposals)" if len(fates) > 1 else ""
    match fate:
        case Abstained(objection) | Escalated(objection):
            refusal = refuse(commonest, f"{objection.message}{many}", clause=objection.clause)
            if commonest is ReasonCode.UNSAFE_REQUEST:
                words = f"a proposal was stopped by clause {objection.clause}: {objection.message}{many}"
                refusal = refuse(commonest, words, clause=objection.clause)
            return refusal
        case Dropped(kind, message):
            return refuse(commonest, f"{message}{many}" if kind.tells_all else f"{kind}, {message}{many}")
        case Declined(why):
            return refuse(commonest, f"the model found no answer in the data: {why}{many}")
        case _:
            raise LookupError("a proposal that may run was taken for one that may not")


def _reason(fate: object) -> ReasonCode:
    match fate:
        case Abstained(objection):
            return reason_code(Clause(objection.clause))
        case Escalated():
            return ReasonCode.SENSITIVE
        case Dropped(kind) if kind.wants_more:
            return ReasonCode.AMBIGUOUS
        case Dropped(Drop.NO_PERIOD):
            return ReasonCode.NO_DATA
        case Dropped(kind):
            return ReasonCode.MODEL_UNAVAILABLE if kind.is_unreadable else ReasonCode.SCHEMA_MISMATCH
        case _:
            return ReasonCode.SCHEMA_MISMATCH
