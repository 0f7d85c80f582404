"""Keys of members as people write them: checked by name and type, and spelled as evaluations spell them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import TypeGuard

from catalog.contract import Contract
from catalog.datatypes import Kind
from monitors.definition import MonitorDefinition
from monitors.evaluation import key_text
from trivet.errors import UsageError
from trivet.findings import did_you_mean

_INTEGER = re.compile(r"-?(0|[1-9][0-9]*)")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def read_member_key(option: str, text: str, definition: MonitorDefinition, contract: Contract) -> str:
    """The key that `text` means, as `monitors.evaluation.key_text` spells it.

    Args:
        option: that it was given with, for messages.
        text: `NAME=VALUE`, a JSON object of names and values, or the value alone where the key has one part.
        definition: the monitor.
        contract: says what its key is.

    Raises:
        UsageError: it is no such text, names something else than the monitor's key, or a value is not of its type.
    """
    names = key_names(definition, contract)
    found = parse_member_key(option, text, names)
    for name in found:
        if name not in names:
            raise UsageError(f"{option}: a member of {definition.id} has no key '{name}'{did_you_mean(name, names)}")
    missing = [name for name in names if name not in found]
    if missing:
        raise UsageError(f"{option}: the key of {definition.id} is {_example(names)}; {', '.join(missing)} is missing")
    for name, value in found.items():
        wanted = None if value is None else _wanted(definition, contract, name, value)
        if wanted is not None:
            raise UsageError(f"{option}: {name}: expected {wanted}, not '{value}'")
    return key_text(found)


def key_names(definition: MonitorDefinition, contract: Contract) -> tuple[str, ...]:
    """The properties that tell the members of a monitor apart."""
    if definition.grouping is not None:
        return tuple(key.property for key in definition.grouping.keys)
    found = contract.object_type(definition.object)
    return found.primary_key if found is not None else ()


def parse_member_key(option: str, text: str, names: Sequence[str] = ()) -> dict[str, str | None]:
    """What `text` says, without a look at types.

    Raises:
        UsageError: it is neither a JSON object of texts nor `NAME=VALUE`, nor a value alone for a key of one part.
    """
    if text.startswith("{"):
        try:
            found = json.loads(text)
        except ValueError:
            raise UsageError(f"{option}: '{text}' is no JSON; write {_example(names)}") from None
        if not _is_key(found):
            advice = "write every value as text, as `trivet evaluate --json` prints it"
            raise UsageError(f"{option}: '{text}' is no key; {advice}")
        return dict(found)
    name, sign, value = text.partition("=")
    if len(names) == 1 and not (sign and name == names[0]) and (not sign or not name.isidentifier()):
        return {names[0]: text}
    if not sign or len(names) > 1:
        raise UsageError(f"{option}: '{text}' is no key; write {_example(names)}")
    return {name: value}


def _is_key(found: object) -> TypeGuard[Mapping[str, str | None]]:
    return isinstance(found, Mapping) and all(value is None or isinstance(value, str) for value in found.values())


def _example(names: Sequence[str]) -> str:
    if len(names) > 1:
        return "'" + json.dumps(dict.fromkeys(names, "...")) + "'"
    return f"{names[0] if names else 'NAME'}=VALUE"


def _wanted(definition: MonitorDefinition, contract: Contract, name: str, value: str) -> str | None:
    """What a value should have been; None where it is fine, or nobody can say."""
    of = contract.object_type(definition.object)
    found = of.find_property(name) if of is not None else None
    keys = definition.grouping.keys if definition.grouping is not None else ()
    if found is None or found.masked or any(key.property == name and key.period is not None for key in keys):
        # What stands for a masked key, or names a period, has no declared type.
        return None
    match found.type.kind:
        case Kind.INTEGER:
            return None if _INTEGER.fullmatch(value) else "a whole number such as 12"
        case Kind.DECIMAL | Kind.DOUBLE:
            return None if _is_number(value) else "a number such as 27.10"
        case Kind.BOOLEAN:
            return None if value in ("true", "false") else "true or false"
        case Kind.DATE:
            return None if _DATE.fullmatch(value) and _is_day(value) else "a date such as 2026-01-31"
        case Kind.TIMESTAMP:
            return None if _is_instant(value) else "a time such as 2026-01-31T06:00:00"
        case Kind.TEXT | Kind.DURATION:
            return None


def _is_number(text: str) -> bool:
    try:
        return Decimal(text).is_finite()
    except InvalidOperation:
        return False


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _is_instant(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
