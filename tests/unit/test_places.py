"""What data shows is told where the files speak of it; of what no file speaks, the file alone is told."""

from __future__ import annotations

import pytest

from trivet.documents import Document, read_yaml
from worker.places import Places, Where

CONTRACT = """\
object_types:
  - name: pay
    view: ontology.pay
    primary_key: [id]
link_types:
  - {name: governed_by, from: {object: shift, keys: [a]}}
  - {name: governed_by, from: {object: pay, keys: [a]}}
"""
MONITORS = "monitors:\n  - {id: pay.low, object: pay, breach_when: a < 1}\n"
CASES: dict[str, tuple[Where, str]] = {
    "a key of an object type": (
        ("object_types", "pay", "primary_key"),
        "contract.yaml:4:18: object_types[0].primary_key: m",
    ),
    "a key that is not written": (("object_types", "pay", "provenance"), "contract.yaml:2:5: object_types[0]: m"),
    "one of two links of a name": (("link_types", "pay.governed_by"), "contract.yaml:7:5: link_types[1]: m"),
    "a monitor in another file": (
        ("monitors", "pay.low", "breach_when"),
        "monitors/a.yaml:2:45: monitors[0].breach_when: m",
    ),
    "what no file has": (("object_types", "shift", "view"), "elsewhere.yaml: m"),
    "nothing": ((), "elsewhere.yaml: m"),
}


def _read(text: str, file: str) -> Document:
    document = read_yaml(text, file=file).document
    assert document is not None
    return document


@pytest.mark.parametrize("name", CASES)
def test_a_place_is_found_in_whichever_file_has_it(name: str) -> None:
    where, told = CASES[name]
    places = Places([_read(CONTRACT, "contract.yaml"), _read(MONITORS, "monitors/a.yaml")])
    assert str(places.finding(where, "elsewhere.yaml", "m")) == told
