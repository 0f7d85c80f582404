"""Every `tests/cases/bad/yaml/NAME.yaml` must be refused with exactly the lines of `NAME.expected`.

Add a case by adding the two files. A name that begins with `settings-` is read as `trivet.yaml`,
any other as the `Rules` below.
"""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal

import pytest
from pydantic import Field

from trivet.documents import read_yaml
from trivet.fields import Between, DurationText, Flag, Integer, Name, Prose, Slug, Text
from trivet.findings import Finding
from trivet.settings import load_settings
from trivet.validation import StrictModel, validate
from trivet.verdicts import Severity

CASES = Path(__file__).parent.parent / "cases" / "bad" / "yaml"
FILES = sorted(CASES.glob("*.yaml"))


class Cron(StrictModel):
    cron: Text
    timezone: Text = "UTC"


class Every(StrictModel):
    every: DurationText


class Number(StrictModel):
    kind: Literal["number"]
    digits: Integer


class Switch(StrictModel):
    kind: Literal["switch"]
    on: Flag


class Rule(StrictModel):
    id: Slug
    object: Name
    title: Text = "untitled"
    description: Prose | None = None
    severity: Severity = Severity.INFO
    schedule: Cron | Every = Every(every=timedelta(hours=1))
    samples: Annotated[int, Between(1, 1000)] = 100
    share: Annotated[Decimal, Between(0, 1)] = Decimal(0)
    tolerate: Integer | DurationText | dict[Name, Integer] = 0
    enabled: Flag = True
    notify: Annotated[tuple[Slug, ...], Field(min_length=1)] | None = None
    column: Annotated[Number | Switch, Field(discriminator="kind")] | None = None
    labels: dict[Slug, Text] = Field(default_factory=dict)


class Rules(StrictModel):
    rules: list[Rule]


def findings_of(file: Path) -> tuple[Finding, ...]:
    result = read_yaml(file.read_bytes(), file=file.name)
    if result.document is None:
        return result.findings
    if file.name.startswith("settings-"):
        return load_settings(result.document, {}).findings
    return validate(result.document, Rules)[1]


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_a_bad_file_is_refused_with_exactly_the_expected_findings(file: Path) -> None:
    expected = file.with_suffix(".expected").read_text("utf-8").splitlines()
    assert [str(finding) for finding in findings_of(file)] == expected
    assert expected


def test_there_are_many_cases_and_each_has_both_files() -> None:
    assert len(FILES) >= 40
    assert {file.stem for file in FILES} == {file.stem for file in CASES.glob("*.expected")}


GOOD = """\
rules:
  - id: pay-floor
    object: employee_pay
    title: 012
    description: |
      Two lines,
      the last without a line end.

    severity: critical
    schedule: {cron: "0 6 * * *", timezone: Australia/Sydney}
    samples: 5
    share: 0.10
    tolerate: {left_null: 2}
    enabled: false
    notify: ['on', no]
    column: {kind: switch, on: true}
    labels: {team: null}
"""


def test_a_good_file_means_what_it_shows() -> None:
    document = read_yaml(GOOD, file="good.yaml").document
    assert document is not None
    model, findings = validate(document, Rules)
    assert findings == ()
    assert model is not None
    (rule,) = model.rules
    assert (rule.title, rule.notify, rule.labels) == ("012", ("on", "no"), {"team": "null"})
    assert rule.description == "Two lines,\nthe last without a line end."
    assert rule.severity is Severity.CRITICAL
    assert rule.schedule == Cron(cron="0 6 * * *", timezone="Australia/Sydney")
    assert (rule.samples, rule.share, rule.enabled) == (5, Decimal("0.10"), False)
    assert rule.tolerate == {"left_null": 2}
    assert rule.column == Switch(kind="switch", on=True)
    assert {type(text) for text in (rule.id, rule.title, *(rule.notify or ()))} == {str}
