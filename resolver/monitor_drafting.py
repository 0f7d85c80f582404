"""What a judged monitor answers: its table, its sentence, and what the verdicts could not decide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from catalog.contract import Contract
from monitors.definition import MonitorDefinition
from monitors.evaluation import Counts, Member
from resolver.drafting import NAMED, Draft
from resolver.outcome import Absence, ResultTable
from resolver.plan import MonitorAsk
from resolver.ports import Judged
from resolver.vocabulary import row_noun
from trivet.canonical import Json
from trivet.verdicts import Reason, Verdict, badge

SHOWN = 1000
"""Members that an answer's table holds at most."""
_UNLINKED = (Reason.RIGHT_MISSING, Reason.RIGHT_NULL)


@dataclass(frozen=True, slots=True)
class MonitorAnswer:
    """The parts of an outcome that a judged monitor gives."""

    table: ResultTable
    draft: Draft
    absence: Absence
    document: dict[str, Json]
    """The counts, and the members asked for with where they were read."""
    provenance: tuple[dict[str, Json], ...]


def monitor_table(asks: MonitorAsk, judged: Judged, counts: Counts) -> ResultTable:
    """The result that is voted on, and that the sentence is grounded in."""
    if asks is MonitorAsk.COUNT:
        row = (counts.breach, counts.no_data, counts.compliant, counts.population)
        return ResultTable(("breach", "no_data", "compliant", "population"), (row,))
    members = asked_members(asks, judged)
    if not members:
        return ResultTable(("verdict",), ())
    first = members[0]
    operands = [name for name in first.operands if name not in first.key]
    columns = (*first.key, "verdict", "reason", *operands)
    rows = tuple(
        (
            *item.key.values(),
            item.verdict.value,
            item.reason.value if item.reason else None,
            *(item.operands.get(name) for name in operands),
        )
        for item in members[:SHOWN]
    )
    return ResultTable(columns, rows, truncated=len(members) > SHOWN, total=len(members))


def asked_members(asks: MonitorAsk, judged: Judged) -> tuple[Member, ...]:
    """The members that a question asks for; of a count, those that it counts."""
    match asks:
        case MonitorAsk.COUNT | MonitorAsk.LIST:
            return judged.breached
        case MonitorAsk.UNDECIDED:
            return judged.undecided
        case MonitorAsk.UNLINKED:
            return tuple(item for item in judged.undecided if item.reason in _UNLINKED)


def monitor_answer(
    definition: MonitorDefinition, asks: MonitorAsk, judged: Judged, counts: Counts, contract: Contract
) -> MonitorAnswer:
    """Everything that a judged monitor says to a question."""
    object_type = contract.object_type(definition.object)
    noun = row_noun(object_type) if object_type is not None else "member"
    noun = "group" if definition.grouping is not None else noun
    members = asked_members(asks, judged)
    others = tuple(item for item in judged.undecided if item not in members) if asks in _DECIDED else ()
    reasons = Counter(str(item.reason) for item in judged.undecided)
    shown = [*members[:SHOWN], *others[:SHOWN]]
    provenance = {_place(item): None for member in shown for item in member.provenance}
    return MonitorAnswer(
        table=monitor_table(asks, judged, counts),
        draft=_draft(definition, asks, members, counts, noun, others),
        absence=Absence(
            badge(counts.breach, counts.no_data),
            dict(sorted(reasons.items())),
            tuple(member_name(item) for item in judged.undecided[:NAMED]),
        ),
        document=_document(definition, judged, counts),
        provenance=tuple(dict(place) for place in provenance),
    )


_DECIDED = (MonitorAsk.COUNT, MonitorAsk.LIST)


def member_name(member: Member) -> str:
    """A member's key as a person reads it; the one group of a whole population has none."""
    if not member.key:
        return "all rows"
    return " ".join(value if value is not None else "no value" for value in member.key.values())


def _draft(
    definition: MonitorDefinition,
    asks: MonitorAsk,
    members: Sequence[Member],
    counts: Counts,
    noun: str,
    others: Sequence[Member],
) -> Draft:
    title = definition.title or definition.id
    whole = f"{counts.population} {noun}{'' if counts.population == 1 else 's'}"
    number, be = len(members), "is" if len(members) == 1 else "are"
    match asks:
        case MonitorAsk.COUNT | MonitorAsk.LIST:
            said = f"{number} of {whole} {be} in breach of “{title}”"
        case MonitorAsk.UNDECIDED:
            said = f"{number} of {whole} could not be decided for “{title}”"
        case MonitorAsk.UNLINKED:
            said = f"{number} of {whole} {'has' if number == 1 else 'have'} nothing to be judged by for “{title}”"
    text = f"{said}{_named(members)}."
    if asks in _DECIDED and counts.no_data:
        verb = "could not be decided and is no part of either side"
        if counts.no_data != 1:
            verb = "could not be decided and are no part of either side"
        text += f" {counts.no_data} {verb}{_named(others)}."
    numbers = {str(value) for value in (number, counts.population, counts.no_data, counts.breach)}
    names = {member_name(item) for item in (*members, *others)}
    reasons = {reason.value for reason in Reason}
    return Draft(text, derived=frozenset(numbers | names), labels=frozenset({title, noun} | reasons))


def _named(members: Sequence[Member]) -> str:
    if not members or len(members) > NAMED:
        return ""
    told = (f"{member_name(item)} ({item.reason})" if item.reason else member_name(item) for item in members)
    return f": {', '.join(told)}"


def _document(definition: MonitorDefinition, judged: Judged, counts: Counts) -> dict[str, Json]:
    verdict = Verdict.BREACH if counts.breach else Verdict.NO_DATA if counts.no_data else Verdict.COMPLIANT
    return {
        "id": definition.id,
        "title": definition.title,
        "definition_hash": definition.definition_hash,
        "verdict": verdict,
        "population": counts.population,
        "breach": counts.breach,
        "no_data": counts.no_data,
        "compliant": counts.compliant,
        "partial": counts.partial,
        "no_data_reasons": {reason.value: count for reason, count in counts.no_data_reasons.items()},
        "samples": {
            "breach": [item.to_json() for item in judged.breached[: definition.samples]],
            "no_data": [item.to_json() for item in judged.undecided[: definition.samples]],
        },
    }


def _place(row: object) -> tuple[tuple[str, Json], ...]:
    if not isinstance(row, dict):
        return ()
    return tuple((str(name), value) for name, value in row.items())
