"""A whole condition for one member: the tree above the comparisons, and the presence tests in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from catalog.expressions.tree import And, Between, Comparison, Condition, Exists, Membership, Not, Or, Presence
from evals.oracle.comparisons import Decision, Situation, Unknown, asked_causes, decide_comparison, merged
from evals.oracle.kleene import Truth, conjunction, disjunction, negation
from evals.oracle.outcomes import cause_of
from trivet.verdicts import Cause, Reason


def decide(condition: Condition, situation: Situation) -> Decision:
    """What a condition comes to for a member."""
    match condition:
        case And(items=items):
            return _combine([decide(item, situation) for item in items], conjunction)
        case Or(items=items):
            return _combine([decide(item, situation) for item in items], disjunction)
        case Not(item=item):
            return _combine([decide(item, situation)], lambda truths: negation(truths[0]))
        case Presence():
            return Decision(_is_met(condition, situation), (), partial=False)
        case Comparison() | Between() | Membership():
            return decide_comparison(condition, situation)
        case Exists():
            return _decide_exists(condition, situation)


def _combine(decisions: Sequence[Decision], rule: Callable[[Sequence[Truth]], Truth]) -> Decision:
    truth = rule([decision.truth for decision in decisions])
    counting = [unknown for decision in decisions for unknown in decision.counting]
    return Decision(truth, tuple(counting) if truth is None else (), any(item.partial for item in decisions))


def _decide_exists(atom: Exists, situation: Situation) -> Decision:
    met = situation.links[atom.link]
    unusable = bool(met.unusable_rows)
    if met.known and not met.rows:
        return Decision(False, (), partial=False)
    if met.known and len(met.rows) > len(met.unusable_rows) and not (unusable and situation.strict):
        return Decision(True, (), unusable)
    reason = Reason.RIGHT_MISSING if met.key_unknown else Reason.RIGHT_NULL
    if met.date_unknown:
        reason = Reason.LEFT_NULL
    return Decision(None, (Unknown(reason, merged(asked_causes(atom.link, met))),), unusable)


def _is_met(atom: Presence, situation: Situation) -> bool:
    """A presence test, which no row leaves open: any cause but `null` counts as present."""
    ref = atom.property
    if ref.link is None:
        outcomes = [situation.own[ref.name]]
    else:
        outcomes = [row.outcomes[ref.name] for row in situation.links[ref.link].rows]
    return any(cause_of(outcome) is not Cause.NULL for outcome in outcomes) is atom.present
