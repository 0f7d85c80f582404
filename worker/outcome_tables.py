"""The audit table of questions: one row for each, however it ended.

As in `worker.tables`, times are canonical UTC text and JSON is canonical text; every row is bound to its ledger
entry, so it is written once and never updated.
"""

from __future__ import annotations

import sqlalchemy as sa

from trivet.metadata import metadata

outcome = sa.Table(
    "outcome",
    metadata,
    sa.Column("request_id", sa.Text, primary_key=True),
    sa.Column("asked_at", sa.Text, nullable=False),
    sa.Column("finished_at", sa.Text, nullable=False),
    # Who asked, as the caller says; NULL where nobody was named.
    sa.Column("asker", sa.Text),
    sa.Column("question", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    # The audit word: compliant, breach or no_data.
    sa.Column("verdict", sa.Text, nullable=False),
    sa.Column("reason_code", sa.Text),
    sa.Column("clause", sa.Text),
    sa.Column("answer", sa.Text),
    sa.Column("refusal", sa.Text),
    # The sentence that was held back; NULL where none was.
    sa.Column("draft", sa.Text),
    sa.Column("contract_id", sa.Text, nullable=False),
    sa.Column("contract_version", sa.Text, nullable=False),
    sa.Column("contract_hash", sa.Text, nullable=False),
    # JSON: the whole outcome document, without the ledger's number.
    sa.Column("document", sa.Text, nullable=False),
    # JSON list: every proposal, the reply as it came, and what became of it.
    sa.Column("candidates", sa.Text, nullable=False),
    # JSON: identity of the data that was read.
    sa.Column("snapshot", sa.Text),
    # Hashed together with what may be erased (`ledger.bound_rows`); NULL once it was.
    sa.Column("salt", sa.Text),
    # The hash of what was erased.
    sa.Column("erased", sa.Text),
    sa.Index(None, "asked_at"),
)
