"""Rule tests from their file, checked against the contract."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

from catalog.contract import Contract
from catalog.datatypes import DataType
from monitors.document import ExpectModel, KeyModel, RuleTestModel, UndecidedModel
from monitors.rule_tests import MemberKey, RuleTest
from trivet.documents import Document, Path
from trivet.findings import Finding, did_you_mean
from trivet.verdicts import Reason


def load_rule_tests(
    document: Document,
    path: Path,
    models: Sequence[RuleTestModel],
    contract: Contract,
    key_names: Sequence[str],
    baselines: Mapping[str, DataType] | None,
) -> tuple[tuple[RuleTest, ...], list[Finding]]:
    """The tests of the monitor at `path`, or everything that is wrong with them.

    Args:
        document: the file.
        path: of the monitor.
        models: its tests.
        contract: what their rows are held against.
        key_names: the properties that a member of the monitor is keyed by.
        baselines: the type of each baseline of the monitor; None where these are at fault themselves.
    """
    loader = _Loader(document, contract, key_names, baselines)
    tests = [loader.load((*path, "tests", index), model) for index, model in enumerate(models)]
    names = [model.name for model in models]
    for index, name in enumerate(names):
        if name in names[:index]:
            loader.refuse((*path, "tests", index, "name"), f"'{name}' is already the name of a test of this monitor")
    return tuple(tests), loader.findings


class _Loader:
    """Reads tests and collects what is wrong with them."""

    def __init__(
        self,
        document: Document,
        contract: Contract,
        key_names: Sequence[str],
        baselines: Mapping[str, DataType] | None,
    ) -> None:
        self.findings: list[Finding] = []
        self._document = document
        self._contract = contract
        self._key_names = key_names
        self._baselines = baselines

    def refuse(self, path: Path, message: str, *, key: bool = False) -> None:
        self.findings.append(self._document.finding(path, message, key=key))

    def load(self, path: Path, model: RuleTestModel) -> RuleTest:
        expect, place = model.expect, (*path, "expect")
        self._check_given((*path, "given"), model.given)
        self._check_baselines((*path, "baselines"), model.baselines)
        counts = {} if expect.counts is None else expect.counts.model_dump(exclude_none=True)
        names_members = expect.breach is not None or expect.no_data is not None
        if not counts and not names_members:
            self.refuse(place, "expected at least one of `breach`, `no_data` and `counts`; `breach: []` says nobody")
        return RuleTest(
            name=model.name,
            given=model.given,
            at=self._instant((*path, "at"), model.at),
            breach=tuple(self._key((*place, "breach", index), key) for index, key in enumerate(expect.breach or ())),
            no_data=tuple(self._undecided((*place, "no_data"), expect)),
            names_members=names_members,
            counts=counts,
            place=self._document.finding(path, ""),
            baselines=model.baselines,
        )

    def _check_given(self, path: Path, given: Mapping[str, Sequence[Mapping[str, str]]]) -> None:
        for name, rows in given.items():
            object_type = self._contract.object_type(name)
            if object_type is None:
                known = [item.name for item in self._contract.object_types]
                self.refuse((*path, name), f"there is no object type '{name}'{did_you_mean(name, known)}", key=True)
                continue
            for index, row in enumerate(rows):
                for column in row.keys() - set(object_type.columns):
                    hint = did_you_mean(column, object_type.columns)
                    message = f"{object_type.view} has no column '{column}'{hint}"
                    self.refuse((*path, name, index, column), message, key=True)

    def _check_baselines(self, path: Path, given: Mapping[str, Decimal]) -> None:
        if self._baselines is None:
            return
        for name, value in given.items():
            of = self._baselines.get(name)
            if of is None:
                hint = did_you_mean(name, self._baselines)
                self.refuse((*path, name), f"the monitor has no baseline '{name}'{hint}", key=True)
            elif of.scale is not None and value != round(value, of.scale):
                self.refuse((*path, name), f"the baseline is {of}, and {value} has more digits")

    def _instant(self, path: Path, text: str | None) -> datetime | None:
        if text is None:
            return None
        try:
            instant = datetime.fromisoformat(text)
        except ValueError:
            self.refuse(path, f"'{text}' is no time; write 2026-11-30T06:00 or 2026-11-30T06:00+11:00")
            return None
        if not 1 < instant.year < 9999:
            # The first and last years have instants that no other time zone can write.
            self.refuse(path, f"'{text}' is out of range; the years 2 to 9998 can be evaluated for")
            return None
        return instant if instant.tzinfo else instant.replace(tzinfo=ZoneInfo(self._contract.calendar.time_zone))

    def _undecided(self, path: Path, expect: ExpectModel) -> Iterator[tuple[MemberKey, Reason]]:
        if isinstance(expect.no_data, dict):
            for text, reason in expect.no_data.items():
                yield self._key((*path, text), text), reason
        else:
            listed: Sequence[UndecidedModel] = expect.no_data or ()
            for index, item in enumerate(listed):
                yield self._key((*path, index, "key"), item.key), item.reason

    def _key(self, path: Path, model: KeyModel) -> MemberKey:
        if isinstance(model, str):
            if len(self._key_names) != 1:
                wanted = ", ".join(f"{name}: ..." for name in self._key_names)
                self.refuse(path, f"its members have a key of several properties; write {{{wanted}}}")
            return {self._key_names[0]: model}
        for name in model.keys() - set(self._key_names):
            hint = did_you_mean(name, self._key_names)
            self.refuse((*path, name), f"'{name}' is no property of the members' key{hint}", key=True)
        return {name: model.get(name) for name in self._key_names}
