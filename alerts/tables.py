"""Where alerts are kept: how an alert stands, whom it follows, what waits to be sent, and who cannot be told.

All times are canonical UTC text. Rows are updated and not hashed: what is to be proven, the change of an alert and the
end of a delivery, is in the ledger. `member_change` alone is written once, and bound by its ledger entry.
"""

from __future__ import annotations

import sqlalchemy as sa

from ledger.bound_rows import Binding, BoundTable
from ledger.entries import EntryType
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
    # JSON: what else is known of it (`alerts.status`). NULL in rows from before there was more.
    sa.Column("detail", sa.Text),
    # JSON: the message as the latest evaluation has it, while it fires; repetitions are made of it.
    sa.Column("message", sa.Text),
    # The outage, or the monitor's own alert, that tells of it in its place.
    sa.Column("outage", sa.Text),
    # Of a group's alert: the monitor, and the group's key, as `alert_member` spells it. NULL otherwise.
    sa.Column("group_of", sa.Text),
    sa.Column("member_key", sa.Text),
    sa.Index("ix_alert_outage", "outage"),
    sa.Index("ix_alert_group_of", "group_of"),
)

# Members that are followed, as they stood after the latest evaluation that could say. A row goes with its member's end,
# or, if people were told of the member, with that of the episode.
alert_member = sa.Table(
    "alert_member",
    metadata,
    sa.Column("monitor", sa.Text, primary_key=True),
    # JSON in ASCII: key property -> value as text.
    sa.Column("member_key", sa.Text, primary_key=True),
    sa.Column("state", sa.Text, nullable=False),
    # It breached, and was not seen compliant since.
    sa.Column("breached", sa.Boolean, nullable=False),
    # The slot from which on it stands so.
    sa.Column("since", sa.Text, nullable=False),
    # The episode in which people were told that it breached and cannot be judged; 0: in none.
    sa.Column("told", sa.BigInteger, nullable=False, server_default="0"),
)

FOLLOWED = sa.and_(alert_member.c.state != "compliant", sa.or_(alert_member.c.breached, alert_member.c.state != "gone"))
"""Members that are looked for again."""

# How members moved from one evaluation to the next; of each move one row, which is bound.
member_change = sa.Table(
    "member_change",
    metadata,
    sa.Column("evaluation_id", sa.Text, primary_key=True),
    sa.Column("ordinal", sa.BigInteger, primary_key=True, autoincrement=False),
    # JSON in ASCII: key property -> value as text.
    sa.Column("member_key", sa.Text, nullable=False),
    # How it stood before; NULL where it was not flagged.
    sa.Column("was", sa.Text),
    sa.Column("state", sa.Text, nullable=False),
    # Hashed together with what may be erased (`ledger.bound_rows`); NULL once it was.
    sa.Column("salt", sa.Text),
    # The hash of what was erased.
    sa.Column("erased", sa.Text),
)

MEMBER_CHANGE_BINDING = Binding(
    EntryType.MEMBER_CHANGES,
    (BoundTable(member_change, subject="evaluation_id", order=("ordinal",), erasable={"member_key": "{}"}),),
)
"""The moves of an evaluation's members."""

# When nobody wants to hear of monitors. A row is written once, but for its end before time.
silence = sa.Table(
    "silence",
    metadata,
    sa.Column("silence_id", sa.Text, primary_key=True),
    sa.Column("monitor", sa.Text, nullable=False),
    # Who answers for it, and why.
    sa.Column("owner", sa.Text, nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("since", sa.Text, nullable=False),
    sa.Column("until", sa.Text, nullable=False),
    # When it was ended before its time, and by whom.
    sa.Column("ended_at", sa.Text),
    sa.Column("ended_by", sa.Text),
    sa.Index(None, "until"),
)

# Members whose breach somebody answers for until a date. A row is written once, but for its end before time.
acceptance = sa.Table(
    "acceptance",
    metadata,
    sa.Column("acceptance_id", sa.Text, primary_key=True),
    sa.Column("monitor", sa.Text, nullable=False),
    # JSON in ASCII: key property -> value as text. The ledger holds its hash, with the salt.
    sa.Column("member_key", sa.Text, nullable=False),
    # NULL once the key was erased.
    sa.Column("salt", sa.Text),
    # Who answers for it, and why.
    sa.Column("owner", sa.Text, nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("since", sa.Text, nullable=False),
    # The instant at which the last day ends.
    sa.Column("until", sa.Text, nullable=False),
    sa.Column("last_day", sa.Text, nullable=False),
    # When it was ended before its time, and by whom.
    sa.Column("ended_at", sa.Text),
    sa.Column("ended_by", sa.Text),
    sa.Index(None, "monitor", "until"),
)

outbox = sa.Table(
    "outbox",
    metadata,
    # SHA-256 over receiver, target, monitor, episode, event and ordinal: one notice is one row, whoever races. Of a
    # gathered message, over receiver, target and the keys of its notices.
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
    # JSON: the group in which it waits for others (`alerts.grouping`); NULL where it is sent by itself.
    sa.Column("group_key", sa.Text),
    # When it stopped waiting for others of its group.
    sa.Column("gathered_at", sa.Text),
    # The row of the gathered message that it is part of; NULL where it was sent by itself.
    sa.Column("gathered_in", sa.Text),
    sa.Index(None, "state", "next_attempt"),
    sa.Index(None, "monitor", "episode"),
    sa.Index(None, "group_key", "gathered_at"),
    sa.Index(None, "gathered_in"),
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
