"""Whether units of metrics fit together: nothing is converted on the way, so they must be one unit."""

from __future__ import annotations

from catalog.units import Conversion, NotConverted, convert


def is_same_unit(one: str, other: str) -> bool:
    """Whether a figure in one unit is the same figure in the other."""
    found = convert(one, other)
    return isinstance(found, Conversion) and found == Conversion(found.factor.__class__(1))


def not_one_unit(first: str | None, second: str | None) -> str | None:
    """Why two figures are not taken from each other; None if they are in one unit, or neither states one."""
    if first is None or second is None:
        return None if first == second else f"one is in {first or second}, and the other states no unit"
    if is_same_unit(first, second):
        return None
    found = convert(first, second)
    reason = found.reason if isinstance(found, NotConverted) else "a question converts nothing"
    return f"one is in {first}, the other in {second}: {reason}"


def quotient_fault(above: str | None, below: str | None, stated: str | None) -> str | None:
    """Why a quotient of two figures cannot be, or is not in the unit that is stated; None if it is."""
    if stated is not None and "%" in stated:
        return "a quotient is a plain number, of which 0.05 is 5%; leave the unit out"
    if above is None and below is None:
        return None
    if above is not None and below is not None:
        found = convert(above, below)
        if is_same_unit(above, below):
            return None if stated is None else f"{above} over {below} has no unit; leave it out"
        if isinstance(found, Conversion):
            return f"{above} over {below} would have to be converted, and a question converts nothing"
        if found.reason.startswith("currencies"):
            return f"{above} over {below}: {found.reason}"
    if stated is None or above is None:
        return None
    if below is None:
        # What is counted is no unit: USD over orders may be called USD, or USD/order.
        return None if stated == above or stated.startswith(f"{above}/") else f"it is in {above} each, not in {stated}"
    expected = f"{above}/{below}"
    return None if is_same_unit(expected, stated) else f"it is in {expected}, not in {stated}"
