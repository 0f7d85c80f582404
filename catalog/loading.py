"""Contract files to one `Contract`, as a whole or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from catalog.calendar_rules import calendar_findings
from catalog.contract import (
    Additivity,
    Calendar,
    CalendarTable,
    CensoredColumns,
    Contract,
    Domain,
    EffectiveDates,
    Identity,
    Limits,
    LinkType,
    MaxAge,
    ObjectType,
    Property,
    PropertyRole,
    ProvenanceColumns,
)
from catalog.document import CalendarModel, ContractModel, LinkTypeModel, MaxAgeModel, ObjectTypeModel, PropertyModel
from catalog.domain_rules import domain_findings
from catalog.link_rules import link_findings
from catalog.metric_loading import derived_metrics_of, metrics_of
from catalog.metric_rules import MetricRules, filter_findings
from catalog.object_rules import object_findings, unique_findings
from catalog.wording import DocumentedRefusal, GlossaryTerm, VerifiedQuery
from catalog.wording_document import RefusalModel, VerifiedQueryModel
from catalog.wording_rules import final_meaning, wording_findings
from trivet.canonical import Json, canonical_json, normal_text, sha256_hex
from trivet.clock import is_time_zone
from trivet.documents import Document, in_order
from trivet.findings import Finding
from trivet.outcomes import ReasonCode
from trivet.validation import validate


@dataclass(frozen=True, slots=True)
class ContractResult:
    """A contract, or everything that is wrong with its files."""

    contract: Contract | None
    findings: tuple[Finding, ...]


def load_contract(documents: Sequence[Document]) -> ContractResult:
    """The contract that the files hold together."""
    read: list[tuple[Document, ContractModel]] = []
    findings: list[Finding] = []
    for document in documents:
        model, faults = validate(document, ContractModel)
        findings += faults
        if model is not None:
            read.append((document, model))
    if not findings:
        findings += _section_findings(read)
        findings += _reference_findings(read)
        findings += wording_findings(read)
    if findings:
        by_file = [in_order(item for item in findings if item.file == document.file) for document in documents]
        return ContractResult(None, tuple(item for of_file in by_file for item in of_file))
    return ContractResult(_contract(read), ())


def _section_findings(read: Sequence[tuple[Document, ContractModel]]) -> Iterable[Finding]:
    for section in ("contract", "identity", "calendar", "limits"):
        holders = [document for document, model in read if getattr(model, section) is not None]
        for document in holders[1:]:
            yield document.finding((section,), f"already stands in {holders[0].file}; keep one", key=True)
        if section == "contract" and not holders and read:
            yield read[0][0].finding((), "missing key 'contract': {id: ..., version: 1.0.0}")
    if read and not any(model.object_types for _, model in read):
        yield read[0][0].finding((), "missing key 'object_types'; a contract governs at least one view")
    for document, model in read:
        if model.limits is not None and not model.limits.timeout:
            yield document.finding(("limits", "timeout"), "expected at least one second, such as 30s")
        if model.calendar is not None and not is_time_zone(model.calendar.time_zone):
            zone = model.calendar.time_zone
            yield document.finding(
                ("calendar", "time_zone"),
                f"'{zone}' is no time zone; use an IANA name such as Australia/Sydney",
            )


def _reference_findings(read: Sequence[tuple[Document, ContractModel]]) -> Iterable[Finding]:
    objects = {item.name: item for _, model in read for item in model.object_types}
    metrics = {item.name: item for _, model in read for item in model.metrics}
    seen_objects: dict[str, str] = {}
    seen_views: dict[str, str] = {}
    seen_links: dict[str, str] = {}
    seen_metrics: dict[str, str] = {}
    for document, model in read:
        if model.calendar is not None:
            yield from calendar_findings(document, model.calendar, objects)
        for index, item in enumerate(model.object_types):
            path = ("object_types", index)
            yield from unique_findings(document, (*path, "name"), item.name, seen_objects)
            yield from unique_findings(document, (*path, "view"), item.view, seen_views)
            yield from object_findings(document, path, item)
            yield from filter_findings(document, path, item.mandatory_filters, item)
            yield from domain_findings(document, path, item, objects)
        for index, link in enumerate(model.link_types):
            link_path = ("link_types", index)
            yield from unique_findings(
                document, (*link_path, "name"), link.name, seen_links, within=f"{link.source.object}."
            )
            yield from link_findings(document, link_path, link, objects)
        for index, metric in enumerate(model.metrics):
            metric_path = ("metrics", index)
            yield from unique_findings(document, (*metric_path, "name"), metric.name, seen_metrics)
            yield from MetricRules(document, metric_path, objects, metrics).findings(metric)


def _contract(read: Sequence[tuple[Document, ContractModel]]) -> Contract:
    models = [model for _, model in read]
    header = next(model.contract for model in models if model.contract is not None)
    identity = next((model.identity for model in models if model.identity is not None), None)
    calendar = next((model.calendar for model in models if model.calendar is not None), None)
    limits = next((model.limits for model in models if model.limits is not None), None)
    listed = [item for model in models for item in model.metrics]
    objects = {item.name: item for model in models for item in model.object_types}
    text = canonical_json(_content([document for document, _ in read]))
    return Contract(
        id=header.id,
        version=header.version,
        status=header.status,
        hash=sha256_hex(text),
        object_types=tuple(_object_type(item) for model in models for item in model.object_types),
        link_types=tuple(_link_type(item) for model in models for item in model.link_types),
        metrics=metrics_of(listed),
        derived_metrics=derived_metrics_of(listed, objects),
        glossary=tuple(_terms(models)),
        refusals=tuple(_refusal(item) for model in models for item in model.refusals),
        verified_queries=tuple(_verified(item) for model in models for item in model.verified_queries),
        identity=Identity(identity.subject_name, tuple(identity.aliases), identity.statement) if identity else None,
        calendar=_calendar(calendar) if calendar else Calendar(),
        limits=Limits(**limits.model_dump()) if limits else Limits(),
        text=text.decode("utf-8"),
    )


def _content(documents: Sequence[Document]) -> Json:
    """What the hash covers: the content as written, without comments, order of files or layout."""
    ordered = sorted(documents, key=lambda document: document.file)
    return [_normal(document.root) for document in ordered]


def _normal(value: object) -> Json:
    if isinstance(value, dict):
        return {str(key).encode("ascii", "backslashreplace").decode(): _normal(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_normal(item) for item in value]
    return normal_text(value) if isinstance(value, str) else None


def _object_type(model: ObjectTypeModel) -> ObjectType:
    return ObjectType(
        name=model.name,
        view=model.view,
        primary_key=tuple(model.primary_key),
        properties=tuple(_property(item) for item in model.properties),
        description=model.description,
        grain=model.grain,
        mandatory_filters=tuple(item.property for item in model.mandatory_filters),
        provenance=ProvenanceColumns(**model.provenance.model_dump()),
        max_age=_max_age(model.max_age),
    )


def _max_age(model: timedelta | MaxAgeModel | None) -> MaxAge | None:
    if isinstance(model, MaxAgeModel):
        return MaxAge(model.limit, model.property)
    return None if model is None else MaxAge(model)


def _property(model: PropertyModel) -> Property:
    return Property(
        name=model.name,
        type=model.type,
        description=model.description,
        synonyms=tuple(model.synonyms),
        unit=model.unit,
        missing=tuple(model.missing),
        raw=model.raw,
        cause=model.cause,
        censored=CensoredColumns(model.censored.side, model.censored.limit) if model.censored else None,
        non_negative=model.non_negative,
        role=PropertyRole(model.role) if model.role else None,
        additivity=Additivity(model.additivity) if model.additivity else None,
        display_scale=model.display.scale if model.display else None,
        domain=Domain(*model.domain.split(".")) if model.domain else None,
        sensitivity=model.sensitivity,
        masked=model.monitor == "masked",
    )


def _calendar(model: CalendarModel) -> Calendar:
    table = CalendarTable(**model.table.model_dump()) if model.table else None
    return Calendar(model.fiscal_year_start_month, model.fiscal_year_label, model.week_start, model.time_zone, table)


def _terms(models: Sequence[ContractModel]) -> Iterable[GlossaryTerm]:
    glossary = [term for model in models for term in model.glossary]
    for term in glossary:
        yield GlossaryTerm(term.term, final_meaning(term, glossary) or term.means)


def _refusal(model: RefusalModel) -> DocumentedRefusal:
    return DocumentedRefusal(model.id, tuple(model.terms), ReasonCode(model.reason), model.says, model.evidence)


def _verified(model: VerifiedQueryModel) -> VerifiedQuery:
    return VerifiedQuery(model.question, model.sql, model.verified_by, model.verified_at)


def _link_type(model: LinkTypeModel) -> LinkType:
    as_of = model.as_of
    return LinkType(
        name=model.name,
        source=model.source.object,
        source_keys=tuple(model.source.keys),
        target=model.target.object,
        target_keys=tuple(model.target.keys),
        cardinality=model.cardinality,
        optional=model.optional,
        as_of=EffectiveDates(as_of.date, as_of.valid_from, as_of.restates, as_of.valid_to, tuple(as_of.within))
        if as_of
        else None,
        description=model.description,
    )
