"""Writing an alert change down: its row, its ledger entry, and one outbox row for each address that is told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import sqlalchemy as sa

from alerts.accepting import Acceptance, acceptances_of, accepted_days
from alerts.changes import Step
from alerts.ending import end_alerts
from alerts.groups import MOST_APART, MOST_GROUPS, GroupStep, advance_groups, name_of
from alerts.keeping import (
    Kept,
    as_group,
    flagged_members,
    forget_members,
    forget_told,
    group_alerts,
    kept_alerts,
    record_moves,
    write_alerts,
    write_members,
)
from alerts.members import Flagged, MemberChange
from alerts.message import Message, group_message, message_of
from alerts.outage_recording import Joined, settle_outages
from alerts.outages import covered_by, outage_of
from alerts.routing import Routing
from alerts.silencing import Silence, silences_after
from alerts.states import AlertState
from alerts.status import AlertChange, AlertStatus
from alerts.telling import Told, addressed, draft_of, send
from alerts.unwatching import OTHER_MEMBERS, is_about_members, is_reshaped
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
    changes = [change for item in sorted(made, key=lambda item: item.slot) for change in moving.move(item)]
    moving.end()
    return changes


def status_of(connection: sa.Connection, monitor: str) -> AlertStatus | None:
    """How the monitor's alert stands; None before its first evaluation."""
    found = kept_alerts(connection, {monitor}).get(monitor)
    return None if found is None else found.status


def _is_over(before: Kept | None, now: Kept) -> bool:
    """Whether an episode of a monitor's own alert ended."""
    was_open = before is not None and before.status.state.is_open
    return now.group_of is None and was_open and not now.status.state.is_open


@dataclass(frozen=True, slots=True)
class _Telling:
    """What may have to be told of one alert."""

    made: Evaluation
    step: Step
    message: Callable[[AlertChange], Message]
    covering: str | None
    """Whose alert tells of it in its place."""
    name: str
    """The alert's."""
    together: bool = False
    """Many groups move at once, and are told of in one message."""


@dataclass(slots=True)
class _Moving:
    """The alerts of one transaction's monitors, while they move."""

    connection: sa.Connection
    routing: Routing
    kept: dict[str, Kept]
    before: dict[str, Kept]
    flagged: dict[str, dict[str, Flagged]]
    silences: Sequence[Silence]
    accepted: Sequence[Acceptance]
    drafts: list[Draft] = field(default_factory=list)
    moved: dict[str, dict[str, MemberChange]] = field(default_factory=dict)
    joined: list[Joined] = field(default_factory=list)

    @classmethod
    def begin(cls, connection: sa.Connection, made: Sequence[Evaluation], routing: Routing) -> _Moving:
        monitors = {item.definition.id for item in made}
        kept = kept_alerts(connection, monitors) | group_alerts(connection, monitors)
        flagged = flagged_members(connection, monitors)
        earliest = min(item.finished_at for item in made)
        silences = silences_after(connection, {*monitors, *kept}, earliest)
        accepted = acceptances_of(connection, monitors, earliest)
        return cls(connection, routing, dict(kept), kept, flagged, silences, accepted)

    def move(self, made: Evaluation) -> list[AlertChange]:
        """Moves one monitor's alert on, and those of its groups."""
        name = made.definition.id
        last = self.kept.get(name, Kept())
        ended = self._end_unwatched(made, last)
        last = self.kept.get(name, last)
        outage = outage_of(made)
        # Before it is known whether it fires at all: an outage speaks for whatever cannot be judged because of it.
        covered = outage is not None or (last.outage is not None and isinstance(made.outcome, NotMade))
        silenced, accepted = self._is_silenced(made, name), accepted_days(self.accepted, name, made.finished_at)
        groups = [as_group(key, item) for key, item in self.kept.items() if item.group_of == name]
        stepped = advance_groups(
            last.status,
            groups,
            made,
            self.flagged.get(name, {}),
            muted=covered or silenced,
            is_muted=lambda group: self._is_silenced(made, name, name_of(name, group.number)),
            accepted=accepted,
            most=MOST_GROUPS if made.definition.alerting.per_group else 0,
        )
        step = stepped.monitor
        if step.status is last.status:
            return ended
        self._note(made, stepped.members, stepped.heard)
        covering = covered_by(last.outage, made, outage, tells=step.change is not None)
        if covering != last.outage or (covering is not None and outage is not None):
            self.joined.append(Joined(made, outage, step.status, covering, last.outage, silenced))
        tells = any(item.change or item.standing for item in (step, *(group.step for group in stepped.groups)))
        recorded = entry_about(self.connection, EntryType.EVALUATION, made.evaluation_id) if tells else None
        seq, flagged = recorded.seq if recorded else None, self.flagged.get(name, {})
        own = _Telling(made, step, lambda change: message_of(change, made, seq, accepted, flagged), covering, name)
        self.kept[name] = Kept(step.status, self._tell(own), covering)
        told = partial(group_message, ledger_seq=seq, whole=made, accepted=accepted, flagged=flagged)
        changes = [*ended, *([step.change] if step.change else [])]
        return [*changes, *self._move_groups(made, stepped.groups, told)]

    def _end_unwatched(self, made: Evaluation, last: Kept) -> list[AlertChange]:
        """Ends the alerts about members that this evaluation, and every later one, does not look at."""
        name = made.definition.id
        flagged = self.flagged.get(name, {})
        grouped = {key: item for key, item in self.kept.items() if item.group_of == name}
        own = {item.key for item in grouped.values() if item.key and item.status.state is not AlertState.QUIET}
        if not is_reshaped(last.status, own, flagged.keys(), made):
            return []
        rest = (item for key, item in flagged.items() if key not in own)
        kept = grouped | ({name: last} if is_about_members(last.status, rest) else {})
        ended = end_alerts(self.connection, kept, flagged, self.routing, made.finished_at, OTHER_MEMBERS)
        # While it could not be judged the monitor's alert told of a group; nobody needs to any more.
        self.kept |= {key: replace(item, outage=None) if item.group_of else item for key, item in ended.kept.items()}
        self.drafts += ended.drafts
        self.flagged[name] = {}
        self.moved.pop(name, None)
        forget_members(self.connection, [name])
        return ended.changes

    def _move_groups(
        self, made: Evaluation, steps: Sequence[GroupStep], message: Callable[..., Message]
    ) -> list[AlertChange]:
        monitor = made.definition.id
        loud = sum(item.step.change is not None and not item.step.change.muted for item in steps)
        changes = list[AlertChange]()
        for item in steps:
            name, step = name_of(monitor, item.alert.number), item.step
            if name not in self.kept and step.status.state is AlertState.QUIET:
                # Missing data that nobody wants to hear of begins no alert, and neither does what is accepted.
                continue
            told = partial(message, part=item.part, alert=item.alert)
            # While it cannot be judged, the monitor's own alert tells of it.
            covering = monitor if isinstance(made.outcome, NotMade) else None
            telling = _Telling(made, step, told, covering, name, together=loud > MOST_APART)
            self.kept[name] = Kept(step.status, self._tell(telling), covering, monitor, item.alert.key)
            changes += [step.change] if step.change else []
        return changes

    def end(self) -> None:
        """Writes everything that moved."""
        outages = settle_outages(self.connection, self.joined, self.routing)
        self.drafts += outages
        moved = {name: item for name, item in self.kept.items() if item != self.before.get(name)}
        write_alerts(self.connection, moved, self.before)
        for name, members in self.moved.items():
            write_members(self.connection, name, list(members.values()))
        ended = [name for name, item in moved.items() if _is_over(self.before.get(name), item)]
        forget_told(self.connection, ended)
        append_all(self.connection, self.drafts)

    def _is_silenced(self, made: Evaluation, *names: str) -> bool:
        return any(item.monitor in names and item.covers(made.finished_at) for item in self.silences)

    def _note(self, made: Evaluation, changed: Sequence[MemberChange], heard: Sequence[MemberChange]) -> None:
        name = made.definition.id
        known = self.flagged.setdefault(name, {})
        for item in (*changed, *heard):
            known[item.key] = item.after
            self.moved.setdefault(name, {})[item.key] = item
        self.drafts += record_moves(self.connection, made, changed)

    def _tell(self, telling: _Telling) -> str | None:
        """Writes what is to be sent, and gives the message that repetitions are made of."""
        step = telling.step
        if step.change is not None:
            self._send(telling, step.change)
        return telling.message(step.standing).to_json() if step.standing is not None else None

    def _send(self, telling: _Telling, change: AlertChange) -> None:
        made, definition = telling.made, telling.made.definition
        told = Told(telling.name, change, telling.message(change).to_json(), (), made.finished_at)
        told = addressed(self.connection, told, definition, self.routing, together=telling.together)
        about: dict[str, Json] = {
            "evaluation_id": made.evaluation_id,
            "definition_hash": definition.definition_hash,
            "scheduled_for": utc_text(made.slot),
            "state": telling.step.status.state,
            "verdict": made.verdict,
            **({"outage": telling.covering} if telling.covering else {}),
        }
        self.drafts.append(draft_of(told, send(self.connection, told, self.routing), about))
