"""The contract beside which a snapshot's held relations can be named: they are views like any other then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from catalog.contract import Contract, ObjectType, Property
from catalog.datatypes import BOOLEAN, INTEGER, TEXT
from catalog.engines.port import HeldName
from compiler import names
from compiler.marks import MarkNames


def unsettled_type(object_type: ObjectType, monitors: Sequence[str]) -> ObjectType:
    """An object type as the held rows of its view have it, with the marks of the monitors given by id."""
    marks = [mark for monitor in map(MarkNames, monitors) for mark in monitor.kept]
    flags = tuple(Property(name, BOOLEAN) for name in marks)
    return replace(object_type, view=HeldName.UNSETTLED.value, properties=(*object_type.properties, *flags))


def with_baselines(contract: Contract, columns: Sequence[str]) -> Contract:
    """The contract with the held values of earlier evaluations behind its own relations."""
    texts = tuple(Property(name, TEXT) for name in columns)
    held = ObjectType("baselines", HeldName.BASELINES.value, (columns[0],), texts)
    return replace(contract, object_types=(*contract.object_types, held))


def with_groups(contract: Contract, columns: Sequence[str]) -> Contract:
    """The contract with the held groups behind its own relations; what they hold needs no type to be read."""
    spelled = [names.spelled(name) for name in columns]
    held = ObjectType("groups", HeldName.GROUPS.value, (spelled[0],), tuple(Property(name, TEXT) for name in spelled))
    return replace(contract, object_types=(*contract.object_types, held))


def with_held(contract: Contract, unsettled: ObjectType, tally_columns: Sequence[str] = ()) -> Contract:
    """The contract with the held relations behind its own, which keep their names."""
    columns = tuple(Property(name, INTEGER) for name in tally_columns or ("rows",))
    tally = ObjectType("tally", HeldName.TALLY.value, (columns[0].name,), columns)
    return replace(contract, object_types=(*contract.object_types, unsettled, tally))
