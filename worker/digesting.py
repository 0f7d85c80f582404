"""Daily digests: which came due, and how every monitor stands. Written by whoever delivers, once for each day."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import sqlalchemy as sa

from alerts.accepting import Acceptance, acceptances_of
from alerts.assessing import share_text
from alerts.breakdowns import breakdowns
from alerts.digesting import DigestSlot, is_written, last_digest, write_digest
from alerts.digests import Digest, DigestMonitor, DigestNote, Standing, digest_of
from alerts.groups import MARK
from alerts.keeping import flagged_members
from alerts.outages import PREFIX as OUTAGE
from alerts.reading import NamedAlert, alerts_of
from alerts.rendering import about
from alerts.routing import Routing
from alerts.silencing import Silence, silences_after
from alerts.states import AlertKind, MemberState
from ledger.reading import head
from monitors.definition import MonitorDefinition, Schedule
from trivet.clock import Clock, utc_text
from trivet.digest_settings import DigestSettings
from trivet.verdicts import NotMadeReason, SlotCause, Verdict, badge
from worker.due import due_slots
from worker.failures import FailureLog
from worker.in_force import Definitions, InForce
from worker.overdue import Overdue, overdue_monitors
from worker.pauses import Pause, paused_now
from worker.stores import read_only
from worker.tables import evaluation

ON_TIME = timedelta(minutes=5)
"""A digest that is written later than this after it came due says so."""
_LOOKS_BACK = timedelta(days=2)
"""Longer than there is between two slots of a day's time, whatever the clock does."""
_CHUNK = 500


@dataclass(frozen=True, slots=True)
class Digester:
    """Writes the digests that the settings ask for."""

    store: sa.Engine
    in_force: InForce
    settings: Sequence[DigestSettings]
    routing: Routing
    clock: Clock
    grace: timedelta
    """How long after its start a slot may wait before its monitor is overdue."""
    failures: FailureLog = field(default_factory=lambda: FailureLog("a digest could not be written; it is tried again"))

    def write_due(self) -> list[DigestSlot]:
        """Writes down what came due and nobody wrote yet. Any number of processes may do so at once.

        Raises:
            UnavailableError: the store cannot be used, or what is in force cannot be read.
        """
        now = self.clock.now()
        found = self.in_force.current() if self.settings else None
        written = []
        for wanted in self.settings:
            slot = due_digest(wanted, self.zone(wanted, found), now)
            digest = self._read(wanted, found, slot, now) if slot is not None else None
            if slot is None or digest is None:
                continue
            with self.store.begin() as connection:
                # Whoever writes to the ledger holds its head: what is not written now is so until this is committed.
                head(connection, for_update=True)
                if not is_written(connection, slot):
                    write_digest(connection, slot, digest, self.routing, now)
                    written.append(slot)
        return written

    def write_quietly(self) -> None:
        """The same for a daemon: what goes wrong is logged, and keeps nothing from being sent."""
        with self.failures.watching():
            self.write_due()

    def _read(
        self, wanted: DigestSettings, found: Definitions | None, slot: DigestSlot, now: datetime
    ) -> Digest | None:
        """What a digest says; None where it was written already. Read before anything is locked."""
        with read_only(self.store).connect() as connection:
            return None if is_written(connection, slot) else self.digest(connection, wanted, found, slot, now)

    def digest(
        self,
        connection: sa.Connection,
        wanted: DigestSettings,
        found: Definitions | None,
        slot: DigestSlot,
        now: datetime,
    ) -> Digest:
        """What a digest says at an instant."""
        zone = self.zone(wanted, found)
        last = last_digest(connection, slot.receiver)
        late = now - slot.due > ON_TIME and last is not None
        monitors = [item for item in found.monitors if item.enabled] if found is not None else []
        opening = Digest(
            slot.day.isoformat(),
            shown_at(slot.due, zone),
            zone.key,
            shown_at(now, zone) if late else None,
            shown_at(last[0], zone) if last is not None else None,
            disabled=len(found.monitors) - len(monitors) if found is not None else 0,
        )
        scene = Scene.read(connection, monitors, found, now, self.grace, last[1] if last is not None else None)
        return scene.digest(opening, zone, wanted.ends_within)

    def zone(self, wanted: DigestSettings, found: Definitions | None) -> ZoneInfo:
        """On whose wall clock a digest comes due and shows times."""
        named = wanted.timezone or (found.contract.calendar.time_zone if found is not None else None)
        return ZoneInfo(named or "UTC")


def due_digest(wanted: DigestSettings, zone: ZoneInfo, now: datetime) -> DigestSlot | None:
    """The last digest that came due by an instant. Of those before it nobody wants to read any more.

    A time that the clock leaves out comes later by as much; of one that it shows twice the first counts.
    """
    hour, minute = wanted.at.split(":")
    schedule = Schedule(cron=f"{int(minute)} {int(hour)} * * *")
    slots = due_slots(schedule, zone, now - _LOOKS_BACK, now).slots
    if not slots:
        return None
    due = slots[-1].at
    return DigestSlot(wanted.receiver, due.astimezone(zone).date(), due.astimezone(UTC))


def shown_at(instant: datetime, zone: ZoneInfo) -> str:
    """An instant as people read it, on the wall clock of a zone."""
    return instant.astimezone(zone).strftime("%Y-%m-%d %H:%M")


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything in the store that a digest speaks of, read in one transaction."""

    monitors: Sequence[MonitorDefinition]
    now: datetime
    alerts: Sequence[NamedAlert]
    last: Mapping[str, sa.Row[Any]]
    """The latest evaluation of each monitor."""
    missed: Mapping[str, int]
    overdue: Mapping[str, Overdue]
    paused: Mapping[str, Pause]
    silences: Sequence[Silence]
    acceptances: Sequence[Acceptance]
    accepted: Mapping[str, int]
    """Members in breach whose breach is accepted, by monitor."""
    untold: Sequence[DigestNote]

    @classmethod
    def read(
        cls,
        connection: sa.Connection,
        monitors: Sequence[MonitorDefinition],
        found: Definitions | None,
        now: datetime,
        grace: timedelta,
        since: datetime | None,
    ) -> Scene:
        """Reads it."""
        names = {item.id for item in monitors}
        alerts = alerts_of(connection)
        acceptances = acceptances_of(connection, names, now)
        zone = found.contract.calendar.time_zone if found is not None else "UTC"
        return cls(
            monitors,
            now,
            alerts,
            _latest(connection, [item for item in alerts if item.monitor in names]),
            _missed(connection, names, since, now),
            {item.monitor: item for item in overdue_monitors(connection, monitors, zone, now, grace)},
            paused_now(connection, now),
            silences_after(connection, names, now),
            acceptances,
            _accepted(connection, acceptances, now),
            [
                DigestNote(str(item.target), item.since or item.disabled_at or utc_text(now), item.error)
                for item in breakdowns(connection)
            ],
        )

    def digest(self, opening: Digest, zone: ZoneInfo, ends_within: timedelta) -> Digest:
        """The digest of it."""
        of = {item.monitor: item for item in self.alerts if item.group is None}
        groups: dict[str, list[AlertKind | None]] = {}
        for item in self.alerts:
            if item.group is not None and item.status.state.is_open:
                groups.setdefault(item.monitor.partition(MARK)[0], []).append(item.status.kind)
        lines = [self._monitor(item.id, of.get(item.id), groups.get(item.id, []), zone) for item in self.monitors]
        outages = [
            _outage(item, zone) for item in self.alerts if item.monitor.startswith(OUTAGE) and item.status.state.is_open
        ]
        untold = [
            DigestNote(item.what, shown_at(datetime.fromisoformat(item.at), zone), item.words) for item in self.untold
        ]
        return digest_of(opening, lines, outages, list(self._ending(zone, ends_within)), untold)

    def _monitor(
        self, name: str, alert: NamedAlert | None, groups: Sequence[AlertKind | None], zone: ZoneInfo
    ) -> DigestMonitor:
        row, overdue, paused = self.last.get(name), self.overdue.get(name), self.paused.get(name)
        status = alert.status if alert is not None and alert.status.state.is_open else None
        told = {*groups, *([status.kind] if status is not None else [])}
        silenced = max(
            (item.until for item in self.silences if item.monitor == name and item.covers(self.now)), default=None
        )
        made = row is not None and row.population is not None
        return DigestMonitor(
            name,
            self._standing(name, row, told),
            badge=badge(row.breach, row.no_data) if row is not None and made else None,
            judged=_judged(row) if row is not None and made else None,
            not_made=row.reason if row is not None and not made else None,
            cause=row.cause if row is not None and not made else None,
            slot=shown_at(datetime.fromisoformat(row.scheduled_for), zone) if row is not None else None,
            alert=f"({about(status.kind)}) {status.state}" if status is not None else None,
            since=shown_at(status.since, zone) if status is not None and status.since is not None else None,
            acknowledged_by=status.acknowledged_by if status is not None else None,
            groups=len(groups),
            accepted=self.accepted.get(name, 0) if row is not None and row.breach else 0,
            silenced_until=shown_at(silenced, zone) if silenced is not None else None,
            paused_until=shown_at(paused.until, zone) if paused is not None else None,
            overdue_since=shown_at(datetime.fromisoformat(overdue.since), zone) if overdue is not None else None,
            missed=self.missed.get(name, 0),
        )

    def _standing(self, name: str, row: sa.Row[Any] | None, told: Collection[AlertKind | None]) -> Standing:
        """The worst that is true of a monitor.

        Args:
            name: the monitor.
            row: its latest evaluation.
            told: what its alert and those of its groups are about, while they are open.
        """
        if row is not None and row.verdict == Verdict.BREACH.value:
            return Standing.BREACH
        if AlertKind.BREACH in told or AlertKind.UNJUDGED in told:
            return Standing.FIRING
        if name in self.paused:
            return Standing.PAUSED
        if row is None:
            return Standing.OVERDUE if name in self.overdue else Standing.NEVER
        if row.population is None:
            return Standing.NOT_EVALUATED
        if row.verdict == Verdict.NO_DATA.value:
            return Standing.NO_DATA
        if told:
            return Standing.FIRING
        return Standing.OVERDUE if name in self.overdue else Standing.COMPLIANT

    def _ending(self, zone: ZoneInfo, within: timedelta) -> Iterator[DigestNote]:
        until = self.now + within
        ends: list[tuple[datetime, DigestNote]] = []
        for silence in self.silences:
            if silence.covers(self.now) and silence.until <= until:
                words = f"silence of {silence.owner}: {silence.reason}"
                ends.append((silence.until, DigestNote(silence.monitor, shown_at(silence.until, zone), words)))
        terms = Counter(
            (item.until, item.monitor, item.last_day, item.owner, item.reason)
            for item in self.acceptances
            if item.until <= until
        )
        for (end, monitor, last_day, owner, reason), count in terms.items():
            words = f"{count:,} member{'' if count == 1 else 's'} accepted by {owner}: {reason}"
            ends.append((end, DigestNote(monitor, last_day.isoformat(), words)))
        yield from (note for _, note in sorted(ends, key=lambda item: (item[0], item[1].what)))


def _latest(connection: sa.Connection, alerts: Sequence[NamedAlert]) -> dict[str, sa.Row[Any]]:
    """The evaluation at each alert's latest slot: replays and what was evaluated for later are not among them."""
    by_id = {item.status.evaluation_id: item.monitor for item in alerts if item.status.evaluation_id is not None}
    names, found = sorted(by_id), dict[str, sa.Row[Any]]()
    for start in range(0, len(names), _CHUNK):
        chosen = sa.select(evaluation).where(evaluation.c.evaluation_id.in_(names[start : start + _CHUNK]))
        found.update({by_id[row.evaluation_id]: row for row in connection.execute(chosen)})
    return found


def _missed(
    connection: sa.Connection, monitors: Collection[str], since: datetime | None, now: datetime
) -> dict[str, int]:
    """Slots that were recorded as not evaluated since an instant, but for those that somebody wanted so."""
    if since is None:
        return {}
    wanted = (SlotCause.PAUSED.value, SlotCause.REMOVED.value)
    chosen = sa.and_(
        # By the index; a slot is recorded a while after its instant.
        evaluation.c.scheduled_for > utc_text(since - _LOOKS_BACK),
        evaluation.c.reason == NotMadeReason.NOT_EVALUATED.value,
        evaluation.c.cause.not_in(wanted),
        evaluation.c.finished_at > utc_text(since),
        evaluation.c.finished_at <= utc_text(now),
    )
    counted = sa.select(evaluation.c.monitor, sa.func.count()).where(chosen).group_by(evaluation.c.monitor)
    names, found = sorted(monitors), dict[str, int]()
    for start in range(0, len(names), _CHUNK):
        rows = connection.execute(counted.where(evaluation.c.monitor.in_(names[start : start + _CHUNK])))
        found.update({row[0]: row[1] for row in rows})
    return found


def _accepted(connection: sa.Connection, acceptances: Sequence[Acceptance], now: datetime) -> dict[str, int]:
    holding = {(item.monitor, item.member_key) for item in acceptances if item.since <= now}
    flagged = flagged_members(connection, {monitor for monitor, _ in holding})
    breached = [
        monitor
        for monitor, key in holding
        if (item := flagged.get(monitor, {}).get(key)) is not None and item.now is MemberState.BREACH
    ]
    return dict(Counter(breached))


def _outage(item: NamedAlert, zone: ZoneInfo) -> DigestNote:
    message, since = item.message, item.status.since
    count = message.monitor_count if message is not None else 0
    why = (message.detail or message.cause or message.not_made or "") if message is not None else ""
    what = f"{count:,} monitor{'' if count == 1 else 's'} not judged"
    return DigestNote(what, shown_at(since, zone) if since is not None else "—", why)


def _judged(row: sa.Row[Any]) -> str | None:
    """The judged share of an evaluation's population in percent; None where that was empty."""
    return share_text((row.population - row.no_data, row.population)) if row.population else None
