"""How a workspace's alerts are delivered: the notifiers and the rules that its settings ask for."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

import sqlalchemy as sa

from alerts.delivery import DeliveryPolicy, DeliveryReport, anything_due, deliver_due
from alerts.notifiers.build import Means, Resolve, build_notifiers
from alerts.notifiers.port import Notifier
from alerts.routing import Target, targets_of
from trivet.clock import Clock
from trivet.delivery_settings import DeliverySettings
from trivet.settings import Settings
from worker.stores import delivery_turn

_log = logging.getLogger(__name__)
_LONGEST_ROUND = timedelta(seconds=20)
"""After this a daemon begins no delivery until its next tick. With the longest single one, it stays well below the
hard limit of a Celery task."""


@dataclass(frozen=True, slots=True)
class Deliverer:
    """Sends what waits in a store."""

    settings: Settings
    resolve: Resolve
    clock: Clock

    def notifiers(self, write: Callable[[str], None], only: str | None = None) -> dict[Target, Notifier]:
        """One notifier for each address of each receiver; receivers of kind stdout call `write`.

        Built in the process that sends: a thread pool does not survive a fork.

        Args:
            write: takes one text.
            only: the one receiver that is wanted.
        """
        receivers = {name: item for name, item in self.settings.receivers.items() if only in (None, name)}
        return build_notifiers(receivers, Means(self.resolve, self.clock, write, self.settings.delivery))

    def deliver(
        self, store: sa.Engine, write: Callable[[str], None], longest: timedelta | None = None
    ) -> DeliveryReport:
        """Sends what is due; see `deliver_due`."""
        if not anything_due(store, self.clock.now()):
            # Notifiers are costly to build, and some complain of their settings in the log each time.
            return DeliveryReport()
        policy, others = policy_of(self.settings.delivery), self._fallback()
        return deliver_due(store, self.notifiers(write), self.clock, policy, longest=longest, others=others)

    def _fallback(self) -> list[Target]:
        """Who is told of a receiver that cannot be told."""
        receivers, named = self.settings.receivers, self.settings.delivery.fallback
        names = receivers if named is None else named
        return [target for name in names for target in targets_of(name, receivers[name])]

    def deliver_in_turn(self, store: sa.Engine, write: Callable[[str], None], remind: Callable[[], object]) -> None:
        """For a daemon: one at a time, and not for long, since a receiver that hangs must not hold up who evaluates.

        Args:
            store: what waits is there.
            write: takes what receivers of kind stdout are told.
            remind: writes what is told again or to others by now.
        """
        with delivery_turn(store) as ours:
            if not ours:
                return
            remind()
            report = self.deliver(store, write, _LONGEST_ROUND)
        for problem in report.problems:
            _log.warning("alert for %s", problem)


def policy_of(settings: DeliverySettings) -> DeliveryPolicy:
    """How long is tried, as settings have it."""
    return DeliveryPolicy(
        attempts=settings.attempts,
        first_wait=settings.first_wait,
        longest_wait=settings.longest_wait,
        # Looking a name up is not in the time limit of an attempt, and a program may be stopped for a while.
        lease=4 * settings.timeout,
    )
