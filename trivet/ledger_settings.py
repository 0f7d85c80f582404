"""The settings of the ledger: a section of `trivet/settings.py`, which stands for all of them."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from trivet.fields import Between, DurationText, Text
from trivet.references import Reference
from trivet.validation import StrictModel


class LedgerSettings(StrictModel):
    """How the ledger is vouched for: who signs its checkpoints, and where copies of them are kept."""

    key: Reference | None = None
    """The private key that signs checkpoints, as `trivet ledger key new` makes it; without one there are none."""
    keys: tuple[Text, ...] = ()
    """Public keys by which checkpoints are checked besides that of `key`: older ones, or all if `key` is elsewhere."""
    witnesses: tuple[Text, ...] = ("checkpoints.txt",)
    """Files that each checkpoint is appended to, from the workspace; on another volume or host where it matters."""
    checkpoint_entries: Annotated[int, Between(1, 1_000_000)] = 1000
    """A checkpoint is due after so many entries."""
    checkpoint_every: DurationText = timedelta(minutes=5)
    """And after so long, if there is any entry since the last."""
