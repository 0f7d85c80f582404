"""Recorded members as a small warehouse, in which the conditions they were judged by can be judged again.

One row for each member and, for each link, the row that was recorded beside it. Counts of linked rows, and the figures
of groups, were recorded as operands, and stand there as properties under their printed texts.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TypeVar

from catalog.contract import CensoredColumns, Contract, LinkType, ObjectType, Property
from catalog.datatypes import INTEGER
from catalog.engines.duckdb_engine import DuckDBEngine
from catalog.engines.duckdb_scratch import SCHEMA, ScratchTable, build_scratch
from catalog.expressions.checking import Scope
from catalog.expressions.groups import group_type
from catalog.expressions.lifting import lifted
from catalog.expressions.printing import print_operand
from catalog.expressions.tree import Atom, Between, Comparison, Condition, LinkCount, Membership, PropertyRef
from catalog.expressions.walking import atom_links, atom_nodes, atom_references, atoms, condition_links
from monitors.definition import MonitorDefinition
from monitors.evaluation import NotMade
from trivet.verdicts import Cause, Reason, Verdict
from worker.judging import judge
from worker.recorded_members import RecordedMember
from worker.recorded_truths import Truth

_ROW = "trivet_row"
"""The key of the rows that are made here; no property of a contract may be meant by it."""
_CAUSE, _SIDE, _LIMIT = "{}_trivet_cause", "{}_trivet_side", "{}_trivet_limit"
_CENSORED = re.compile(r"\s*(<=|>=|<|>)\s*(.*)", re.DOTALL)
_LONGEST = timedelta(hours=1)
"""However long judging may take, it does not make inputs that are gone."""
_T = TypeVar("_T")


class NotJudged(Exception):
    """The engine could not judge the recorded rows. Its own words stay away: they may quote what was recorded."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What a comparison comes to on the rows that were recorded."""

    truth: Truth
    reason: Reason | None = None
    """Why it is unknown."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A definition and its contract, as recorded members are judged by them."""

    definition: MonitorDefinition
    contract: Contract
    """Holds what was recorded, and nothing else."""
    breach_when: Condition
    where: Condition | None
    links: Mapping[str, LinkType]
    """As the ledger's contract has them."""
    own: tuple[Property, ...]
    linked: Mapping[str, tuple[Property, ...]]
    """Named properties of the far side, by link."""
    counts: frozenset[str]
    """Operands that are counts of linked rows."""
    keys: tuple[str, ...]
    """What groups are keyed by; nothing where the members are rows."""

    def has_no_key(self, item: RecordedMember) -> bool:
        """Whether it is the one group of all rows that lack a key, which is always undecided."""
        return any(item.key.get(name) is None for name in self.keys)

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """`breach_when`, and `where` if there is one."""
        return (self.breach_when,) if self.where is None else (self.breach_when, self.where)

    def atoms(self) -> tuple[Atom, ...]:
        """Every comparison and test, each once."""
        return tuple(dict.fromkeys(atom for condition in self.conditions for atom in atoms(condition)))

    def properties_of(self, atom: Atom) -> tuple[tuple[str, Property], ...]:
        """The properties that an atom names, by operand."""
        named = ((ref, self.linked[ref.link] if ref.link else self.own) for ref in atom_references(atom))
        return tuple((str(ref), next(item for item in found if item.name == ref.name)) for ref, found in named)

    @property
    def masked(self) -> bool:
        """Whether a property that the conditions name is masked."""
        return any(item.masked for found in (self.own, *self.linked.values()) for item in found)

    def judged(
        self, wanted: Sequence[Atom], members: Sequence[RecordedMember], at: datetime
    ) -> Sequence[Sequence[Judged]]:
        """What each atom comes to for each member, at the instant of the slot.

        Raises:
            NotJudged: the engine failed.
        """
        with tempfile.TemporaryDirectory(prefix="trivet-rejudge-") as folder:
            path = Path(folder) / "again.duckdb"
            build_scratch(path, list(self._tables(members)))
            with DuckDBEngine(path).snapshot() as snapshot:
                found = []
                for atom in wanted:
                    asked = replace(self.definition, breach_when=atom)
                    made = judge(asked, self.contract, snapshot, at)
                    if isinstance(made.outcome, NotMade):
                        raise NotJudged(made.outcome.reason.value)
                    column = [Judged(Truth.FALSE)] * len(members)
                    for item in (*made.breached, *made.undecided):
                        truth = Truth.TRUE if item.verdict is Verdict.BREACH else Truth.UNKNOWN
                        column[int(item.key[_ROW] or 0)] = Judged(truth, item.reason)
                    found.append(column)
        return found

    def _tables(self, members: Sequence[RecordedMember]) -> Iterator[ScratchTable]:
        def cells(row: int, properties: Sequence[Property], link: str | None) -> list[str | None]:
            made: list[str | None] = [str(row)]
            for found in properties:
                made += _cells(members[row], found, str(PropertyRef(found.name, link)))
            return made

        def linked_rows(properties: Sequence[Property], link: str) -> Iterator[list[str | None]]:
            # Bound here: rows are read once every table is named, when the loop below stands at its last link.
            return (cells(row, properties, link) for row in every if members[row].has_row(link))

        every = range(len(members))
        yield ScratchTable("member", _columns(self.own), (cells(row, self.own, None) for row in every))
        for number, (name, properties) in enumerate(self.linked.items()):
            yield ScratchTable(f"linked_{number}", _columns(properties), linked_rows(properties, name))


def scene_of(definition: MonitorDefinition, contract: Contract) -> Scene:
    """The scene of a definition that was checked against a contract.

    Raises:
        LookupError: the contract does not hold what the definition names.
    """
    member = _found(contract.object_type(definition.object), definition.object)
    breach_when, where = definition.breach_when, definition.where
    if definition.grouping is not None:
        # Which rows a group has, and what they come to, was settled before anything was recorded.
        member = group_type(breach_when, definition.grouping.keys, Scope(contract, member, definition.baselines))
        breach_when, where = lifted(breach_when), None
    counts = frozenset(
        print_operand(node)
        for condition in (breach_when, where)
        for atom in (atoms(condition) if condition is not None else ())
        for node in atom_nodes(atom)
        if isinstance(node, LinkCount)
    )
    breach_when = lifted(breach_when, (LinkCount,))
    where = lifted(where, (LinkCount,)) if where is not None else None
    conditions = [breach_when] if where is None else [breach_when, where]
    names = dict.fromkeys(name for condition in conditions for name in condition_links(condition))
    links = {name: _found(contract.link(definition.object, name), name) for name in names}
    refs = list(dict.fromkeys(ref for item in conditions for atom in atoms(item) for ref in atom_references(atom)))
    near = [ref.name for ref in refs if ref.link is None]
    own = tuple(
        Property(name, INTEGER) if name in counts else _found(member.find_property(name), name) for name in near
    )
    linked = {}
    for name, link in links.items():
        far = _found(contract.object_type(link.target), link.target)
        linked[name] = tuple(_found(far.find_property(ref.name), str(ref)) for ref in refs if ref.link == name)
    settled = replace(definition, where=None, grouping=None, baselines=(), strict=False, allow_empty=True)
    asked = replace(settled, timeout=_LONGEST, breach_when=breach_when)
    made = _contract(contract, definition.object, own, linked, links)
    keys = tuple(key.property for key in definition.grouping.keys) if definition.grouping is not None else ()
    return Scene(asked, made, breach_when, where, links, own, linked, counts, keys)


def deciding_atoms(scene: Scene) -> frozenset[Atom]:
    """The comparisons by which the recorded row of a link was chosen: the first over it, if over no other link too."""
    found: dict[str, Atom] = {}
    for condition in scene.conditions:
        for atom in atoms(condition):
            if isinstance(atom, Comparison | Between | Membership):
                for name in atom_links(atom):
                    found.setdefault(name, atom)
    return frozenset(atom for atom in found.values() if len(atom_links(atom)) == 1)


def _found(item: _T | None, name: str) -> _T:
    if item is None:
        raise LookupError(f"the contract has no {name}")
    return item


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
    return ObjectType(name, f"{SCHEMA}.{table}", (_ROW,), (row, *(_property(item) for item in properties)))


def _property(item: Property) -> Property:
    """The property with the companion columns that say what was recorded of it, in place of its own."""
    bounds = CensoredColumns(_SIDE.format(item.name), _LIMIT.format(item.name)) if item.censored else None
    return replace(item, raw=None, cause=_CAUSE.format(item.name), censored=bounds)


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
