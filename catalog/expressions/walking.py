"""Walks over the tree of an expression: what it names, counts and holds, in the order of the text."""

from __future__ import annotations

from collections.abc import Iterator

from catalog.expressions.tree import (
    CLOCKS,
    Aggregate,
    And,
    Arithmetic,
    Atom,
    BaselineRef,
    Between,
    Call,
    Change,
    Comparing,
    Comparison,
    Condition,
    Exists,
    LinkCount,
    Literal,
    Membership,
    Not,
    Operand,
    Or,
    Presence,
    PropertyRef,
)


def parts(atom: Comparing) -> tuple[Operand, ...]:
    """The operands of a comparison, in the order of the text."""
    match atom:
        case Comparison(left=left, right=right):
            return left, right
        case Between(value=value, low=low, high=high):
            return value, low, high
        case Membership(value=value, choices=choices):
            return value, *choices


def references(operand: Operand) -> Iterator[PropertyRef]:
    """Every property that an operand names, in the order of the text, repeats included."""
    match operand:
        case PropertyRef():
            yield operand
        case Arithmetic(left=left, right=right):
            yield from references(left)
            yield from references(right)
        case Call(arguments=arguments):
            for argument in arguments:
                yield from references(argument)
        case Aggregate(argument=Comparison() | Between() | Membership() | Presence() | Exists() as condition):
            yield from atom_references(condition)
        case Aggregate(argument=And() | Or() | Not() as condition):
            yield from condition_references(condition)
        case Aggregate(argument=argument):
            yield from references(argument) if argument is not None else ()
        case Change(operand=inner):
            yield from references(inner)
        case Literal() | LinkCount() | BaselineRef():
            return


def nodes(operand: Operand) -> Iterator[Operand]:
    """An operand and every operand inside it, the inner ones first, in the order of the text."""
    match operand:
        case Arithmetic(left=left, right=right):
            yield from nodes(left)
            yield from nodes(right)
        case Call(arguments=arguments):
            for argument in arguments:
                yield from nodes(argument)
        case Aggregate(argument=Comparison() | Between() | Membership() | Presence() | Exists() as condition):
            yield from _condition_nodes(condition)
        case Aggregate(argument=And() | Or() | Not() as condition):
            yield from _condition_nodes(condition)
        case Aggregate(argument=argument):
            yield from nodes(argument) if argument is not None else ()
        case Change(operand=inner):
            yield from nodes(inner)
        case PropertyRef() | Literal() | LinkCount() | BaselineRef():
            pass
    yield operand


def _condition_nodes(condition: Condition) -> Iterator[Operand]:
    for atom in atoms(condition):
        yield from atom_nodes(atom)


def atom_nodes(atom: Atom) -> Iterator[Operand]:
    """Every operand that an atom names, as `nodes` does."""
    match atom:
        case Presence(property=ref):
            yield ref
        case Exists():
            return
        case Comparison() | Between() | Membership():
            for part in parts(atom):
                yield from nodes(part)


def atom_references(atom: Atom) -> tuple[PropertyRef, ...]:
    """Every property that an atom names, each once, in the order of the text."""
    match atom:
        case Presence(property=ref):
            return (ref,)
        case Exists():
            return ()
        case Comparison() | Between() | Membership():
            return tuple(dict.fromkeys(ref for part in parts(atom) for ref in references(part)))


def atom_links(atom: Atom) -> tuple[str, ...]:
    """Every link whose rows an atom quantifies over, each once, in the order of the text."""
    if isinstance(atom, Exists):
        return (atom.link,)
    return tuple(dict.fromkeys(ref.link for ref in atom_references(atom) if ref.link is not None))


def counted_links(atom: Atom) -> tuple[str, ...]:
    """Every link whose matching rows an atom counts, each once, in the order of the text."""
    return tuple(dict.fromkeys(node.link for node in atom_nodes(atom) if isinstance(node, LinkCount)))


def shown_operands(atom: Atom) -> tuple[PropertyRef | LinkCount, ...]:
    """What has a value of its own in an atom, each once, in the order of the text."""
    return tuple(dict.fromkeys(node for node in atom_nodes(atom) if isinstance(node, PropertyRef | LinkCount)))


def atoms(condition: Condition) -> Iterator[Atom]:
    """The comparisons and tests of a condition, in the order of the text."""
    match condition:
        case And(items=items) | Or(items=items):
            for item in items:
                yield from atoms(item)
        case Not(item=item):
            yield from atoms(item)
        case Comparison() | Between() | Membership() | Presence() | Exists():
            yield condition


def condition_references(condition: Condition) -> tuple[PropertyRef, ...]:
    """Every property that a condition names, each once, in the order of the text."""
    return tuple(dict.fromkeys(ref for atom in atoms(condition) for ref in atom_references(atom)))


def condition_links(condition: Condition) -> tuple[str, ...]:
    """Every link that a condition names, quantified over or counted, each once, in the order of the text."""
    return tuple(dict.fromkeys(name for atom in atoms(condition) for name in (*atom_links(atom), *counted_links(atom))))


def uses_clock(condition: Condition) -> bool:
    """Whether a condition looks at the slot's instant."""
    return any(isinstance(node, Call) and node.function in CLOCKS for node in _condition_nodes(condition))
