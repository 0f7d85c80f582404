"""The contract of the measured data, and monitors over it as a file would hold them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TypeVar

from catalog.contract import Contract
from catalog.loading import load_contract
from monitors.definition import MonitorDefinition
from monitors.loading import load_monitors
from trivet.documents import Document, read_yaml
from trivet.findings import Finding

_PAY = """
  - name: {name}
    view: ontology.{name}
    primary_key: [id]
    grain: one row per pay line
    properties:
      - {{name: id, type: {key}, role: identifier}}
      - {{name: grade, type: text, role: dimension}}
      - {{name: point, type: text, role: dimension}}
      - {{name: paid, type: date, role: dimension}}
      - {{name: rate, type: "decimal(12,4)", unit: AUD/hour, role: fact, additivity: non_additive}}
"""
_CELLS = """
  - name: cell
    view: ontology.cells
    primary_key: [id]
    grain: one row per cell
    properties:
      - {name: id, type: text, role: identifier}
      - {name: whole, type: integer, role: fact, additivity: non_additive}
      - {name: exact, type: "decimal(12,4)", role: fact, additivity: non_additive}
      - {name: measured, type: double, role: fact, additivity: non_additive}
      - {name: day, type: date, role: dimension}
      - {name: moment, type: timestamp, role: dimension}
      - {name: flag, type: boolean, role: dimension}
"""
_FLOOR = """
  - name: {name}
    view: ontology.{name}
    primary_key: [grade, point{also}]
    grain: one row per floor
    properties:
      - {{name: grade, type: text, role: identifier}}
      - {{name: point, type: text, role: identifier}}{since}
      - {{name: rate, type: "decimal(12,4)", unit: AUD/hour, role: fact, additivity: non_additive}}
"""
_SINCE = "\n      - {name: since, type: date, role: identifier}"
_LINKS = """
  - name: held_to
    from: {{object: {name}, keys: [grade, point]}}
    to: {{object: floor, keys: [grade, point]}}
    cardinality: many_to_one
  - name: governed_by
    from: {{object: {name}, keys: [grade, point]}}
    to: {{object: dated_floor, keys: [grade, point]}}
    cardinality: many_to_one
    as_of: {{date: paid, valid_from: since, restates: all}}
"""
_Found = TypeVar("_Found")
PAY = {"pay": "text", "typed_pay": "integer", "quiet_pay": "text"}
"""The views of pay lines, each with the type of its key."""


@lru_cache(maxsize=1)
def contract() -> Contract:
    """Pay lines, their floors, and the links between them, one of them with effective dates."""
    text = "contract: {id: bench, version: 1.0.0, status: draft}\ncalendar: {time_zone: UTC}\n"
    text += "limits: {timeout: 1h}\nobject_types:"
    text += "".join(_PAY.format(name=name, key=key) for name, key in PAY.items())
    text += _FLOOR.format(name="floor", also="", since="")
    text += _FLOOR.format(name="dated_floor", also=", since", since=_SINCE) + _CELLS
    text += "link_types:" + "".join(_LINKS.format(name=name) for name in PAY)
    result = load_contract([_document("contract.yaml", text)])
    return _sound(result.contract, result.findings)


def monitors(*bodies: str) -> tuple[MonitorDefinition, ...]:
    """Monitors, each from what a file says of it but for its id."""
    listed = "".join(f"  - {{id: m{index:04}, {body}}}\n" for index, body in enumerate(bodies))
    result = load_monitors([_document("monitors.yaml", f"monitors:\n{listed}")], contract())
    return _sound(result.monitors, result.findings)


def _document(name: str, text: str) -> Document:
    result = read_yaml(text, file=name)
    return _sound(result.document, result.findings)


def _sound(found: _Found | None, findings: Sequence[Finding]) -> _Found:
    if findings or found is None:
        raise ValueError(f"the files of the benchmark are faulty: {findings}")
    return found
