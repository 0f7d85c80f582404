"""Judging recorded members again from what was recorded of them: operands, causes, definition and contract.

Each comparison is judged, by the same compiler and engine as over any other data, on the member and the linked row that
was recorded beside it. What was not recorded cannot be judged again; `worker/recorded_truths.py` says how far what was
recorded tells what a comparison came to. A verdict is reproduced where no other one can follow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from catalog.contract import Contract
from catalog.expressions.tree import Atom, Presence
from catalog.expressions.walking import atom_links, atoms
from monitors.definition import MonitorDefinition
from trivet.verdicts import Reason, ReplayResult
from worker.recorded_members import RecordedMember
from worker.recorded_scene import Judged, NotJudged, Scene, deciding_atoms, scene_of
from worker.recorded_truths import AtomReading, Range, Truth, counted, exactly, range_of

_CHUNK = 50_000
"""Members that stand in one small warehouse."""
_MOST_DIFFERENCES = 20


@dataclass(slots=True)
class Rejudged:
    """What judging the recorded members again came to."""

    reproduced: int = 0
    inputs_gone: int = 0
    """Members of which too little was recorded, or is left, to tell."""
    diverged: int = 0
    differences: list[str] = field(default_factory=list)
    """What diverged, a line for each of the first members, and whatever else contradicts itself."""
    why_gone: Counter[str] = field(default_factory=Counter)
    """Why inputs are gone, each with the number of members."""

    @property
    def result(self) -> ReplayResult:
        """Of all members together; with no member there is nothing that could be judged again."""
        if self.differences:
            return ReplayResult.DIVERGED
        return ReplayResult.INPUTS_GONE if self.inputs_gone or not self.reproduced else ReplayResult.REPRODUCED

    @property
    def told(self) -> tuple[str, ...]:
        """What diverged, and why inputs are gone."""
        gone = (f"{count} {'member' if count == 1 else 'members'}: {why}" for why, count in self.why_gone.items())
        return (*self.differences, *gone)

    def lacks(self, why: str, members: int = 1) -> None:
        """Counts members of which too little is left to tell."""
        self.inputs_gone += members
        self.why_gone[why] += members

    def differs(self, item: RecordedMember, now: str) -> None:
        """Counts a member that is not what it was recorded as."""
        self.diverged += 1
        if len(self.differences) < _MOST_DIFFERENCES:
            was = f"{item.verdict} ({item.reason})" if item.reason else item.verdict.value
            self.differences.append(f"member {item.ordinal} was recorded as {was} and is {now}")


class _End(StrEnum):
    """What a member can come to."""

    BREACH = "breach"
    NO_DATA = "no_data"
    COMPLIANT = "compliant"
    SCOPE_UNKNOWN = "no_data (scope_unknown)"
    OUTSIDE = "outside the population"


def rejudge(
    definition: MonitorDefinition, contract: Contract, members: Sequence[RecordedMember], at: datetime
) -> Rejudged:
    """Judges recorded members again, at the instant of their slot.

    Raises:
        LookupError: the contract does not hold what the definition names.
    """
    made = Rejudged()
    scene = scene_of(definition, contract)
    if scene.masked:
        made.lacks("values that the condition names are masked", len(members))
        return made
    readings = _readings(scene, definition)
    for start in range(0, len(members), _CHUNK):
        _rejudge_some(scene, readings, members[start : start + _CHUNK], at, made)
    return made


def _readings(scene: Scene, definition: MonitorDefinition) -> tuple[AtomReading, ...]:
    found, deciding = scene.atoms(), deciding_atoms(scene)
    undecidable = [atom for atom in found if not isinstance(atom, Presence)]
    keys = definition.grouping.keys if definition.grouping is not None else ()
    labels = {key.property for key in keys if key.period is not None}
    return tuple(
        AtomReading(
            atom,
            tuple(scene.links[name] for name in atom_links(atom)),
            scene.properties_of(atom),
            decides=atom in deciding,
            alone=len(undecidable) == 1,
            strict=definition.strict,
            labelled=any(name in labels for name, _ in scene.properties_of(atom)),
            unreasoned=bool(definition.grouping) or any(name in scene.counts for name, _ in scene.properties_of(atom)),
        )
        for atom in found
    )


def _rejudge_some(
    scene: Scene, readings: Sequence[AtomReading], members: Sequence[RecordedMember], at: datetime, made: Rejudged
) -> None:
    told = []
    for item in members:
        if item.erased:
            made.lacks("their text was erased")
        elif item.reason is Reason.SOURCE_STALE:
            made.lacks("how old a source was is no operand")
        else:
            told.append(item)
    wanted = [reading.atom for reading in readings if reading.is_judged]
    try:
        columns = dict(zip(wanted, scene.judged(wanted, told, at), strict=True)) if told else {}
    except NotJudged as error:
        made.lacks(f"they could not be judged: {error}", len(told))
        return
    nothing = Judged(Truth.UNKNOWN)
    for row, item in enumerate(told):
        found = {reading.atom: columns[reading.atom][row] if reading.is_judged else nothing for reading in readings}
        _Member(scene, readings, item, found).compare(made)


@dataclass(frozen=True, slots=True)
class _Member:
    """One member, and what each comparison comes to on what was recorded of it."""

    scene: Scene
    readings: Sequence[AtomReading]
    item: RecordedMember
    found: Mapping[Atom, Judged]

    def compare(self, made: Rejudged) -> None:
        """Counts the member by whether its verdict follows again."""
        told = {reading.atom: reading.told(self._truth(reading), self.item) for reading in self.readings}
        ends = self._ends(told)
        if ends == {self._recorded}:
            reason = self._reason(told) if self._recorded is _End.NO_DATA else None
            if reason in (None, self.item.reason):
                made.reproduced += 1
            else:
                made.differs(self.item, f"no_data ({reason})")
            return
        doubted = {reading.atom: reading.doubted(self._truth(reading), self.item) for reading in self.readings}
        if self._recorded in self._ends(doubted):
            made.lacks(next(item.why_open for item in self.readings if doubted[item.atom].only is None))
        else:
            made.differs(self.item, " or ".join(sorted(ends)))

    def _truth(self, reading: AtomReading) -> Truth:
        return self.found[reading.atom].truth

    @property
    def _recorded(self) -> _End:
        if self.item.reason is Reason.SCOPE_UNKNOWN:
            return _End.SCOPE_UNKNOWN
        return _End(self.item.verdict.value)

    def _ends(self, ranges: Mapping[Atom, Range]) -> set[_End]:
        """Everything that the member can come to."""
        if self.scene.has_no_key(self.item):
            return {_End.NO_DATA}
        where = exactly(Truth.TRUE) if self.scene.where is None else range_of(self.scene.where, ranges.__getitem__)
        return {end for truth in where for end in self._ends_where(truth, ranges)}

    def _ends_where(self, truth: Truth, ranges: Mapping[Atom, Range]) -> Iterator[_End]:
        match truth:
            case Truth.FALSE:
                yield _End.OUTSIDE
            case Truth.UNKNOWN:
                yield _End.SCOPE_UNKNOWN
            case Truth.TRUE:
                of = {Truth.FALSE: _End.COMPLIANT, Truth.UNKNOWN: _End.NO_DATA, Truth.TRUE: _End.BREACH}
                yield from (of[found] for found in range_of(self.scene.breach_when, ranges.__getitem__))

    def _reason(self, told: Mapping[Atom, Range]) -> Reason | None:
        """The reason that follows too; None where what was recorded does not tell it."""
        if self.scene.has_no_key(self.item):
            return Reason.LEFT_NULL
        asked = {*atoms(self.scene.breach_when)}
        readings = [item for item in self.readings if item.atom in asked and not isinstance(item.atom, Presence)]
        if not all(item.tells_reason for item in readings):
            return None
        if any(item.doubted(self._truth(item), self.item) != told[item.atom] for item in readings):
            return None
        reasons = [self.found[atom].reason for atom in counted(self.scene.breach_when, told.__getitem__)]
        return min((item for item in reasons if item is not None), key=list(Reason).index, default=None)
