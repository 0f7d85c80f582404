"""What the monitors of an outage ask for together: how often it is told again, and who is next."""

from __future__ import annotations

from datetime import timedelta

from alerts.outages import shared_policy
from monitors.alerting import AlertPolicy, Escalation, Repeat

HOUR = timedelta(hours=1)


def test_of_monitors_that_ask_for_nothing_nothing_is_repeated() -> None:
    assert shared_policy([AlertPolicy(), AlertPolicy()], []).policy == AlertPolicy()


def test_it_is_repeated_as_the_most_eager_asks() -> None:
    found = shared_policy([AlertPolicy(repeat=Repeat(4 * HOUR, 9)), AlertPolicy(repeat=Repeat(HOUR, 2))], [])
    assert found.policy.repeat == Repeat(HOUR, 9)


def test_each_receiver_is_next_once_and_as_early_as_any_says() -> None:
    one = AlertPolicy(escalate=(Escalation(HOUR, "duty"), Escalation(3 * HOUR, "chief")))
    other = AlertPolicy(escalate=(Escalation(2 * HOUR, "chief"), Escalation(4 * HOUR, "duty")))
    found = shared_policy([one, other], [])
    assert (found.policy.escalate, found.escalated) == ((Escalation(HOUR, "duty"), Escalation(2 * HOUR, "chief")), 0)


def test_who_was_told_is_not_told_again_whichever_monitors_come_and_go() -> None:
    late = AlertPolicy(escalate=(Escalation(3 * HOUR, "chief"),))
    early = AlertPolicy(escalate=(Escalation(HOUR, "duty"),))
    found = shared_policy([late, early], ["chief"])
    assert found.policy.escalate[found.escalated :] == (Escalation(HOUR, "duty"),)
    gone = shared_policy([early], ["chief", "duty"])
    assert gone.policy.escalate[gone.escalated :] == ()
