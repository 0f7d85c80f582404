"""Values as people read them: exact, and without needless zeros."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal

from evals.oracle.outcomes import Duration, Instant, Value


def shown(value: Value) -> str | None:
    """The text of a value; None for a duration, of which only the text that was read is ever shown."""
    match value:
        case bool():
            return "true" if value else "false"
        case Instant(microseconds=micros):
            moment = datetime(1970, 1, 1) + timedelta(microseconds=micros)
            return f"{moment.isoformat(timespec='microseconds').rstrip('0').rstrip('.')}Z"
        case date():
            return value.isoformat()
        case Decimal():
            text = f"{value:f}"
            return text.rstrip("0").rstrip(".") if "." in text else text
        case Duration():
            return None
        case str():
            return value
        case int() | float():
            return str(value)
