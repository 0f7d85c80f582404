"""Key pairs of a statement against the links of the contract."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from catalog.contract import Contract, LinkType
from catalog.referee.lineage import Origin


@dataclass(frozen=True, slots=True)
class KeyPair:
    """Two columns that are held equal, each with its alias as written."""

    near: Origin
    far: Origin


def matching_link(pairs: Iterable[KeyPair], contract: Contract) -> LinkType | None:
    """The link whose full key list `pairs` are, in either direction; one without dates before one with dates.

    All pairs must lie between the same two readings of two views.
    """
    listed = list(pairs)
    if len({(pair.near.reading, pair.far.reading) for pair in listed}) != 1:
        return None
    near, far = listed[0].near.object_type.name, listed[0].far.object_type.name
    forth = {(pair.near.column, pair.far.column) for pair in listed}
    back = {(there, here) for here, there in forth}
    found = []
    for link in contract.link_types:
        keys = {(here.lower(), there.lower()) for here, there in zip(link.source_keys, link.target_keys, strict=True)}
        if ((link.source, link.target) == (near, far) and keys == forth) or (
            (link.source, link.target) == (far, near) and keys == back
        ):
            found.append(link)
    return min(found, key=lambda link: link.as_of is not None, default=None)


def links_between(first: str, second: str, contract: Contract) -> list[LinkType]:
    """The links without dates between two object types, in either direction."""
    ends = {(first, second), (second, first)}
    return [link for link in contract.link_types if (link.source, link.target) in ends and link.as_of is None]


def join_words(link: LinkType, aliases: dict[str, str]) -> str:
    """The condition that a join over `link` carries; `aliases` names each object type's alias."""
    near, far = aliases.get(link.source, link.source), aliases.get(link.target, link.target)
    pairs = zip(link.source_keys, link.target_keys, strict=True)
    return " AND ".join(f"{near}.{here} = {far}.{there}" for here, there in pairs)
