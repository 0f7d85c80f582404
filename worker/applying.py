"""Publishing a workspace's contract and monitors: all at once, as one ledger entry, or not at all."""

from __future__ import annotations

import getpass
import logging
import os
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import sqlalchemy as sa

from ledger.append import Draft, append_all
from ledger.entries import EntryType
from ledger.reading import head, last_seq
from ledger.texts import missing_texts
from monitors.definition import Schedule
from trivet.clock import Clock, utc_text
from trivet.errors import TrivetError, UnavailableError
from worker.due import Refresh
from worker.in_force import Definitions, InForce, Superseded, last_publication
from worker.planned_slots import all_watermarks, begin_watermarks, note_refreshes
from worker.planning import Mark, Present, first_mark
from worker.publication import (
    Changes,
    Content,
    Publication,
    UnreadablePublication,
    changes,
    content_of,
    payload_of,
)
from worker.publishing import published_texts
from worker.set_backs import SetBack, set_back_draft
from worker.stores import read_only
from worker.workspace import Workspace

_MOST_TRIES = 5
"""Publications that may come in between before one gives up."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Applied:
    """What came of publishing."""

    changes: Changes
    seq: int | None
    """The ledger entry that is in force now; None where there is none yet."""
    published: bool
    """Whether that entry was written now."""


@dataclass(frozen=True, slots=True)
class Publisher:
    """Publishes to one store."""

    store: sa.Engine
    clock: Clock
    """The store's."""
    plan: Callable[[Definitions], object]
    """Writes down what came due by the definitions that are about to be replaced."""
    refreshes: Callable[[], Sequence[Refresh] | None] = lambda: None
    """The warehouses that were published; see `worker.refreshes`."""

    def compare(self, workspace: Workspace) -> Applied:
        """What would be published.

        Raises:
            InputError: the files are at fault.
        """
        before = self._last()
        return Applied(changes(_content(before), workspace_content(workspace)), _seq(before), published=False)

    def publish(self, workspace: Workspace, by: str, *, first_only: bool = False) -> Applied:
        """Publishes the files where they differ from what is in force.

        Args:
            workspace: the files, read.
            by: who does so.
            first_only: publishes only where nothing was published before.

        Raises:
            InputError: the files are at fault, and nothing was changed.
            UnavailableError: others published again and again meanwhile.
        """
        _, contract, monitors = workspace.require()
        content = workspace_content(workspace)
        for _ in range(_MOST_TRIES):
            before = self._last()
            different = changes(_content(before), content)
            if not different or (first_only and before is not None):
                return Applied(different, _seq(before), published=False)
            files = Definitions(0, content, contract, monitors)
            self._plan_until_now(before, files)
            by_refreshes = any(item.schedule is not None and item.schedule.after_refresh for item in monitors)
            published = self.refreshes() if by_refreshes else None
            try:
                with self.store.begin() as connection:
                    seq = self._write(connection, before, files, different, by, published)
            except Superseded:
                continue
            return Applied(different, seq, published=True)
        raise UnavailableError("others published again and again meanwhile; nothing was changed, try again")

    def _last(self) -> Publication | None:
        with read_only(self.store).connect() as connection:
            try:
                return last_publication(connection)
            except UnreadablePublication as error:
                seq = last_seq(connection, EntryType.PUBLICATION)
                raise UnavailableError(
                    f"this version cannot read ledger entry {seq}, which is in force: {error}; update trivet"
                ) from error

    def _plan_until_now(self, before: Publication | None, known: Definitions) -> None:
        """So that what came due by the old definitions is written down by them.

        Where that cannot be done, nothing is lost but this: the new schedules say what was due since the last plan.
        """
        if before is None:
            return
        try:
            found = InForce(self.store, known).current()
            if found is not None:
                self.plan(found)
        except Superseded:
            # Whoever it was has planned; that the files are to be compared anew is seen when they are written.
            return
        except TrivetError as error:
            _log.warning("what came due so far could not be planned before publishing: %s", error)

    def _write(
        self,
        connection: sa.Connection,
        before: Publication | None,
        files: Definitions,
        different: Changes,
        by: str,
        published: Sequence[Refresh] | None,
    ) -> int:
        # Planners hold the watermarks of what they plan, and look for a newer publication once they hold them. So with
        # all of them in hand no monitor is planned by the old definitions any more.
        marks = all_watermarks(connection)
        content, now = files.content, self.clock.now()
        beginning = _beginning(before, content, marks)
        touched = {*different.added, *(name for name, _ in different.changed)}
        present = Present(now, content.time_zone, published=published)
        first = {item.id: first_mark(item, present) for item in files.monitors if item.id in beginning | touched}
        back = _set_backs(beginning, marks, now)
        reached = {name: marks[name].planned_until for name in beginning & marks.keys()}
        reached |= {item.monitor: item.planned_until for item in back}
        # Not before what was planned already, lest slots be judged by two definitions.
        begun = {
            name: replace(first[name], planned_until=max(first[name].planned_until, reached.get(name, "")))
            for name in beginning
        }
        begin_watermarks(connection, begun)
        # A schedule that was changed to one after refreshes owes none of those before.
        seen = {name: mark.refresh for name, mark in first.items() if mark.refresh is not None}
        note_refreshes(connection, {name: text for name, text in seen.items() if not _followed(before, name)})
        until = {name: mark.planned_until for name, mark in (marks | begun).items()}
        planned_until: dict[str, str | None] = {**dict.fromkeys(content.monitors), **until}
        texts = published_texts(files.contract, [item for item in files.monitors if item.id in touched])
        lacking = missing_texts(connection, texts)
        head(connection, for_update=True)
        previous = _seq(before)
        if last_seq(connection, EntryType.PUBLICATION) != previous:
            raise Superseded
        payload = payload_of(content, different, planned_until, previous=previous, at=utc_text(now), by=by)
        publication = Draft(EntryType.PUBLICATION, uuid.uuid4().hex, payload)
        told = [set_back_draft(back, now)] if back else []
        return append_all(connection, [*lacking, *told, publication])[-1].seq


def person() -> str:
    """Who runs this process, as the operating system knows them."""
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return f"user {os.getuid()}"


def workspace_content(workspace: Workspace) -> Content:
    """What a workspace's files would publish.

    Raises:
        InputError: they are at fault.
    """
    _, contract, monitors = workspace.require()
    return content_of(contract, monitors, workspace.documents)


def _content(publication: Publication | None) -> Content | None:
    return publication.content if publication is not None else None


def _seq(publication: Publication | None) -> int | None:
    return publication.seq if publication is not None else None


def _beginning(before: Publication | None, content: Content, marks: Mapping[str, Mark]) -> set[str]:
    """The monitors that come due and were not due before.

    They begin now, since the time in which a monitor was absent or disabled is not due; any other goes on where it was
    planned until.
    """
    return {
        name
        for name, item in content.monitors.items()
        if item.schedule() is not None and not (name in marks and _was_due(before, name))
    }


def _set_backs(beginning: Collection[str], marks: Mapping[str, Mark], now: datetime) -> list[SetBack]:
    """The marks, of monitors that begin again, that a clock which ran ahead had left in the future."""
    back = {name: until for name in beginning if name in marks and (until := marks[name].set_back_to(now)) is not None}
    return [SetBack(name, marks[name].planned_until, until) for name, until in back.items()]


def _followed(before: Publication | None, monitor: str) -> bool:
    """Whether a monitor came due by refreshes until now."""
    try:
        schedule = _schedule(before, monitor)
    except UnreadablePublication:
        return False
    return schedule is not None and schedule.after_refresh


def _was_due(before: Publication | None, monitor: str) -> bool:
    """Whether a monitor with a watermark was being planned until now; before there were publications, each was."""
    try:
        return before is None or _schedule(before, monitor) is not None
    except UnreadablePublication:
        return True


def _schedule(before: Publication | None, monitor: str) -> Schedule | None:
    known = before.content.monitors.get(monitor) if before is not None else None
    return known.schedule() if known is not None else None
