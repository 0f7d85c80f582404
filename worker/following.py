"""Looking for members that were flagged before and are neither breached nor undecided now.

Whether such a member is compliant, or not there any more, no count tells. So they are looked up by their keys, on the
snapshot that was judged, with the text of the monitor's own condition: a member is compliant where `not (breach_when)`
is true, which is where `breach_when` is decided and false.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from datetime import datetime

import sqlalchemy as sa

from alerts.keeping import keys_to_look_up
from alerts.members import MOST_BREACHED, MOST_UNDECIDED
from catalog.contract import Contract
from catalog.engines.port import EngineFault, Snapshot
from catalog.expressions.tree import And, Condition, Exists, Not, Presence, PropertyRef
from catalog.expressions.walking import condition_links
from compiler.decoding import member_reader
from monitors.definition import MonitorDefinition
from monitors.evaluation import Followed, Member, MissingKey, NotMade
from monitors.masking import Mask
from trivet.errors import UnavailableError
from trivet.verdicts import Reason, Verdict
from worker.baselines import DamagedHistory, LookBack, prepare
from worker.judging import (
    RECORDED_MEMBERS,
    UNMASKED,
    Judgement,
    clock_of,
    compiled_monitor,
    involved_objects,
    physical_columns,
    time_left,
    time_limit,
)
from worker.stores import read_only

MOST_MISSING = 100
"""Keys without a linked row that are told of one link, those of most members first."""
_log = logging.getLogger(__name__)


class FlaggedKeys:
    """The keys of the members that the alerts of a batch's monitors follow, while the batch is judged."""

    def __init__(self, store: sa.Engine | None, monitors: Collection[str]) -> None:
        """Args: the audit store, None for a dry run; the monitors.

        Raises:
            UnavailableError: the store cannot be used.
        """
        self._keys: dict[str, set[str]] = {}
        if store is not None and monitors:
            with read_only(store).connect() as connection:
                self._keys = keys_to_look_up(connection, monitors)

    def of(self, monitor: str) -> Collection[str]:
        """Those of one monitor."""
        return self._keys.get(monitor, ())

    def judged(self, definition: MonitorDefinition, judged: Judgement) -> None:
        """What the batch's next slot of the same monitor is to look for, besides."""
        flagged = (*judged.breached[:MOST_BREACHED], *judged.undecided[:MOST_UNDECIDED])
        if flagged:
            self._keys.setdefault(definition.id, set()).update(item.key_text for item in flagged)


@dataclass(frozen=True, slots=True)
class Looking:
    """What is needed to look members up."""

    contract: Contract
    snapshot: Snapshot
    mask: Callable[[], Mask]
    look_back: LookBack

    def follow(
        self, definition: MonitorDefinition, at: datetime, flagged: Collection[str], judged: Judgement
    ) -> tuple[Followed | None, bool]:
        """What became of the flagged members, and whether the snapshot answers nothing more.

        Whatever goes wrong is no evidence: then nothing is known of them, and an alert about them stays.

        Args:
            definition: the monitor.
            at: the slot's instant.
            flagged: keys as `monitors.evaluation.key_text` spells them.
            judged: what the monitor came to.
        """
        if isinstance(judged.outcome, NotMade) or judged.spoilt:
            return None, judged.spoilt
        if not flagged:
            return Followed(), False
        if judged.recorded_truncated and Reason.SOURCE_STALE in judged.outcome.no_data_reasons:
            # Nobody is compliant, though the condition says so of those that are beyond what is recorded.
            return None, False
        found = {item.key_text for item in (*judged.breached, *judged.undecided)}
        asked = frozenset(flagged) - found
        if not asked:
            return Followed(), False
        try:
            compliant = self._keys_where(definition, Not(definition.breach_when), at, asked)
            recover = definition.alerting.recover_when
            recovered = compliant if recover is None else compliant & self._keys_where(definition, recover, at, asked)
            return Followed(asked, recovered, compliant - recovered), False
        except (EngineFault, DamagedHistory, UnavailableError) as error:
            # Not its text, which may quote values.
            _log.warning("members that were flagged could not be looked up: %s", type(error).__name__)
            return None, isinstance(error, EngineFault)
        except Exception as error:
            # A fault of ours must not cost the evaluation. Its text may quote values as well.
            _log.error("members that were flagged could not be looked up: %s", type(error).__name__)
            return None, True

    def missing_keys(
        self, definition: MonitorDefinition, at: datetime, judged: Judgement
    ) -> tuple[tuple[MissingKey, ...], bool]:
        """The keys without a linked row, and whether the snapshot answers nothing more.

        They only word a message: whatever goes wrong leaves them out. Groups are linked by their own keys, which say it
        themselves.
        """
        waiting = {item.key_text for item in judged.undecided if item.reason is Reason.RIGHT_MISSING}
        if not waiting or judged.spoilt or definition.grouping is not None:
            return (), judged.spoilt
        try:
            found = [
                item
                for name in condition_links(definition.breach_when)
                for item in self._missing_of(definition, name, at, waiting)
            ]
            return tuple(found), False
        except Exception as error:
            # Not its text, which may quote values.
            _log.warning("the keys without a linked row could not be looked up: %s", type(error).__name__)
            return (), True

    def _missing_of(
        self, definition: MonitorDefinition, name: str, at: datetime, waiting: Collection[str]
    ) -> Iterator[MissingKey]:
        link = self.contract.link(definition.object, name)
        if link is None:
            return
        shown = tuple(PropertyRef(key) for key in link.source_keys)
        asked = And((Not(Exists(name)), *(Presence(ref, present=True) for ref in shown)))
        counted: Counter[tuple[str | None, ...]] = Counter()
        for item in self._members_where(definition, asked, at):
            if item.key_text in waiting:
                counted[tuple(item.operands.get(key) for key in link.source_keys)] += 1
        ordered = sorted(counted.items(), key=lambda one: (-one[1], tuple(value or "" for value in one[0])))
        for key, count in ordered[:MOST_MISSING]:
            yield MissingKey(name, link.target, dict(zip(link.source_keys, key, strict=True)), count)

    def _keys_where(
        self, definition: MonitorDefinition, condition: Condition, at: datetime, asked: frozenset[str]
    ) -> frozenset[str]:
        """Those of the asked members for which a condition is true."""
        found = (item.key_text for item in self._members_where(definition, condition, at))
        return frozenset(key for key in found if key in asked)

    def _members_where(self, definition: MonitorDefinition, condition: Condition, at: datetime) -> Iterator[Member]:
        looked = replace(definition, breach_when=condition)
        remaining = time_left(time_limit(looked, self.contract))
        physical = physical_columns(involved_objects(looked, self.contract), self.snapshot)
        compiled = compiled_monitor(looked, self.contract, physical, clock_of(looked, at))
        if compiled.measured is not None:
            prepare(
                looked, self.contract, compiled.measured, self.snapshot, self.look_back, at, remaining, RECORDED_MEMBERS
            )
        mask = self.mask() if compiled.plan.reads_masked else UNMASKED
        read = member_reader(compiled.breach, Verdict.BREACH, looked.object, mask)
        yield from (read(row) for row in self.snapshot.stream(compiled.breach.query, remaining()))
