"""The calendar of a contract file where a governed table says when its periods begin and end."""

from __future__ import annotations

from trivet.fields import Name
from trivet.validation import StrictModel


class CalendarTableModel(StrictModel):
    """A governed view whose rows are periods."""

    object: Name
    """The object type of its rows."""
    label: Name
    """Property with what the period is called, such as 2024 or FY2024."""
    start: Name
    """Property with its first day."""
    end: Name
    """Property with its last day."""
    entity: Name | None = None
    """Property that says whose period it is; other object types have it under the same name."""
