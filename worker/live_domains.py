"""Values that stand in the data and not in the domain that the contract names for them."""

from __future__ import annotations

from collections.abc import Iterator

from catalog.contract import ObjectType, Property
from worker.live_look import Look, Told, counted, may_be_shown

_MOST = 10
"""Values that are named."""


def domain_tells(look: Look, of: ObjectType, declared: Property) -> Iterator[Told]:
    """What the data shows of a property with a domain: the values outside of it, named unless they are restricted."""
    domain = declared.domain
    if domain is None:
        return
    rows = look.rows(look.queries.outside(of, declared.name, domain, most=_MOST))
    if not rows:
        return
    _, _, values, in_rows = rows[0]
    what = f"{counted(int(values), 'value')} in {counted(int(in_rows), 'row')} of {of.view} "
    message = f"{what}{'lies' if int(values) == 1 else 'lie'} outside its domain {domain}"
    if may_be_shown(of, [declared.name]) and may_be_shown(look.object_type(domain.object), [domain.property]):
        named = ", ".join(f"'{value}' ({counted(int(times), 'row')})" for value, times, _, _ in rows)
        more = " and others" if int(values) > len(rows) else ""
        message = f"{message}: {named}{more}"
    yield Told(message, is_fault=False)
