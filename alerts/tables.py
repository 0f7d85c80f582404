"""Where alerts are kept: how each monitor's alert stands, what waits to be sent, and who cannot be told.

All times are canonical UTC text. Rows of these tables are updated and none is hashed: what is to be proven, the
change of an alert and the end of a delivery, is in the ledger.
"""

from __future__ import annotations

import sqlalchemy as sa

from trivet.metadata import metadata

alert = sa.Table(
    "alert",
    metadata,
    sa.Column("monitor", sa.Text, primary_key=True),
    sa.Column("state", sa.Text, nullable=False),
    # What it is about; NULL while quiet.
    sa.Column("kind", sa.Text),
    # The slot at which it left order, or came back to it.
    sa.Column("since", sa.Text),
    # The latest slot that was looked at.
    sa.Column("slot", sa.Text, nullable=False),
    # Evaluations in a row towards `for`.
    sa.Column("pending", sa.BigInteger, nullable=False),
    sa.Column("episode", sa.BigInteger, nullable=False),
    # What was told in this episode, and the kind that was last told.
    sa.Column("events", sa.BigInteger, nullable=False),
    sa.Column("told", sa.Text),
    sa.Column("evaluation_id", sa.Text, nullable=False),
)

outbox = sa.Table(
    "outbox",
    metadata,
    # SHA-256 over receiver, target, monitor, episode, event and ordinal: one notice is one row, whoever races.
    sa.Column("alert_key", sa.Text, primary_key=True),
    sa.Column("monitor", sa.Text, nullable=False),
    sa.Column("episode", sa.BigInteger, nullable=False),
    sa.Column("ordinal", sa.BigInteger, nullable=False),
    sa.Column("event", sa.Text, nullable=False),
    # The receiver's name in the settings, and which of its addresses, from 1.
    sa.Column("receiver", sa.Text, nullable=False),
    sa.Column("target", sa.BigInteger, nullable=False),
    # JSON: the message, exactly as a webhook posts it.
    sa.Column("payload", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("attempts", sa.BigInteger, nullable=False),
    # When it is due; while attempting, when the attempt is taken for dead; NULL once it ended.
    sa.Column("next_attempt", sa.Text),
    # Without secrets.
    sa.Column("last_error", sa.Text),
    sa.Column("created_at", sa.Text, nullable=False),
    sa.Column("ended_at", sa.Text),
    sa.Index(None, "state", "next_attempt"),
    sa.Index(None, "monitor", "episode"),
)

breakdown = sa.Table(
    "breakdown",
    metadata,
    # One row for each address that something was given up for.
    sa.Column("receiver", sa.Text, primary_key=True),
    sa.Column("target", sa.BigInteger, primary_key=True),
    # How many breakdowns it had; the number of the one that is under way, or was the last.
    sa.Column("episode", sa.BigInteger, nullable=False),
    # When the first notice of this breakdown was given up; NULL once it took one again.
    sa.Column("since", sa.Text),
    # Since when nothing is sent there, because it said that it is gone for good; NULL otherwise.
    sa.Column("disabled_at", sa.Text),
    # Without secrets.
    sa.Column("error", sa.Text),
    # The receiver that was told of it; NULL where nobody was left.
    sa.Column("told", sa.Text),
)
