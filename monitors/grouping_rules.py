"""From the keys of a grouped monitor, as a file holds them, to a grouping: every fault of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from catalog.contract import Contract, LinkType, ObjectType, Property, Sensitivity
from catalog.datatypes import Kind
from catalog.expressions.checking import Scope
from catalog.expressions.groups import GroupKey
from catalog.expressions.tree import Aggregate, Condition
from catalog.expressions.walking import condition_links, condition_references, references
from catalog.link_rules import KEY_KINDS
from catalog.periods import Period, parts_of
from monitors.grouping import Coverage, DayRange, Expectation, Grouping, LastPeriods
from monitors.grouping_document import CoverageModel, ExpectedPeriodsModel, ExpectModel, GroupingModel, PeriodKeyModel
from trivet.documents import Document, Path
from trivet.findings import Finding, did_you_mean

_ONLY_GROUPED = ("expect", "min_count", "min_coverage", "as_of", "baselines")
_MOMENTS = (Kind.DATE, Kind.TIMESTAMP)


@dataclass(frozen=True, slots=True)
class GroupingRules:
    """Checks the grouping of one monitor."""

    document: Document
    path: Path
    """Of the monitor."""
    model: GroupingModel
    contract: Contract
    object_type: ObjectType

    def grouping(self) -> Grouping | None:
        """The grouping; None for a monitor over rows. `findings` found no fault."""
        if self.model.group_by is None:
            return None
        return Grouping(
            keys=self.keys,
            expect=_expectation(self.model.expect) if self.model.expect else None,
            min_count=self.model.min_count,
            min_coverage=_coverage(self.model.min_coverage),
            as_of_slot=self.model.as_of is not None,
        )

    @property
    def keys(self) -> tuple[GroupKey, ...]:
        """The keys that `group_by` names."""
        return tuple(
            GroupKey(item.of, item.period) if isinstance(item, PeriodKeyModel) else GroupKey(item)
            for item in self.model.group_by or ()
        )

    @property
    def member_key(self) -> tuple[str, ...]:
        """The names under which a member's key is shown."""
        if self.model.group_by is None:
            return self.object_type.primary_key
        return tuple(key.property for key in self.keys)

    def findings(self) -> Iterator[Finding]:
        """Every fault of the grouping, but for the links of the condition."""
        if self.model.group_by is None:
            for name in _ONLY_GROUPED:
                if self.document.has((*self.path, name)):
                    yield self._finding((name,), "only a monitor with group_by has this key", key=True)
            return
        yield from self._key_findings()
        if self.model.expect is not None:
            yield from self._expect_findings(self.model.expect)
        if isinstance(self.model.min_coverage, CoverageModel):
            yield from self._coverage_findings(self.model.min_coverage)

    def link_findings(self, condition: Condition) -> Iterator[Finding]:
        """What must hold of the links that the condition of a grouped monitor names."""
        named = [self.contract.link(self.object_type.name, name) for name in condition_links(condition)]
        links = [link for link in named if link is not None]
        for link in links:
            yield from self._linked(link)
        if self.model.as_of is not None and not any(link.as_of is not None for link in links):
            yield self._finding(("as_of",), "the condition names no link with effective dates; remove this key")

    def masked_findings(self, place: Path, of: Condition | Aggregate) -> Iterator[Finding]:
        """Figures would tell of values that nobody may see: the highest of a group is one of them."""
        scope = Scope(self.contract, self.object_type)
        named = references(of) if isinstance(of, Aggregate) else condition_references(of)
        for ref in dict.fromkeys(named):
            if scope.resolve(ref).masked:
                message = f"'{ref}' is masked; a monitor with group_by over it is refused, since figures tell of values"
                yield self.document.finding((*self.path, *place), message, offset=ref.span[0])

    def _finding(self, place: Path, message: str, *, key: bool = False) -> Finding:
        return self.document.finding((*self.path, *place), message, key=key)

    def _key_findings(self) -> Iterator[Finding]:
        seen: list[str] = []
        periods = [index for index, key in enumerate(self.keys) if key.period is not None]
        for index in periods[1:]:
            yield self._finding(("group_by", index), "at most one key is a period")
        for index, key in enumerate(self.keys):
            place: Path = ("group_by", index) if key.period is None else ("group_by", index, "of")
            found = self.object_type.find_property(key.property)
            if found is None:
                names = [item.name for item in self.object_type.properties]
                message = f"{self.object_type.name} has no property '{key.property}'{did_you_mean(key.property, names)}"
                yield self._finding(place, message)
                continue
            if key.property in seen:
                yield self._finding(place, f"'{key.property}' stands here twice")
            seen.append(key.property)
            yield from self._one_key_findings(place, key, found)

    def _one_key_findings(self, place: Path, key: GroupKey, found: Property) -> Iterator[Finding]:
        name = f"{self.object_type.name}.{found.name}"
        if found.sensitivity is not Sensitivity.NONE:
            yield self._finding(place, f"groups by {name}, which is {found.sensitivity}; such a monitor is refused")
        if key.period is not None and found.type.kind not in _MOMENTS:
            yield self._finding(place, f"{name} is {found.type}; a period is one of a date or timestamp")
        elif found.type.kind not in KEY_KINDS:
            yield self._finding(place, f"{name} is {found.type}, which has no exact equality")

    def _expect_findings(self, expect: ExpectModel) -> Iterator[Finding]:
        plain = [key for key in self.keys if key.period is None]
        if not self.keys:
            yield self._finding(
                ("expect",), "the one group of the whole population is always a member; remove this key"
            )
            return
        if expect.key is not None and expect.keys is not None:
            yield self._finding(("expect", "key"), "expected one of `key` and `keys`")
        if expect.object is None:
            yield from self._objectless_findings(expect, plain)
        else:
            yield from self._object_findings(expect.object, expect, plain)
        if expect.object is not None or plain or expect.periods is not None:
            yield from self._period_findings(expect.periods)

    def _objectless_findings(self, expect: ExpectModel, plain: list[GroupKey]) -> Iterator[Finding]:
        if expect.key is not None or expect.keys is not None:
            yield self._finding(("expect",), "missing key 'object', whose rows name the members")
        elif plain:
            named = ", ".join(key.property for key in plain)
            yield self._finding(("expect",), f"missing keys 'object' and 'keys', which name the expected {named}")
        elif expect.periods is None:
            yield self._finding(("expect",), "missing key 'periods', which are all that can be expected here")

    def _object_findings(self, name: str, expect: ExpectModel, plain: list[GroupKey]) -> Iterator[Finding]:
        found = self.contract.object_type(name)
        if found is None:
            names = [item.name for item in self.contract.object_types]
            yield self._finding(("expect", "object"), f"there is no object type '{name}'{did_you_mean(name, names)}")
            return
        given = _keys(expect)
        if len(given) != len(plain):
            place: Path = ("expect", "keys") if expect.keys is not None else ("expect",)
            wanted = ", ".join(key.property for key in plain) or "none besides the period"
            yield self._finding(place, f"expected one key for each of group_by ({wanted}), found {len(given)}")
            return
        for index, (own, other) in enumerate(zip(plain, given, strict=True)):
            place = ("expect", "keys", index) if expect.keys is not None else ("expect", "key")
            yield from self._expected_key_findings(place, own, found, other)

    def _expected_key_findings(self, place: Path, own: GroupKey, found: ObjectType, name: str) -> Iterator[Finding]:
        there, here = found.find_property(name), self.object_type.find_property(own.property)
        if there is None:
            names = [item.name for item in found.properties]
            yield self._finding(place, f"{found.name} has no property '{name}'{did_you_mean(name, names)}")
        elif here is not None and there.type.kind is not here.type.kind:
            both = f"{self.object_type.name}.{here.name} is {here.type} and {found.name}.{name} is {there.type}"
            yield self._finding(place, f"{both}; keys compare as one type")
        elif there.sensitivity is not Sensitivity.NONE:
            yield self._finding(place, f"{found.name}.{name} is {there.sensitivity}; such a monitor is refused")

    def _period_findings(self, periods: ExpectedPeriodsModel | None) -> Iterator[Finding]:
        grouped = any(key.period is not None for key in self.keys)
        if periods is None:
            if grouped:
                message = "missing key 'periods': group_by has a period, so say which ones are expected"
                yield self._finding(("expect",), message)
            return
        place: Path = ("expect", "periods")
        if not grouped:
            yield self._finding(place, "group_by has no period to expect")
        days = periods.from_ is not None or periods.to is not None
        if days == (periods.last is not None) or (days and (periods.from_ is None or periods.to is None)):
            yield self._finding(place, "expected `from` and `to`, or `last`")
        elif periods.from_ is not None and periods.to is not None and periods.from_ > periods.to:
            yield self._finding((*place, "to"), f"{periods.to} is before {periods.from_}")
        if days and self.document.has((*self.path, *place, "current")):
            yield self._finding((*place, "current"), "only `last` counts from the slot's own period", key=True)

    def _coverage_findings(self, coverage: CoverageModel) -> Iterator[Finding]:
        key = next((key for key in self.keys if key.period is not None), None)
        place: Path = ("min_coverage", "per")
        if key is None or key.period is None:
            yield self._finding(place, "group_by has no period that could be covered")
        elif Period(coverage.per) not in parts_of(key.period):
            inside = " or ".join(f"per: {part}" for part in parts_of(key.period))
            message = f"a {key.period} is not made up of {coverage.per}s"
            yield self._finding(
                place, f"{message}; write {inside}" if inside else f"{message}; give a share of its rows"
            )

    def _linked(self, link: LinkType) -> Iterator[Finding]:
        plain = {key.property for key in self.keys if key.period is None}
        absent = [name for name in link.source_keys if name not in plain]
        if absent:
            message = f"{link.name} is matched by {', '.join(absent)}: a link of a group needs its keys in group_by"
            yield self._finding(("breach_when",), message)
        if link.as_of is None or self.model.as_of is not None or link.as_of.date in plain:
            return
        date = link.as_of.date
        found = self.object_type.find_property(date)
        # A period of days is a date again; of a timestamp it would be another type than the link's dates.
        if GroupKey(date, Period.DAY) not in self.keys or found is None or found.type.kind is not Kind.DATE:
            message = f"{link.name} is read as of {date}, and a group has no one {date}: group by it"
            yield self._finding(
                ("breach_when",), f"{message}, or say `as_of: slot` to read the link on the slot's date"
            )


def _keys(expect: ExpectModel) -> list[str]:
    return expect.keys if expect.keys is not None else [expect.key] if expect.key is not None else []


def _expectation(expect: ExpectModel) -> Expectation:
    periods: DayRange | LastPeriods | None = None
    if expect.periods is not None and expect.periods.last is not None:
        periods = LastPeriods(expect.periods.last, expect.periods.current)
    elif expect.periods is not None and expect.periods.from_ is not None and expect.periods.to is not None:
        periods = DayRange(expect.periods.from_, expect.periods.to)
    return Expectation(expect.object, tuple(_keys(expect)), periods)


def _coverage(model: Decimal | CoverageModel | None) -> Coverage | None:
    match model:
        case None:
            return None
        case CoverageModel(share=share, per=per):
            return Coverage(share, Period(per))
        case share:
            return Coverage(share)
