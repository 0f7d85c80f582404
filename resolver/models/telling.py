"""What of a contract may be told to a model: all but what is restricted, and what would name it."""

from __future__ import annotations

from catalog.contract import Contract, LinkType, Property, Sensitivity
from catalog.wording import GlossaryTerm
from resolver.measuring import AnyMetric, bases_of, properties_of


def is_open(declared: Property) -> bool:
    """Whether a property may be named."""
    return declared.sensitivity is Sensitivity.NONE


def open_names(contract: Contract) -> list[str]:
    """The names of properties that may be named, sorted."""
    return sorted({part.name for item in contract.object_types for part in item.properties if is_open(part)})


def open_metrics(contract: Contract) -> list[AnyMetric]:
    """The metrics that name nothing restricted in what they measure, tell apart or filter by."""
    return [item for item in contract.every_metric if _names_nothing_closed(item, contract)]


def open_terms(contract: Contract) -> list[GlossaryTerm]:
    """The terms of the glossary that mean something that may be named."""
    metrics = {item.name for item in open_metrics(contract)}
    closed = {item.name for item in contract.every_metric} - metrics
    return [term for term in contract.glossary if term.means not in closed and _means_something_open(term, contract)]


def open_links(contract: Contract) -> list[LinkType]:
    """The links whose keys may be named."""
    return [item for item in contract.link_types if not _closed(contract, item.source) & {*item.source_keys}]


def _closed(contract: Contract, object_name: str) -> set[str]:
    item = contract.object_type(object_name)
    return {part.name for part in item.properties if not is_open(part)} if item is not None else set()


def _names_nothing_closed(metric: AnyMetric, contract: Contract) -> bool:
    everywhere = {name for item in contract.object_types for name in _closed(contract, item.name)}
    for base in bases_of(metric, contract):
        own = {*properties_of(base, contract), *base.mandatory_filters, *base.grain}
        if own & _closed(contract, base.object_type) or set(base.allowed_dimensions) & everywhere:
            return False
    return True


def _means_something_open(term: GlossaryTerm, contract: Contract) -> bool:
    owner, _, name = term.means.rpartition(".")
    found = [
        part
        for item in contract.object_types
        if owner in ("", item.name) and (part := item.find_property(name)) is not None
    ]
    return not found or any(is_open(part) for part in found)
