"""Units of measure: how a value in one unit is brought to another, exactly, and when it is not.

Pint knows the units. It is asked only where two different units meet, since it takes a second to start.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

_CODES = (
    "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE "
    "CHF CHW CLF CLP CNY COP COU CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF "
    "GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR "
    "LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN "
    "PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS "
    "TMT TND TOP TRY TTD TWD TZS UAH UGX USD USN UYI UYU UYW UZS VED VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR "
    "ZMW ZWG "
)
CURRENCIES = frozenset(_CODES.split())
"""ISO 4217. Each is a dimension of its own."""

_UNIT = r"[A-Za-z%°µμΩ_]+((\^|\*\*)-?[0-9])?"
# Pint reads `mg/L as N` as a product with attoseconds and newtons, so words beside each other are no unit.
_WRITTEN = re.compile(rf"(1 ?/ ?)?{_UNIT}( ?[*/·] ?{_UNIT})*")
_LONGEST = 100


@dataclass(frozen=True, slots=True)
class Conversion:
    """A value in the other unit is `value * factor + offset`. The factor is above zero."""

    factor: Fraction
    offset: Fraction = Fraction(0)

    @property
    def is_terminating(self) -> bool:
        """Whether the factor is a decimal of finitely many digits."""
        rest = self.factor.denominator
        for prime in (2, 5):
            while rest % prime == 0:
                rest //= prime
        return rest == 1

    def inverted(self) -> Conversion:
        """The way back."""
        return Conversion(1 / self.factor, -self.offset / self.factor)


@dataclass(frozen=True, slots=True)
class NotConverted:
    """Why two units are not brought to one."""

    reason: str


@cache
def convert(of: str, to: str) -> Conversion | NotConverted:
    """How a value in unit `of` becomes one in unit `to`."""
    if of == to:
        return Conversion(Fraction(1))
    parsed = [_parsed(text) for text in (of, to)]
    for text, unit in zip((of, to), parsed, strict=True):
        if unit is None:
            return NotConverted(f"'{text}' is no unit that can be converted, and is compared only with itself")
    if _kind(parsed[0]) != _kind(parsed[1]):
        money = [{name for name, _ in _kind(unit)[0] if name in CURRENCIES} for unit in parsed]
        if all(money) and money[0] != money[1]:
            return NotConverted("currencies are never converted")
        return NotConverted("they are of different dimensions")
    return _linear(parsed[0], parsed[1]) or NotConverted("they are not proportional to each other")


def _parsed(text: str) -> Any:
    """Pint's unit, None where it has none of that text."""
    if len(text) > _LONGEST or _WRITTEN.fullmatch(text) is None:
        return None
    try:
        return _registry().parse_units(text.replace("·", "*"))
    except Exception:  # Pint's parser lets through whatever Python raises on the text.
        return None


@cache
def _registry() -> Any:
    import pint

    registry: Any = pint.UnitRegistry(non_int_type=Fraction, cache_folder=None)
    for code in sorted(CURRENCIES):
        registry.define(f"{code} = [currency_{code}]")
    return registry


def _kind(unit: Any) -> tuple[frozenset[tuple[str, Any]], ...]:
    """What two units must have in common: roots that keep angles, bits and counts apart, as dimensions do not.

    Where everything cancels, as in hours in a week, what cancels counts too: that is no percentage.
    """
    registry = _registry()
    _, roots = registry.get_root_units(unit)
    root = _items(roots)
    if root:
        return (root,)
    over = registry.Unit(registry.UnitsContainer({name: power for name, power in unit._units.items() if power > 0}))
    return root, _items(registry.get_root_units(over)[1])


def _items(unit: Any) -> frozenset[tuple[str, Any]]:
    return frozenset((str(name), power) for name, power in unit._units.items())


def _linear(of: Any, to: Any) -> Conversion | None:
    quantity = _registry().Quantity
    try:
        zero, one, two = (quantity(Fraction(value), of).to(to).magnitude for value in range(3))
    except Exception:  # As above: units such as decibels meet operations that fractions have not.
        return None
    exact = all(isinstance(value, Fraction | int) for value in (zero, one, two))
    if not exact or two - one != one - zero or one <= zero:
        return None
    return Conversion(Fraction(one - zero), Fraction(zero))
