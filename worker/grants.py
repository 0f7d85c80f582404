"""What the role that Trivet runs as needs on PostgreSQL, and no more: it may add to the ledger and never change it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import worker.tables  # noqa: F401 (registers its tables)
from trivet.errors import UsageError
from worker.outcomes import BINDINGS
from worker.store_tables import store_tables

_ROLE = re.compile(r"[A-Za-z_][A-Za-z0-9_$]{0,62}")
APPENDED = frozenset({"ledger_entry", *(part.table.name for binding in BINDINGS for part in binding.tables)})
"""Tables whose rows are written once."""

CLEARED = frozenset({"alert_member"})
"""Tables whose rows go once nobody needs them: nothing is proven by them."""


def grants(role: str) -> Iterator[str]:
    """SQL statements for the owner of the store, which give a role what Trivet needs to run.

    Raises:
        UsageError: the name is none that needs no quotes.
    """
    if not _ROLE.fullmatch(role):
        raise UsageError(f"'{role}' is no plain name of a role: letters, digits, _ and $")
    yield f'GRANT USAGE ON SCHEMA public TO "{role}";'
    yield f'GRANT SELECT ON alembic_version TO "{role}";'
    for table in sorted(item.name for item in store_tables()):
        yield f'REVOKE ALL ON {table} FROM "{role}";'
        # The head row is there from the beginning, and moves.
        rights = "INSERT, SELECT" if table in APPENDED else "INSERT, SELECT, UPDATE"
        rights = "INSERT, SELECT, UPDATE, DELETE" if table in CLEARED else rights
        rights = "SELECT, UPDATE" if table == "ledger_head" else rights
        yield f'GRANT {rights} ON {table} TO "{role}";'
