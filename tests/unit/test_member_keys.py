"""Keys of members as people write them come out as evaluations spell them, or are refused in one sentence."""

from __future__ import annotations

import pytest

from catalog.contract import Contract
from catalog.loading import load_contract
from monitors.definition import MonitorDefinition
from monitors.loading import load_monitors
from monitors.member_keys import read_member_key
from trivet.documents import Document, read_yaml
from trivet.errors import UsageError

CONTRACT = """\
contract: {id: aruma, version: 1.2.0}
object_types:
  - name: pay
    view: o.pay
    primary_key: [id, day]
    properties:
      - {name: id, type: integer}
      - {name: day, type: date}
      - {name: site, type: text}
      - {name: rate, type: "decimal(12,4)"}
      - {name: night, type: boolean}
      - {name: at, type: timestamp}
"""
MONITORS = """\
monitors:
  - {id: rows, object: pay, breach_when: rate < 20}
  - {id: sites, object: pay, group_by: [site], breach_when: avg(rate) < 20}
  - {id: nights, object: pay, group_by: [night], breach_when: avg(rate) < 20}
  - {id: times, object: pay, group_by: [at], breach_when: avg(rate) < 20}
  - {id: months, object: pay, group_by: [{period: month, of: day}], breach_when: avg(rate) < 20}
"""


def document(text: str, file: str) -> Document:
    found = read_yaml(text, file=file).document
    assert found is not None
    return found


def loaded() -> tuple[Contract, dict[str, MonitorDefinition]]:
    contract = load_contract([document(CONTRACT, "contract.yaml")]).contract
    assert contract is not None
    result = load_monitors([document(MONITORS, "m.yaml")], contract)
    assert not result.findings, result.findings
    return contract, {item.id: item for item in result.monitors}


THE_CONTRACT, KNOWN = loaded()


def read(monitor: str, text: str) -> str:
    return read_member_key("--key", text, KNOWN[monitor], THE_CONTRACT)


@pytest.mark.parametrize(
    ("monitor", "text", "key"),
    [
        ("rows", '{"id": "7", "day": "2026-01-31"}', '{"day":"2026-01-31","id":"7"}'),
        ("sites", "site=North", '{"site":"North"}'),
        ("sites", "North", '{"site":"North"}'),
        ("sites", "site=a=b", '{"site":"a=b"}'),
        ("sites", "a b=c", '{"site":"a b=c"}'),
        ("sites", "Zoë", '{"site":"Zo\\u00eb"}'),
        ("sites", '{"site": null}', '{"site":null}'),
        ("nights", "true", '{"night":"true"}'),
        ("times", "2026-01-31T06:00:00", '{"at":"2026-01-31T06:00:00"}'),
        ("months", "2026-01", '{"day":"2026-01"}'),
    ],
)
def test_a_key_is_spelled_as_evaluations_spell_it(monitor: str, text: str, key: str) -> None:
    assert read(monitor, text) == key


@pytest.mark.parametrize(
    ("monitor", "text", "told"),
    [
        ("rows", '{"id": "7"}', """--key: the key of rows is '{"id": "...", "day": "..."}'; day is missing"""),
        ("rows", "id=7", """--key: 'id=7' is no key; write '{"id": "...", "day": "..."}'"""),
        ("rows", "7", """--key: '7' is no key; write '{"id": "...", "day": "..."}'"""),
        ("rows", '{"id": "seven", "day": "2026-01-31"}', "--key: id: expected a whole number such as 12, not 'seven'"),
        ("rows", '{"id": "007", "day": "2026-01-31"}', "--key: id: expected a whole number such as 12, not '007'"),
        (
            "rows",
            '{"id": "7", "day": "2026-02-30"}',
            "--key: day: expected a date such as 2026-01-31, not '2026-02-30'",
        ),
        ("rows", '{"id": "7", "day": "31.1.2026"}', "--key: day: expected a date such as 2026-01-31, not '31.1.2026'"),
        ("rows", '{"id": 7, "day": "2026-01-31"}', "write every value as text, as `trivet evaluate --json` prints it"),
        ("rows", '{"id": "7"', """ is no JSON; write '{"id": "...", "day": "..."}'"""),
        ("sites", "sit=North", "--key: a member of sites has no key 'sit'; did you mean 'site'?"),
        ("nights", "perhaps", "--key: night: expected true or false, not 'perhaps'"),
        ("times", "six", "--key: at: expected a time such as 2026-01-31T06:00:00, not 'six'"),
    ],
)
def test_what_is_no_key_is_refused_with_what_to_write(monitor: str, text: str, told: str) -> None:
    with pytest.raises(UsageError) as refused:
        read(monitor, text)
    assert told in str(refused.value)
