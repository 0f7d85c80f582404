"""What must hold of metrics and mandatory filters beyond the shape of their file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from catalog.document import MandatoryFilterModel, MetricModel, ObjectTypeModel
from catalog.expressions.syntax import SyntaxFault, parse_operand
from catalog.expressions.tree import Aggregate, AggregateFunction, Arithmetic, Condition, Literal, Operand, PropertyRef
from trivet.documents import Document, Path
from trivet.findings import Finding, did_you_mean

FUNCTIONS = (
    AggregateFunction.SUM, AggregateFunction.AVG, AggregateFunction.MIN, AggregateFunction.MAX,
    AggregateFunction.MEDIAN, AggregateFunction.COUNT, AggregateFunction.COUNT_DISTINCT,
)  # fmt: skip
"""What a metric may be; the others have no one spelling in SQL."""

_OF_NUMBERS = (AggregateFunction.SUM, AggregateFunction.AVG, AggregateFunction.MEDIAN)


def filter_findings(
    document: Document, path: Path, filters: Sequence[MandatoryFilterModel], model: ObjectTypeModel
) -> Iterator[Finding]:
    """Every mandatory filter on what the object type does not have."""
    names = [item.name for item in model.properties]
    for index, item in enumerate(filters):
        if item.property not in names:
            message = f"{model.name} has no property '{item.property}'{did_you_mean(item.property, names)}"
            yield document.finding((*path, "mandatory_filters", index, "property"), message)


def metric_findings(
    document: Document, path: Path, metric: MetricModel, objects: Mapping[str, ObjectTypeModel]
) -> Iterator[Finding]:
    """Every fault of one metric: its object type, its expression, its dimensions and filters."""
    model = objects.get(metric.object)
    if model is None:
        message = f"there is no object type '{metric.object}'{did_you_mean(metric.object, objects)}"
        yield document.finding((*path, "object"), message)
        return
    if (fault := expression_fault(metric.expression, model)) is not None:
        yield document.finding((*path, "expression"), fault)
    known = [item.name for other in objects.values() for item in other.properties]
    for index, name in enumerate(metric.allowed_dimensions):
        if name not in known:
            message = f"no object type has a property '{name}'{did_you_mean(name, known)}"
            yield document.finding((*path, "allowed_dimensions", index), message)
    yield from filter_findings(document, path, metric.mandatory_filters, model)


def expression_fault(text: str, model: ObjectTypeModel) -> str | None:
    """What is wrong with a metric's expression; None if it is one aggregate of what the object type has."""
    tree = parse_operand(text)
    if isinstance(tree, SyntaxFault):
        return tree.message
    if not isinstance(tree, Aggregate) or tree.function not in FUNCTIONS:
        names = ", ".join(FUNCTIONS)
        return f"expected one aggregate ({names}) such as sum(amount)"
    types = {item.name: item.type for item in model.properties}
    for name in _names(tree.argument):
        if name is None:
            return "an aggregate of a metric is taken over properties, numbers and arithmetic, without links"
        if name not in types:
            return f"{model.name} has no property '{name}'{did_you_mean(name, types)}"
        if tree.function in _OF_NUMBERS and not types[name].is_number:
            return f"{tree.function} of '{name}', which is {types[name]}; expected a number"
    if tree.argument is not None and not any(_names(tree.argument)):
        return "an aggregate of a metric names a property"
    return None


def _names(argument: Operand | Condition | None) -> Iterator[str | None]:
    """The properties of an argument; None for each part that a metric may not have."""
    match argument:
        case None | Literal():
            return
        case PropertyRef(name, None):
            yield name
        case Arithmetic(_, left, right):
            yield from _names(left)
            yield from _names(right)
        case _:
            yield None
