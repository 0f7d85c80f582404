"""The settings of the warehouse: a section of `trivet/settings.py`, which stands for all of them."""

from __future__ import annotations

from typing import Annotated, Literal

from trivet.fields import Between, SizeText, Text
from trivet.validation import StrictModel


class WarehouseSettings(StrictModel):
    """Where the raw tables and governed views are, and what an evaluation may use of the machine."""

    engine: Literal["duckdb"] = "duckdb"
    path: Text = "warehouse.duckdb"
    """The warehouse's file, from the workspace."""
    keep: Annotated[int, Between(1, 1000)] = 7
    """How many past files stay for replay."""
    memory: SizeText | None = None
    """Memory of one batch; half of the machine's, shared by all that run at one time, if absent."""
    threads: Annotated[int, Between(1, 1024)] | None = None
    """Threads of one batch; the machine's processors, shared by all that run at one time, if absent."""
    spill: Text | None = None
    """Where a batch writes what does not fit into its memory, from the workspace; the system's temporary folder if
    absent."""
    spill_limit: SizeText = "10GB"
    """How much it may write there."""
