"""The settings of daily digests: a section of `trivet/settings.py`, which stands for all of them."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Annotated

from pydantic import BeforeValidator, WithJsonSchema, model_validator

from trivet.clock import is_time_zone
from trivet.faults import Fault, expected, refused
from trivet.fields import DurationText, Text
from trivet.validation import StrictModel

_TIME = r"([01][0-9]|2[0-3]):[0-5][0-9]"


def _read_time(value: object) -> str:
    if not isinstance(value, str) or not re.fullmatch(_TIME, value):
        raise expected("a time of day such as 07:30")
    return str(value)


TimeOfDay = Annotated[str, BeforeValidator(_read_time), WithJsonSchema({"type": "string", "pattern": f"^{_TIME}$"})]
"""Hours and minutes on the wall clock: `07:30`."""


class DigestSettings(StrictModel):
    """How every monitor stands, told to one receiver once a day, also when all is quiet."""

    at: TimeOfDay
    """When, on the wall clock. A time that the clock leaves out comes later by as much; of one that it shows twice, the
    first counts."""
    receiver: Text
    timezone: Text | None = None
    """IANA name; the contract's time zone if absent."""
    ends_within: DurationText = timedelta(days=7)
    """Silences and acceptances that end so soon are told of."""

    @model_validator(mode="after")
    def _is_somewhere(self) -> DigestSettings:
        if self.timezone is not None and not is_time_zone(self.timezone):
            raise refused(
                Fault(("timezone",), f"'{self.timezone}' is no time zone; use an IANA name such as Australia/Sydney")
            )
        return self
