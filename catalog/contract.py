"""The governed contract as the program uses it: frozen records, every reference resolved by name.

`catalog/loading.py` makes them from YAML and is the only place that does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum

from catalog.datatypes import DataType
from catalog.expressions.tree import Aggregate
from catalog.metric_records import DerivedMetric, EmptyRule, MetricDisplay, NullRule
from catalog.wording import DocumentedRefusal, GlossaryTerm, VerifiedQuery
from trivet.durations import duration_text


class Cardinality(StrEnum):
    """How many rows of the far side one row may meet, and the other way round."""

    ONE_TO_ONE = "one_to_one"
    MANY_TO_ONE = "many_to_one"
    ONE_TO_MANY = "one_to_many"
    MANY_TO_MANY = "many_to_many"

    @property
    def is_to_one(self) -> bool:
        """Whether at most one linked row should match."""
        return self in (Cardinality.ONE_TO_ONE, Cardinality.MANY_TO_ONE)


class Restates(StrEnum):
    """What an effective date means: the case that taught it is a deleted current pay floor."""

    CHANGES = "changes"
    """Each row stands until a later row of the same keys."""
    ALL = "all"
    """Each effective date restates the whole schedule."""


class Additivity(StrEnum):
    """Over what the values of a property may be summed."""

    ADDITIVE = "additive"
    SEMI_ADDITIVE = "semi_additive"
    """Over everything but time, such as a balance."""
    NON_ADDITIVE = "non_additive"
    """Over nothing, such as a rate."""


class PropertyRole(StrEnum):
    """What the values of a property are for."""

    IDENTIFIER = "identifier"
    """They tell things apart, so a sum or an average of them means nothing."""
    DIMENSION = "dimension"
    FACT = "fact"


class Sensitivity(StrEnum):
    """Who may see a property's values."""

    NONE = "none"
    RESTRICTED = "restricted"


@dataclass(frozen=True, slots=True)
class CensoredColumns:
    """The companion columns that turn a property's value into a bound."""

    side: str
    """Column holding `<`, `<=`, `>`, `>=` or blank (the value is not censored)."""
    limit: str
    """Column holding the bound, of the property's own type."""


@dataclass(frozen=True, slots=True)
class Domain:
    """The values that should exist: those of a property, of this or of another object type."""

    object: str
    property: str

    def __str__(self) -> str:
        return f"{self.object}.{self.property}"


@dataclass(frozen=True, slots=True)
class Property:
    """One property of an object type; its name is the name of the view's column."""

    name: str
    type: DataType
    description: str = ""
    synonyms: tuple[str, ...] = ()
    """Other words by which people ask for it."""
    unit: str | None = None
    """Such as `AUD/hour`; None when it has none or none is declared."""
    missing: tuple[str, ...] = ()
    """Texts that mean there is no value, compared after trimming ASCII blanks."""
    raw: str | None = None
    """Companion column with the text as it was printed."""
    cause: str | None = None
    """Companion column with the cause, where cleaning found no value."""
    censored: CensoredColumns | None = None
    non_negative: bool = False
    """Bounds the other end of a censored value at zero."""
    role: PropertyRole | None = None
    """None where the contract does not say."""
    additivity: Additivity | None = None
    """Whether sums of it mean something; None where the contract does not say."""
    display_scale: int | None = None
    """Digits after the point that a person is shown at least; never rounds."""
    domain: Domain | None = None
    """Where the values that it should have stand; None where the contract does not say."""
    sensitivity: Sensitivity = Sensitivity.NONE
    masked: bool = False
    """Whether monitors may use it although it is restricted: its values are then never shown."""

    @property
    def is_closed(self) -> bool:
        """Whether no monitor may use it."""
        return self.sensitivity is not Sensitivity.NONE and not self.masked

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column of the view that this property needs."""
        companions = (self.raw, self.cause)
        bounds = (self.censored.side, self.censored.limit) if self.censored else ()
        return (self.name, *(column for column in companions if column), *bounds)


@dataclass(frozen=True, slots=True)
class ProvenanceColumns:
    """The columns that say where a row was read."""

    document: str | None = None
    table: str | None = None
    page: str | None = None
    row: str | None = None

    def named(self) -> tuple[tuple[str, str], ...]:
        """Pairs of part and column, for the parts that the view has."""
        pairs = (("document", self.document), ("table", self.table), ("page", self.page), ("row", self.row))
        return tuple((part, column) for part, column in pairs if column is not None)


@dataclass(frozen=True, slots=True)
class MaxAge:
    """How old the data behind a view may be."""

    limit: timedelta
    property: str | None = None
    """The date or timestamp by which its youngest row is as old as it is; None: it ages from its ingestion."""

    def __str__(self) -> str:
        limit = duration_text(self.limit)
        return limit if self.property is None else f"{limit} by {self.property}"


@dataclass(frozen=True, slots=True)
class ObjectType:
    """A governed view and what its rows are."""

    name: str
    view: str
    """Schema and name, such as `ontology.employee_pay`."""
    primary_key: tuple[str, ...]
    properties: tuple[Property, ...]
    description: str = ""
    grain: str = ""
    provenance: ProvenanceColumns = ProvenanceColumns()
    mandatory_filters: tuple[str, ...] = ()
    """Properties that whoever reads the view in a question holds to literals."""
    max_age: MaxAge | None = None
    """Beyond it, only breaches are certain; None where data does not age."""

    def find_property(self, name: str) -> Property | None:
        """The property of that name, if there is one."""
        return next((item for item in self.properties if item.name == name), None)

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that the contract declares of the view, each once."""
        declared = [column for item in self.properties for column in item.columns]
        return tuple(dict.fromkeys([*declared, *(column for _, column in self.provenance.named())]))


@dataclass(frozen=True, slots=True)
class EffectiveDates:
    """How the rows of a link stand in time."""

    date: str
    """Property of the near side: the member's own date."""
    valid_from: str
    """Property of the far side: the first day on which a row counts."""
    restates: Restates
    valid_to: str | None = None
    """Property of the far side, exclusive; blank is open."""
    within: tuple[str, ...] = ()
    """Link keys of the far side that tell schedules apart, under `restates: all`."""


@dataclass(frozen=True, slots=True)
class LinkType:
    """A stored link from one object type to another."""

    name: str
    source: str
    """Object type of the near side."""
    source_keys: tuple[str, ...]
    target: str
    """Object type of the far side."""
    target_keys: tuple[str, ...]
    """In the order of `source_keys`."""
    cardinality: Cardinality
    optional: bool = False
    as_of: EffectiveDates | None = None
    description: str = ""


@dataclass(frozen=True, slots=True)
class Metric:
    """A certified measure: one aggregate over one object type."""

    name: str
    object_type: str
    expression: str
    """As the file has it, such as `sum(amount)`."""
    aggregate: Aggregate
    """The same, read: over properties of the object type, numbers and arithmetic."""
    description: str = ""
    unit: str | None = None
    synonyms: tuple[str, ...] = ()
    """Other words by which people ask for it."""
    allowed_dimensions: tuple[str, ...] = ()
    """Properties by which it may be told apart; none named means any."""
    mandatory_filters: tuple[str, ...] = ()
    """Properties of the object type that whoever uses it holds to literals."""
    grain: tuple[str, ...] = ()
    """Keys of the object type below which it is not told apart; none named means any."""
    additivity: Additivity | None = None
    """Over what its values may be summed; None where the contract does not say."""
    null_rule: NullRule = NullRule.IGNORE_AND_COUNT
    empty_rule: EmptyRule | None = None
    """None where the contract does not say, and of counts, which are 0 over no row."""
    display: MetricDisplay | None = None
    """None where the contract does not say."""
    not_the_same_as: tuple[str, ...] = ()
    """Names of metrics that it is taken for, and is not."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Whose data this is: words that name the whole corpus are never filters."""

    subject_name: str
    aliases: tuple[str, ...] = ()
    statement: str = ""


@dataclass(frozen=True, slots=True)
class CalendarTable:
    """A governed view whose rows are periods: what each is called, its days, and whose it is."""

    object: str
    label: str
    start: str
    """Property with the first day of a period."""
    end: str
    """Property with its last day."""
    entity: str | None = None
    """Property that says whose period it is; None where all share one calendar."""


@dataclass(frozen=True, slots=True)
class Calendar:
    """How the organisation names its days and years."""

    fiscal_year_start_month: int = 1
    fiscal_year_label: str = "end_year"
    week_start: str = "monday"
    time_zone: str = "UTC"
    """IANA name; times without an offset are read in it."""
    table: CalendarTable | None = None
    """Where the days of fiscal periods stand; None where arithmetic finds them."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Outer bounds of one statement."""

    max_objects: int = 3
    max_rows: int = 1000
    timeout: timedelta = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class Contract:
    """One version of the governed contract."""

    id: str
    version: str
    """Semantic version, as the file states it."""
    status: str
    hash: str
    """SHA-256 of the canonical content, 64 hex digits."""
    object_types: tuple[ObjectType, ...]
    link_types: tuple[LinkType, ...]
    metrics: tuple[Metric, ...] = ()
    """Where there is any, a question measures by these alone."""
    derived_metrics: tuple[DerivedMetric, ...] = ()
    """Arithmetic over metrics, each behind those that it is made of."""
    glossary: tuple[GlossaryTerm, ...] = ()
    refusals: tuple[DocumentedRefusal, ...] = ()
    verified_queries: tuple[VerifiedQuery, ...] = ()
    identity: Identity | None = None
    calendar: Calendar = Calendar()
    limits: Limits = Limits()
    text: str = field(default="", compare=False, repr=False)
    """The canonical JSON that `hash` is over, from which the contract can be read again; empty if made by hand."""

    def object_type(self, name: str) -> ObjectType | None:
        """The object type of that name, if there is one."""
        return next((item for item in self.object_types if item.name == name), None)

    def metric(self, name: str) -> Metric | DerivedMetric | None:
        """The metric of that name, derived or not, if there is one."""
        return next((item for item in self.every_metric if item.name == name), None)

    @property
    def every_metric(self) -> tuple[Metric | DerivedMetric, ...]:
        """The metrics, and then those that are derived from them."""
        return (*self.metrics, *self.derived_metrics)

    def link(self, source: str, name: str) -> LinkType | None:
        """The link of that name that starts at the object type `source`, if there is one."""
        return next((item for item in self.link_types if item.name == name and item.source == source), None)

    def links_from(self, source: str) -> tuple[LinkType, ...]:
        """Every link that starts at the object type `source`."""
        return tuple(item for item in self.link_types if item.source == source)

    def reference(self) -> dict[str, str]:
        """What a record says of the contract it speaks of."""
        return {"id": self.id, "version": self.version, "hash": self.hash}
