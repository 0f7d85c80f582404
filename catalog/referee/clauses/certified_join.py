"""Clause `certified_join`: relations meet over the links of the contract, and over nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from catalog.contract import Contract, LinkType
from catalog.referee.certified import Clause
from catalog.referee.lineage import Source, items, object_of, origin, own_columns, owner, sources
from catalog.referee.links import KeyPair, join_words, links_between, matching_link
from catalog.referee.statement import Objection, Statement

_KINDS = frozenset({"", "INNER", "OUTER"})


def certified_join(statement: Statement, contract: Contract) -> Objection | None:
    """Each JOIN states in its ON the full key list of one link between what it joins and one relation before it.

    Further conditions in ON may filter one relation at a time; USING is an ON by the time it is judged. A correlated
    subquery is a join too: it states the link in its own WHERE.
    """
    found = joined_links(statement, contract)
    return found if isinstance(found, Objection) else None


def joined_links(statement: Statement, contract: Contract) -> list[LinkType] | Objection:
    """The links that the joins of a resolved statement go over, or what is wrong with the first that goes over none."""
    links = []
    for scope in statement.scopes:
        select = scope.expression
        if not isinstance(select, exp.Select):
            continue
        for found in (*_joins(statement, scope, select, contract), *_correlations(statement, scope, contract)):
            if isinstance(found, Objection):
                return found
            links.append(found)
    return links


def _form_fault(join: exp.Join) -> str | None:
    kind, side = join.kind.upper(), join.side.upper()
    if kind not in _KINDS:
        return f"a {kind} JOIN goes over no link; write JOIN ... ON with the keys of one"
    if not join.args.get("on"):
        what = f"{side} JOIN" if side else "comma or JOIN"
        return f"a {what} without ON goes over no link; write JOIN ... ON with the keys of one"
    return None


def _joins(
    statement: Statement, scope: Scope, select: exp.Select, contract: Contract
) -> Iterator[LinkType | Objection]:
    before = {item.alias_or_name for item in items(select)[:1]}
    known = sources(scope)
    for join in select.args.get("joins") or []:
        alias = join.this.alias_or_name
        suggestion = _suggestion(select, join, contract)
        if (fault := _form_fault(join)) is not None:
            yield statement.objection(Clause.CERTIFIED_JOIN, fault, join, suggestion=suggestion)
            return
        others, pairs = set(), []
        for part in _conjuncts(join.args["on"]):
            named = {column.table for column in part.find_all(exp.Column)}
            if part.find(exp.Query) or not named <= before | {alias} or not named:
                message = "the condition of a join names what it joins, and nothing else"
                yield statement.objection(Clause.CERTIFIED_JOIN, message, part, suggestion=suggestion)
                return
            if len(named) == 1:
                continue
            pair = _pair(part, alias, known, known, contract)
            if pair is None:
                message = "a join holds keys of a link equal, each as it stands"
                yield statement.objection(Clause.CERTIFIED_JOIN, message, part, suggestion=suggestion)
                return
            others |= named - {alias}
            pairs.append(pair)
        if (apart := _unlinked(select, join, contract)) is not None:
            yield statement.objection(Clause.CERTIFIED_JOIN, apart, join)
            return
        yield _link_or_objection(statement, join, pairs if len(others) == 1 else [], contract, suggestion)
        before.add(alias)


def _correlations(statement: Statement, scope: Scope, contract: Contract) -> Iterator[LinkType | Objection]:
    local = sources(scope)
    outer = [column for column in own_columns(scope) if column.table and column.table not in local]
    if not outer:
        return
    where = scope.expression.args.get("where")
    pairs, placed, meetings = [], set(), set()
    for part in _conjuncts(where.this) if where else ():
        columns = list(part.find_all(exp.Column))
        names = {column.table for column in columns}
        outside = [column for column in columns if column.table not in local]
        if not outside or part.find(exp.Query):
            continue
        owned = owner(scope, outside[0].table)
        around = sources(owned[0]) if owned else {}
        inside = next(iter(names & local.keys()), "")
        pair = _pair(part, inside, local, around, contract)
        if pair is not None and len(outside) == 1:
            pairs.append(pair)
            meetings.add((inside, outside[0].table))
            placed.add(id(outside[0]))
    stray = next((column for column in outer if id(column) not in placed), None)
    if stray is not None:
        message = "a subquery is a join; it meets the query around it over the keys of a link in its WHERE alone"
        yield statement.objection(Clause.CERTIFIED_JOIN, message, stray)
        return
    yield _link_or_objection(statement, scope.expression, pairs if len(meetings) == 1 else [], contract, None)


def _link_or_objection(
    statement: Statement, node: exp.Expr, pairs: list[KeyPair], contract: Contract, suggestion: str | None
) -> LinkType | Objection:
    link = matching_link(pairs, contract) if pairs else None
    if link is None:
        message = "it states the full key list of no link between exactly two relations"
        return statement.objection(Clause.CERTIFIED_JOIN, message, node, suggestion=suggestion)
    if link.as_of is not None:
        message = (
            f"the rows of link '{link.source}.{link.name}' stand in time, and which of them is in force is decided"
            " by a monitor's rules; a question cannot join over it"
        )
        return statement.objection(Clause.CERTIFIED_JOIN, message, node)
    return link


def _conjuncts(condition: exp.Expr) -> Iterator[exp.Expr]:
    inner = condition.unnest()
    if isinstance(inner, exp.And):
        yield from _conjuncts(inner.left)
        yield from _conjuncts(inner.right)
    else:
        yield inner


def _pair(
    part: exp.Expr, alias: str, inside: dict[str, Source], outside: dict[str, Source], contract: Contract
) -> KeyPair | None:
    """The two properties that an equality holds equal, the one of `alias` first."""
    if not isinstance(part, exp.EQ):
        return None
    left, right = part.left.unnest(), part.right.unnest()
    if not (isinstance(left, exp.Column) and isinstance(right, exp.Column)):
        return None
    near, far = (left, right) if left.table == alias else (right, left)
    if near.table != alias or far.table == alias or alias not in inside or far.table not in outside:
        return None
    here = origin(inside[alias], near.name, contract)
    there = origin(outside[far.table], far.name, contract)
    return KeyPair(here, there) if here and there else None


def _unlinked(select: exp.Select, join: exp.Join, contract: Contract) -> str | None:
    """That no link leads from a view to any view before it, where all of them are views."""
    met = [object_of(item, contract) if isinstance(item, exp.Table) else None for item in items(select)]
    place = next(place for place, item in enumerate(items(select)) if item is join.this)
    far, before = met[place], met[:place]
    names = [item.name for item in before if item is not None]
    if far is None or len(names) < len(before):
        return None
    linked = {frozenset((link.source, link.target)) for link in contract.link_types}
    if any(frozenset((far.name, name)) in linked for name in names):
        return None
    between = [
        item.name
        for item in contract.object_types
        if {frozenset((item.name, far.name)), frozenset((item.name, names[0]))} <= linked
    ]
    way = f"; both are linked to {' and to '.join(between)}" if between and len(names) == 1 else ""
    return f"the contract has no link between {far.name} and {' or '.join(names)}{way}"


def _suggestion(select: exp.Select, join: exp.Join, contract: Contract) -> str | None:
    """The one certified way to join a view with the views before it, as far as they are views."""
    if not isinstance(join.this, exp.Table) or (far := object_of(join.this, contract)) is None:
        return None
    aliases = {far.name: join.this.alias_or_name}
    found = []
    for item in items(select):
        if item is join.this:
            break
        near = object_of(item, contract) if isinstance(item, exp.Table) else None
        if near is not None and near.name != far.name:
            names = {**aliases, near.name: item.alias_or_name}
            found += [join_words(link, names) for link in links_between(near.name, far.name, contract)]
    if len(found) != 1:
        return None
    return f"JOIN {far.view} AS {join.this.alias_or_name} ON {found[0]}"
