"""Judging recorded members again from what was recorded of them: operands, causes, definition and contract.

The operands become the rows of a small warehouse: one row for each member and, for each link, the linked row that was
recorded beside it. The definition is judged over that by the same compiler and engine as over any other data. What was
not recorded cannot be judged again: other linked rows than the deciding one, and values that were masked.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from catalog.contract import CensoredColumns, Contract, LinkType, ObjectType, Property, Sensitivity
from catalog.datatypes import INTEGER, Kind
from catalog.engines.duckdb_engine import DuckDBEngine
from catalog.engines.duckdb_scratch import SCHEMA, ScratchTable, build_scratch
from catalog.expressions.tree import Presence, PropertyRef, Quantifier, atom_links, atoms, condition_references
from compiler.plan import conditions_of
from monitors.definition import MonitorDefinition
from monitors.evaluation import NotMade
from trivet.verdicts import Cause, Reason, ReplayResult, Verdict
from worker.judging import judge

_ROW = "trivet_row"
"""The key of the rows that are made here; no property of a contract may be meant by it."""
_CAUSE, _SIDE, _LIMIT = "{}_trivet_cause", "{}_trivet_side", "{}_trivet_limit"
_CENSORED = re.compile(r"\s*(<=|>=|<|>)\s*(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class RecordedMember:
    """A member as the store holds it."""

    ordinal: int
    verdict: Verdict
    reason: Reason | None
    operands: Mapping[str, str | None]
    causes: Mapping[str, Sequence[str]]
    provenance: Sequence[Mapping[str, Any]]
    erased: bool = False
    """Its text was erased."""


@dataclass(slots=True)
class Rejudged:
    """What judging the recorded members again came to."""

    reproduced: int = 0
    inputs_gone: int = 0
    """Members of which too little was recorded, or is left, to tell."""
    diverged: int = 0
    differences: list[str] = field(default_factory=list)
    """What diverged, a line for each of the first members."""

    @property
    def result(self) -> ReplayResult:
        """Of all members together; with no member there is nothing that could be judged again."""
        if self.diverged:
            return ReplayResult.DIVERGED
        return ReplayResult.INPUTS_GONE if self.inputs_gone or not self.reproduced else ReplayResult.REPRODUCED


_MOST_DIFFERENCES = 20


def rejudge(definition: MonitorDefinition, contract: Contract, members: Sequence[RecordedMember]) -> Rejudged:
    """Judges recorded members again."""
    made = Rejudged()
    if not members:
        return made
    scene = _scene(definition, contract)
    if scene is None or scene.masked:
        made.inputs_gone = len(members)
        return made
    again = _judged(scene, [item for item in members if not item.erased])
    for item in members:
        if item.erased or again is None:
            made.inputs_gone += 1
            continue
        verdict, reason = again.get(item.ordinal, (Verdict.COMPLIANT, None))
        if verdict is item.verdict and (reason is item.reason or scene.reason_open(item)):
            made.reproduced += 1
        elif scene.is_open(item):
            made.inputs_gone += 1
        else:
            made.diverged += 1
            if len(made.differences) < _MOST_DIFFERENCES:
                was, now = (_said(*pair) for pair in ((item.verdict, item.reason), (verdict, reason)))
                made.differences.append(f"member {item.ordinal} was recorded as {was} and is {now}")
    return made


def _said(verdict: Verdict, reason: Reason | None) -> str:
    return f"{verdict} ({reason})" if reason else verdict.value


@dataclass(frozen=True, slots=True)
class _Scene:
    """The definition and contract as they are judged here."""

    definition: MonitorDefinition
    contract: Contract
    original: Contract
    own: tuple[Property, ...]
    linked: Mapping[str, tuple[Property, ...]]
    """Named properties of the far side, by link."""
    links: Mapping[str, LinkType]
    masked: bool
    several: bool
    """Whether more than the one recorded linked row may have decided."""

    def reason_open(self, item: RecordedMember) -> bool:
        """Whether the reason rests on what is not recorded, though the verdict follows."""
        dated = any(link.as_of is not None for link in self.links.values())
        return item.verdict is Verdict.NO_DATA and (dated or self.several)

    def is_open(self, item: RecordedMember) -> bool:
        """Whether the recorded row does not tell what the verdict is."""
        named = [*self.own, *(found for properties in self.linked.values() for found in properties)]
        if self.several or item.reason is Reason.RIGHT_AMBIGUOUS:
            return True
        if any(found.censored is not None or found.type.kind is Kind.DURATION for found in named):
            return True
        return any(self._date_told(link, item) for link in self.links.values())

    def _date_told(self, link: LinkType, item: RecordedMember) -> bool:
        """Whether an effective date, which is no operand, is why the linked row decided nothing."""
        if link.as_of is None:
            return False
        far = [f"{link.name}.{name}" for name in (link.as_of.valid_from, link.as_of.valid_to) if name]
        return any(name in item.causes for name in (link.as_of.date, *far))


def _scene(definition: MonitorDefinition, contract: Contract) -> _Scene | None:
    """None where the contract no longer holds what the definition names."""
    member = contract.object_type(definition.object)
    conditions = conditions_of(definition)
    refs = list(dict.fromkeys(ref for condition in conditions for ref in condition_references(condition)))
    links = {ref.link: contract.link(definition.object, ref.link) for ref in refs if ref.link is not None}
    if member is None or any(link is None for link in links.values()):
        return None
    known = {name: link for name, link in links.items() if link is not None}
    linked: dict[str, tuple[Property, ...]] = {}
    for name, link in known.items():
        far = contract.object_type(link.target)
        if far is None:
            return None
        linked[name] = _named(far, [ref for ref in refs if ref.link == name])
    own = _named(member, [ref for ref in refs if ref.link is None])
    named = [*own, *(found for properties in linked.values() for found in properties)]
    return _Scene(
        replace(definition, strict=False, allow_empty=True),
        _contract(contract, definition.object, own, linked, known),
        contract,
        own,
        linked,
        known,
        any(found.sensitivity is not Sensitivity.NONE for found in named),
        definition.strict or _several(definition),
    )


def _named(of: ObjectType, refs: Sequence[PropertyRef]) -> tuple[Property, ...]:
    return tuple(found for ref in refs if (found := of.find_property(ref.name)) is not None)


def _several(definition: MonitorDefinition) -> bool:
    """Whether a comparison is decided by more than the row that is recorded: of each link, the first one's alone is."""
    seen: set[str] = set()
    for condition in conditions_of(definition):
        for atom in atoms(condition):
            links = atom_links(atom)
            if isinstance(atom, Presence):
                if links:
                    return True
                continue
            if len(links) > 1 or (links and (atom.quantifier is Quantifier.ALL or seen & {*links})):
                return True
            seen |= {*links}
    return False


def _contract(
    contract: Contract,
    name: str,
    own: Sequence[Property],
    linked: Mapping[str, Sequence[Property]],
    links: Mapping[str, LinkType],
) -> Contract:
    objects = [_object(name, "member", own)]
    made = []
    for number, (link_name, properties) in enumerate(linked.items()):
        far = f"{name} {link_name}"
        objects.append(_object(far, f"linked_{number}", properties))
        link = replace(links[link_name], source_keys=(_ROW,), target=far, target_keys=(_ROW,), as_of=None)
        made.append(link)
    return replace(contract, object_types=tuple(objects), link_types=tuple(made))


def _object(name: str, table: str, properties: Sequence[Property]) -> ObjectType:
    row = Property(_ROW, INTEGER)
    kept = tuple(_property(item) for item in properties if item.name != _ROW)
    return ObjectType(name, f"{SCHEMA}.{table}", (_ROW,), (row, *kept))


def _property(item: Property) -> Property:
    """The property with the companion columns that say what was recorded of it, in place of its own."""
    bounds = CensoredColumns(_SIDE.format(item.name), _LIMIT.format(item.name)) if item.censored else None
    return replace(item, raw=None, cause=_CAUSE.format(item.name), censored=bounds)


def _judged(scene: _Scene, members: Sequence[RecordedMember]) -> dict[int, tuple[Verdict, Reason | None]] | None:
    """Verdict and reason by ordinal, compliant ones left out; None where they could not be judged at all."""
    with tempfile.TemporaryDirectory(prefix="trivet-rejudge-") as folder:
        path = Path(folder) / "again.duckdb"
        build_scratch(path, list(_tables(scene, members)))
        with DuckDBEngine(path).snapshot() as snapshot:
            made = judge(scene.definition, scene.contract, snapshot)
    if isinstance(made.outcome, NotMade):
        return None
    return {int(item.key[_ROW] or 0): (item.verdict, item.reason) for item in (*made.breached, *made.undecided)}


def _tables(scene: _Scene, members: Sequence[RecordedMember]) -> Iterator[ScratchTable]:
    def cells(item: RecordedMember, properties: Sequence[Property], link: str | None) -> list[str | None]:
        row: list[str | None] = [str(item.ordinal)]
        for found in properties:
            row += _cells(item, found, str(PropertyRef(found.name, link)))
        return row

    yield ScratchTable("member", _columns(scene.own), (cells(item, scene.own, None) for item in members))
    for number, (name, properties) in enumerate(scene.linked.items()):
        rows = (cells(item, properties, name) for item in members if _has_row(item, name))
        yield ScratchTable(f"linked_{number}", _columns(properties), rows)


def _columns(properties: Sequence[Property]) -> tuple[str, ...]:
    names = [_ROW]
    for item in properties:
        names += [item.name, _CAUSE.format(item.name)]
        names += [_SIDE.format(item.name), _LIMIT.format(item.name)] if item.censored else []
    return tuple(names)


def _cells(item: RecordedMember, of: Property, operand: str) -> list[str | None]:
    text, causes = item.operands.get(operand), item.causes.get(operand, ())
    # Causes tell of several linked rows where there were several; any of them keeps the recorded one undecided.
    cause = next(iter(causes), None)
    bound = _CENSORED.fullmatch(text) if of.censored is not None and text is not None else None
    if bound is not None:
        told = cause if cause != Cause.CENSORED else None
        return [text, told, bound[1], bound[2]]
    return [text, cause, *([None, None] if of.censored is not None else [])]


def _has_row(item: RecordedMember, link: str) -> bool:
    """Whether a linked row was recorded beside the member: its values, where it was read, or why it decided nothing."""
    names = f"{link}."
    values = any(value is not None for name, value in item.operands.items() if name.startswith(names))
    told = any(part.get("of") == link for part in item.provenance)
    return values or told or any(name.startswith(names) for name in item.causes)


def recorded_member(row: Mapping[str, Any]) -> RecordedMember:
    """A row of `member` as it is judged again."""
    return RecordedMember(
        row["ordinal"],
        Verdict(row["verdict"]),
        Reason(row["reason"]) if row["reason"] else None,
        json.loads(row["operands"]),
        json.loads(row["causes"]),
        json.loads(row["provenance"]),
        row["erased"] is not None,
    )
