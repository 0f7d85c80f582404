"""Writing an alert change down: its row, its ledger entry, and one outbox row for each address that is told."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import sqlalchemy as sa

from alerts.changes import Step, advance
from alerts.keeping import Kept, flagged_members, kept_alerts, record_moves, write_alerts, write_members
from alerts.members import Flagged, MemberChange
from alerts.message import message_of
from alerts.outage_recording import Joined, settle_outages
from alerts.outages import covered_by, outage_of
from alerts.routing import Routing
from alerts.silencing import Silence, silences_after
from alerts.status import AlertChange, AlertStatus
from alerts.telling import Told, addressed, draft_of, send
from ledger.append import Draft, append_all
from ledger.entries import EntryType
from ledger.reading import entry_about
from monitors.evaluation import Evaluation, NotMade
from trivet.canonical import Json
from trivet.clock import utc_text


def apply(connection: sa.Connection, made: Evaluation, routing: Routing) -> AlertChange | None:
    """Moves the alert of one evaluation's monitor on; see `apply_all`."""
    return next(iter(apply_all(connection, [made], routing)), None)


def apply_all(connection: sa.Connection, made: Sequence[Evaluation], routing: Routing) -> list[AlertChange]:
    """Moves the monitors' alerts on, inside the evaluations' transaction, in the order of slots. It never commits.

    Call it after the evaluations were recorded: a message names its evaluation's ledger entry, and the lock on the
    ledger's head keeps two evaluations of one monitor from moving the alert at the same time.

    Returns:
        What was recorded of the monitors' alerts, told or not; outages are left out.
    """
    if not made:
        return []
    moving = _Moving.begin(connection, made, routing)
    changes = [moving.move(item) for item in sorted(made, key=lambda item: item.slot)]
    moving.end()
    return [change for change in changes if change is not None]


def status_of(connection: sa.Connection, monitor: str) -> AlertStatus | None:
    """How the monitor's alert stands; None before its first evaluation."""
    found = kept_alerts(connection, {monitor}).get(monitor)
    return None if found is None else found.status


@dataclass(slots=True)
class _Moving:
    """The alerts of one transaction's monitors, while they move."""

    connection: sa.Connection
    routing: Routing
    kept: dict[str, Kept]
    before: dict[str, Kept]
    flagged: dict[str, dict[str, Flagged]]
    silences: Sequence[Silence]
    drafts: list[Draft] = field(default_factory=list)
    moved: dict[str, dict[str, MemberChange]] = field(default_factory=dict)
    joined: list[Joined] = field(default_factory=list)

    @classmethod
    def begin(cls, connection: sa.Connection, made: Sequence[Evaluation], routing: Routing) -> _Moving:
        monitors = {item.definition.id for item in made}
        kept = kept_alerts(connection, monitors)
        flagged = flagged_members(connection, monitors)
        silences = silences_after(connection, monitors, min(item.finished_at for item in made))
        return cls(connection, routing, dict(kept), kept, flagged, silences)

    def move(self, made: Evaluation) -> AlertChange | None:
        """Moves one monitor's alert on."""
        name = made.definition.id
        last = self.kept.get(name, Kept())
        outage = outage_of(made)
        # Before it is known whether it fires at all: an outage speaks for whatever cannot be judged because of it.
        covered = outage is not None or (last.outage is not None and isinstance(made.outcome, NotMade))
        step = advance(last.status, made, self.flagged.get(name, {}), muted=covered or self._is_silenced(made))
        if step.status is last.status:
            return None
        self._note(made, step.members)
        covering = covered_by(last.outage, made, outage, tells=step.change is not None)
        if covering != last.outage:
            self.joined.append(Joined(made, outage, step.status, covering, last.outage))
        message = self._tell(made, step, covering) if step.change or step.standing else None
        self.kept[name] = Kept(step.status, message, covering)
        return step.change

    def end(self) -> None:
        """Writes everything that moved."""
        outages = settle_outages(self.connection, self.joined, self.routing)
        self.drafts += outages
        moved = {name: item for name, item in self.kept.items() if item != self.before.get(name)}
        write_alerts(self.connection, moved, self.before)
        for name, members in self.moved.items():
            write_members(self.connection, name, list(members.values()))
        append_all(self.connection, self.drafts)

    def _is_silenced(self, made: Evaluation) -> bool:
        return any(item.monitor == made.definition.id and item.covers(made.finished_at) for item in self.silences)

    def _note(self, made: Evaluation, changes: Iterable[MemberChange]) -> None:
        name, changed = made.definition.id, list(changes)
        known = self.flagged.setdefault(name, {})
        for item in changed:
            known[item.key] = item.after
            self.moved.setdefault(name, {})[item.key] = item
        self.drafts += record_moves(self.connection, made, changed)

    def _tell(self, made: Evaluation, step: Step, covering: str | None) -> str | None:
        """Writes what is to be sent, and gives the message that repetitions are made of."""
        recorded = entry_about(self.connection, EntryType.EVALUATION, made.evaluation_id)
        seq = recorded.seq if recorded else None
        if step.change is not None:
            self._send(made, step.change, seq, step.status, covering)
        return message_of(step.standing, made, seq).to_json() if step.standing is not None else None

    def _send(
        self, made: Evaluation, change: AlertChange, seq: int | None, status: AlertStatus, covering: str | None
    ) -> None:
        definition = made.definition
        told = Told(definition.id, change, message_of(change, made, seq).to_json(), (), made.finished_at)
        told = addressed(self.connection, told, definition, self.routing)
        about: dict[str, Json] = {
            "evaluation_id": made.evaluation_id,
            "definition_hash": definition.definition_hash,
            "scheduled_for": utc_text(made.slot),
            "state": status.state,
            "verdict": made.verdict,
            **({"outage": covering} if covering else {}),
        }
        self.drafts.append(draft_of(told, send(self.connection, told, self.routing), about))
