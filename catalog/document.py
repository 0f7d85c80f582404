"""The contract file as it is written: the door through which it comes in. `loading.py` makes records of it."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Annotated, Literal, TypeAlias

from pydantic import BeforeValidator, Field, WithJsonSchema

from catalog.calendar_document import CalendarTableModel
from catalog.contract import Cardinality, Restates, Sensitivity
from catalog.datatypes import TYPE_NAMES, DataType, parse_type
from catalog.metric_document import MandatoryFilterModel, MetricModel
from catalog.wording_document import GlossaryModel, RefusalModel, VerifiedQueryModel
from trivet.durations import parse_duration
from trivet.faults import expected, refused
from trivet.fields import Between, DurationText, Flag, Name, Prose, Text
from trivet.validation import StrictModel

_VERSION = r"^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9A-Za-z.-]+)?$"
_VIEW = r"^[A-Za-z_][A-Za-z0-9_]*\.[A-Za-z_][A-Za-z0-9_]*$"


def _pattern(pattern: str, what: str) -> BeforeValidator:
    def read(value: object) -> str:
        if not isinstance(value, str) or re.fullmatch(pattern, value) is None:
            raise expected(what)
        return str(value)

    return BeforeValidator(read)


def _read_type(value: object) -> DataType:
    found = parse_type(value) if isinstance(value, str) else None
    if found is None:
        raise expected(f"a type ({', '.join(TYPE_NAMES)})")
    return found


Version = Annotated[str, _pattern(_VERSION, "a semantic version such as 1.2.0"), WithJsonSchema({"type": "string"})]
View = Annotated[
    str,
    _pattern(_VIEW, "a view with its schema, such as ontology.employee_pay"),
    WithJsonSchema({"type": "string", "pattern": _VIEW}),
]
DomainText = Annotated[
    str,
    _pattern(_VIEW, "an object type and its property, such as award_rate.classification"),
    WithJsonSchema({"type": "string", "pattern": _VIEW}),
]
TypeText = Annotated[DataType, BeforeValidator(_read_type), WithJsonSchema({"type": "string", "examples": ["text"]})]


class ContractHeader(StrictModel):
    """Which contract this is."""

    id: Name
    version: Version
    """Semantic version; the content's hash is added when it is loaded."""
    status: Literal["draft", "certified"] = "draft"


class IdentityModel(StrictModel):
    """Whose data this is."""

    subject_name: Text
    aliases: list[Text] = []
    statement: Prose = ""


class CalendarModel(StrictModel):
    """How the organisation names its days and years."""

    fiscal_year_start_month: Annotated[int, Between(1, 12)] = 1
    fiscal_year_label: Literal["start_year", "end_year"] = "end_year"
    week_start: Literal["monday", "sunday", "saturday"] = "monday"
    time_zone: Text = "UTC"
    """IANA name such as Australia/Sydney; moments without an offset are read in it."""
    table: CalendarTableModel | None = None
    """Where the days of fiscal periods stand, if no arithmetic finds them."""


class LimitsModel(StrictModel):
    """Outer bounds of one statement."""

    max_objects: Annotated[int, Between(1, 100)] = 3
    max_rows: Annotated[int, Between(1, 1_000_000)] = 1000
    timeout: DurationText = timedelta(seconds=60)


class ProvenanceModel(StrictModel):
    """The view's columns that say where a row was read."""

    document: Name | None = None
    table: Name | None = None
    page: Name | None = None
    row: Name | None = None


class CensoredModel(StrictModel):
    """The view's columns that turn a value into a bound."""

    side: Name
    """Column holding `<`, `<=`, `>`, `>=`, or blank where the value is a value."""
    limit: Name
    """Column holding the bound."""


class DisplayModel(StrictModel):
    """How values are shown; never how they are judged."""

    scale: Annotated[int, Between(0, 38)]
    """Digits after the point that are shown at least."""


class PropertyModel(StrictModel):
    """One property, which is a column of the view of the same name."""

    name: Name
    type: TypeText
    description: Prose = ""
    unit: Text | None = None
    role: Literal["identifier", "dimension", "fact"] | None = None
    additivity: Literal["additive", "semi_additive", "non_additive"] | None = None
    synonyms: list[Text] = []
    missing: list[Text] = []
    """Texts that mean there is no value, such as n/a."""
    raw: Name | None = None
    """Companion column with the text as printed."""
    cause: Name | None = None
    """Companion column with the cause, where cleaning found no value."""
    censored: CensoredModel | None = None
    non_negative: Flag = False
    display: DisplayModel | None = None
    domain: DomainText | None = None
    """The values that should exist, as object.property."""
    sensitivity: Sensitivity = Sensitivity.NONE
    monitor: Literal["masked"] | None = None
    """Lets monitors use a restricted property without showing its values."""


class MaxAgeModel(StrictModel):
    """How old the data behind a view may be by a date that its rows have."""

    property: Name
    """A date or timestamp; the youngest row counts."""
    limit: DurationText


def _read_max_age(value: object) -> object:
    if isinstance(value, (dict, MaxAgeModel)):
        return value
    age = parse_duration(value) if isinstance(value, str) else value
    if not isinstance(age, timedelta):
        raise expected("a duration such as 8d, or {property: loaded_at, limit: 8d}")
    return age


MaxAgeText: TypeAlias = Annotated[DurationText | MaxAgeModel, BeforeValidator(_read_max_age)]
"""From ingestion on, or by a property."""


class ObjectTypeModel(StrictModel):
    """A governed view and what its rows are."""

    name: Name
    view: View
    description: Prose = ""
    primary_key: Annotated[list[Name], Field(min_length=1)]
    grain: Prose = ""
    mandatory_filters: list[MandatoryFilterModel] = []
    provenance: ProvenanceModel = ProvenanceModel()
    max_age: MaxAgeText | None = None
    """How old the data may be: from its ingestion on, or by the youngest date of a property."""
    properties: Annotated[list[PropertyModel], Field(min_length=1)]


def _read_link_keys(value: object) -> object:
    if value == []:
        raise refused(
            "a link needs at least one key on each side, compared by equality, or every row would meet every other; "
            "what is compared by `<` or `>` belongs in a monitor's condition"
        )
    return value


class LinkEndModel(StrictModel):
    """One side of a link."""

    object: Name
    keys: Annotated[list[Name], Field(min_length=1), BeforeValidator(_read_link_keys)]


class AsOfModel(StrictModel):
    """How the rows of a link stand in time."""

    date: Name
    """Property of the near side: the member's own date."""
    valid_from: Name
    """Property of the far side: the first day on which a row counts."""
    valid_to: Name | None = None
    """Property of the far side, exclusive; blank is open."""
    restates: Restates
    """`changes`: a row stands until a later one of its keys. `all`: each date restates the schedule."""
    within: list[Name] = []
    """Link keys that tell schedules apart, under `restates: all`."""


class LinkTypeModel(StrictModel):
    """A stored link."""

    name: Name
    description: Prose = ""
    source: Annotated[LinkEndModel, Field(alias="from")]
    target: Annotated[LinkEndModel, Field(alias="to")]
    cardinality: Cardinality
    optional: Flag = False
    as_of: AsOfModel | None = None


class ContractModel(StrictModel):
    """One contract file. Of several files, each section with one value stands in one of them."""

    contract: ContractHeader | None = None
    identity: IdentityModel | None = None
    calendar: CalendarModel | None = None
    object_types: list[ObjectTypeModel] = []
    link_types: list[LinkTypeModel] = []
    metrics: list[MetricModel] = []
    glossary: list[GlossaryModel] = []
    refusals: list[RefusalModel] = []
    verified_queries: list[VerifiedQueryModel] = []
    limits: LimitsModel | None = None
