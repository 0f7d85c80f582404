"""Members as messages show them: text from data is held as data, capped and not escaped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from alerts.members import Flagged
from alerts.states import MemberState
from alerts.wording import shortened
from monitors.evaluation import Evaluation, Member
from trivet.canonical import normal_text
from trivet.verdicts import Verdict

MOST_MEMBERS = 10
"""Members that a message shows; breached ones first. Of an outage, monitors."""
_LONGEST_VALUE = 500
_LONGEST_TEXT = 1_000
_MOST_OPERANDS = 20
_MOST_PLACES = 4


@dataclass(frozen=True, slots=True)
class ShownMember:
    """A member as a message shows it."""

    verdict: str
    key: Mapping[str, str | None]
    operands: Mapping[str, str | None]
    reason: str | None = None
    provenance: tuple[str, ...] = ()
    """Where its row, and each deciding linked row, was read."""
    accepted_until: str | None = None
    """The last day for which its breach is accepted; None where nobody accepted it."""
    causes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Why it is undecided: causes of each operand or link that counts."""
    was_breach: bool = False
    """It breached before, and is undecided now."""


@dataclass(frozen=True, slots=True)
class ShownKey:
    """A key without a linked row as a message shows it."""

    link: str
    object: str
    """The object type that has no such row."""
    key: Mapping[str, str | None]
    members: int
    """Members that wait for it."""


def member_json(member: ShownMember) -> dict[str, Any]:
    """As a message's JSON holds it."""
    return {
        "verdict": member.verdict,
        "key": dict(member.key),
        "operands": dict(member.operands),
        "reason": member.reason,
        "provenance": list(member.provenance),
        "accepted_until": member.accepted_until,
        "causes": {name: list(causes) for name, causes in member.causes.items()},
        "was_breach": member.was_breach,
    }


def member_of(document: Mapping[str, Any]) -> ShownMember:
    """What `member_json` wrote."""
    causes = {name: tuple(found) for name, found in document.get("causes", {}).items()}
    return ShownMember(**{**document, "provenance": tuple(document.get("provenance", ())), "causes": causes})


def _place(found: Mapping[str, str | int | None]) -> str:
    """A place as `sources/pay.csv, row 14`: the document first, and its table only where there is no document."""
    told = {name: str(value) for name, value in found.items() if name != "of" and value is not None}
    document = told.pop("document", None)
    if document is not None:
        told.pop("table", None)
    parts = ([document] if document is not None else []) + [f"{name} {value}" for name, value in told.items()]
    return _value(", ".join(parts))


def shown_members(
    made: Evaluation, accepted: Mapping[str, str], flagged: Mapping[str, Flagged]
) -> Iterator[ShownMember]:
    """Those that a message shows: what is accepted comes after what is not, and what breached before the rest."""
    fresh, known, were, others = list[Member](), list[Member](), list[Member](), list[Member]()
    for item in made.breached if accepted else ():
        (known if item.key_text in accepted else fresh).append(item)
    carried = {key for key, item in flagged.items() if item.breached and item.now is MemberState.NO_DATA}
    for item in made.undecided if carried else ():
        (were if item.key_text in carried else others).append(item)
    breached = (*fresh, *known) if accepted else made.breached
    undecided = (*were, *others) if carried else made.undecided
    # Of many breaches some still leave room for what cannot be judged any more.
    room = max(MOST_MEMBERS - len(were), MOST_MEMBERS // 2)
    for item in (*breached[:room], *undecided, *breached[room:])[:MOST_MEMBERS]:
        day = accepted.get(item.key_text) if item.verdict is Verdict.BREACH and accepted else None
        was = item.verdict is Verdict.NO_DATA and bool(carried) and item.key_text in carried
        yield replace(_shown(item), accepted_until=day, was_breach=was)


def _shown(member: Member) -> ShownMember:
    return ShownMember(
        member.verdict.value,
        shown_values(member.key),
        shown_values({name: value for name, value in member.operands.items() if name not in member.key}),
        member.reason.value if member.reason else None,
        tuple(_place(item) for item in member.provenance[:_MOST_PLACES]),
        causes={capped(name): causes for name, causes in list(member.causes.items())[:_MOST_OPERANDS]},
    )


def shown_values(values: Mapping[str, str | None]) -> dict[str, str | None]:
    """Values by name, each no longer than a message holds."""
    shown = list(values.items())[:_MOST_OPERANDS]
    return {capped(name): None if value is None else _value(value) for name, value in shown}


def _value(text: str) -> str:
    return shortened(normal_text(text), _LONGEST_VALUE)


def capped(text: str) -> str:
    """A text of the monitor or an engine, no longer than a message holds."""
    return shortened(normal_text(text), _LONGEST_TEXT)
