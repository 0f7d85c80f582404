"""Accepted members: breaches that somebody knows of, and answers for until a date.

An accepted member is still in breach: in the verdict, the counts, the badge and the samples. It neither fires an alert,
nor keeps one, nor makes one louder. That holds for its breach alone: once it cannot be judged, it alerts as any other.
An acceptance ends by itself, by the store's clock, and the next evaluation alerts as if it had never been.
"""

from __future__ import annotations

import json
import secrets
import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import sqlalchemy as sa

from alerts.keeping import ERASED_KEY
from alerts.states import MemberState
from alerts.tables import acceptance, alert_member
from ledger.append import append
from ledger.bound_rows import new_salt
from ledger.entries import EntryType
from ledger.reading import head
from trivet.canonical import Json, content_hash, normal_text
from trivet.clock import utc_text
from trivet.errors import UsageError
from trivet.findings import did_you_mean

PAYLOAD_VERSION = 1
_CHUNK = 500
_MOST_HINTS = 1_000


@dataclass(frozen=True, slots=True)
class Acceptance:
    """One member's breach, accepted until a date."""

    acceptance_id: str
    monitor: str
    member_key: str
    """As `monitors.evaluation.key_text` spells it."""
    owner: str
    """Who answers for it."""
    reason: str
    since: datetime
    until: datetime
    """It ends by itself at this instant: where `last_day` does."""
    last_day: date
    """The last day for which it holds, in the contract's time zone."""

    def key_words(self) -> str:
        """The member as people read it: `employee_id E1012`."""
        return key_words(self.member_key)

    def words(self) -> str:
        """Who, until when, and why, on one line."""
        return f"accepted by {self.owner} until {self.last_day}: {self.reason}"

    def to_json(self) -> dict[str, Json]:
        """As the commands show it."""
        is_erased = self.member_key.startswith(ERASED_KEY)
        return {
            "acceptance_id": self.acceptance_id,
            "monitor": self.monitor,
            "key": None if is_erased else json.loads(self.member_key),
            "owner": self.owner,
            "reason": self.reason,
            "since": utc_text(self.since),
            "until": utc_text(self.until),
            "last_day": self.last_day.isoformat(),
        }


@dataclass(frozen=True, slots=True)
class Term:
    """From when until when, by whom and why."""

    owner: str
    reason: str
    since: datetime
    until: datetime
    last_day: date
    """The last day that ends by `until`."""


def accept_members(connection: sa.Connection, monitor: str, keys: Sequence[str], term: Term) -> list[Acceptance]:
    """Accepts the breaches of some members, inside the caller's transaction. It never commits.

    Args:
        connection: the caller's.
        monitor: whose members.
        keys: as `monitors.evaluation.key_text` spells them.
        term: until when, by whom and why.

    Raises:
        UsageError: it would end before it begins, or a member is not in breach by the latest evaluation.
    """
    if term.until <= term.since:
        raise UsageError(f"{term.last_day} has passed already")
    # Whoever moves an alert holds the ledger's head: who is in breach stays so until this is committed.
    head(connection, for_update=True)
    _require_breached(connection, monitor, keys)
    made = [_acceptance(monitor, key, term) for key in dict.fromkeys(keys)]
    for item in made:
        salt = new_salt()
        connection.execute(acceptance.insert(), {**_row(item), "salt": salt})
        payload: dict[str, Json] = {
            "schema": PAYLOAD_VERSION,
            "monitor_id": monitor,
            "member": _member_hash(salt, item.member_key),
            **{name: value for name, value in item.to_json().items() if name not in ("monitor", "key")},
        }
        append(connection, EntryType.ACCEPTANCE, item.acceptance_id, payload)
    return made


def end_acceptances(
    connection: sa.Connection, monitor: str, keys: Collection[str] | None, owner: str, reason: str, now: datetime
) -> list[Acceptance]:
    """Ends the acceptances of some members of a monitor, inside the caller's transaction; of all, if none is named."""
    found = acceptances_of(connection, {monitor}, now)
    ended = [item for item in found if keys is None or item.member_key in keys]
    for item in ended:
        row = acceptance.c.acceptance_id == item.acceptance_id
        values = {"ended_at": utc_text(now), "ended_by": normal_text(owner)}
        connection.execute(sa.update(acceptance).where(row).values(values))
        payload: dict[str, Json] = {
            "schema": PAYLOAD_VERSION,
            "monitor_id": item.monitor,
            "acceptance_id": item.acceptance_id,
            "owner": normal_text(owner),
            "reason": normal_text(reason),
            "ended_at": utc_text(now),
        }
        append(connection, EntryType.ACCEPTANCE, f"{item.acceptance_id}/end", payload)
    return ended


def acceptances_of(connection: sa.Connection, monitors: Collection[str] | None, instant: datetime) -> list[Acceptance]:
    """What is accepted at an instant or later, of some monitors or of all, the first to end first."""
    holds = sa.and_(acceptance.c.until > utc_text(instant), acceptance.c.ended_at.is_(None))
    order = (acceptance.c.until, acceptance.c.monitor, acceptance.c.member_key, acceptance.c.acceptance_id)
    statement = sa.select(acceptance).where(holds).order_by(*order)
    if monitors is None:
        return [_read(row) for row in connection.execute(statement)]
    names, found = sorted(monitors), list[Acceptance]()
    for start in range(0, len(names), _CHUNK):
        chosen = acceptance.c.monitor.in_(names[start : start + _CHUNK])
        found += [_read(row) for row in connection.execute(statement.where(chosen))]
    return sorted(found, key=lambda item: item.until)


def accepted_days(found: Iterable[Acceptance], monitor: str, instant: datetime) -> dict[str, str]:
    """The members of a monitor whose breach is accepted at an instant: by key, the last day for which that holds."""
    days: dict[str, str] = {}
    for item in found:
        if item.monitor == monitor and item.since <= instant < item.until:
            days[item.member_key] = max(days.get(item.member_key, ""), item.last_day.isoformat())
    return days


def forget_acceptances(connection: sa.Connection, monitor: str, key: str) -> None:
    """Erases the key of a member from what was accepted, inside the caller's transaction; what holds, ends with it."""
    chosen = sa.and_(acceptance.c.monitor == monitor, acceptance.c.member_key == key)
    for row in connection.execute(sa.select(acceptance.c.acceptance_id).where(chosen)).all():
        erased = {"member_key": ERASED_KEY + secrets.token_hex(16), "salt": None}
        this = acceptance.c.acceptance_id == row.acceptance_id
        connection.execute(sa.update(acceptance).where(this).values(erased))


def key_words(member_key: str) -> str:
    """A member's key as people read it: `employee_id E1012`."""
    if member_key.startswith(ERASED_KEY):
        return "an erased member"
    found: Mapping[str, str | None] = json.loads(member_key)
    return ", ".join(f"{name} {'—' if value is None else value}" for name, value in found.items())


def _require_breached(connection: sa.Connection, monitor: str, keys: Sequence[str]) -> None:
    """A key that no breach has is a slip of the pen: what it was meant for would go on alerting."""
    breached = sa.and_(alert_member.c.monitor == monitor, alert_member.c.state == MemberState.BREACH.value)
    listed = sa.select(alert_member.c.member_key).where(breached).order_by(alert_member.c.member_key)
    for key in keys:
        if connection.execute(listed.where(alert_member.c.member_key == key)).one_or_none() is None:
            known = connection.execute(listed.limit(_MOST_HINTS)).scalars()
            hint = did_you_mean(key_words(key), [key_words(item) for item in known])
            advice = hint or f"; `trivet evaluate {monitor} --dry-run --json` lists those that are"
            raise UsageError(f"--key: no member {key_words(key)} is in breach by the latest evaluation{advice}")


def _acceptance(monitor: str, key: str, term: Term) -> Acceptance:
    owner, reason = normal_text(term.owner), normal_text(term.reason)
    return Acceptance(uuid.uuid4().hex, monitor, key, owner, reason, term.since, term.until, term.last_day)


def _member_hash(salt: str, key: str) -> str:
    """What the ledger holds in place of a key, which may have to be erased."""
    return content_hash({"member_key": key, "salt": salt})


def _row(item: Acceptance) -> dict[str, Any]:
    return {
        "acceptance_id": item.acceptance_id,
        "monitor": item.monitor,
        "member_key": item.member_key,
        "owner": item.owner,
        "reason": item.reason,
        "since": utc_text(item.since),
        "until": utc_text(item.until),
        "last_day": item.last_day.isoformat(),
    }


def _read(row: sa.Row[Any]) -> Acceptance:
    since, until = datetime.fromisoformat(row.since), datetime.fromisoformat(row.until)
    last_day = date.fromisoformat(row.last_day)
    return Acceptance(row.acceptance_id, row.monitor, row.member_key, row.owner, row.reason, since, until, last_day)
