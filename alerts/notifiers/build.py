"""The notifiers that the settings ask for. A receiver that cannot be built stops no other, and no evaluation.

The notifiers that go out are imported where one is built: their libraries take longer to load than most commands run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

from alerts.notifiers.port import Notifier, Unusable
from alerts.notifiers.stdout import StdoutNotifier
from alerts.routing import Target
from trivet.clock import Clock
from trivet.delivery_settings import DeliverySettings
from trivet.errors import InputError
from trivet.receiver_settings import ReceiverSettings, SmtpSettings, WebhookSettings
from trivet.references import Secret, SecretRef, refused_webhook_url

Resolve: TypeAlias = Callable[[SecretRef], Secret]
"""Gives what a reference names. Raises InputError where there is nothing, with a message that holds no secret."""


@dataclass(frozen=True, slots=True)
class Means:
    """What notifiers are built with."""

    resolve: Resolve
    """Reads references, such as `resolve_reference` with a workspace's environment and files."""
    clock: Clock
    """For timestamps of webhooks."""
    write: Callable[[str], None]
    """Where receivers of kind `stdout` write."""
    delivery: DeliverySettings = field(default_factory=DeliverySettings)


def build_notifiers(receivers: Mapping[str, ReceiverSettings], means: Means) -> dict[Target, Notifier]:
    """One notifier for each address of each receiver of the settings."""
    built: dict[Target, Notifier] = {}
    for name, receiver in receivers.items():
        resends = receiver.resends
        for number, url in enumerate(receiver.apprise or (), start=1):
            built[Target(name, number)] = _guarded(partial(_apprise, url, means, resends), resends)
        if receiver.smtp is not None:
            for number, to in enumerate(receiver.smtp.to, start=1):
                built[Target(name, number)] = _guarded(partial(_smtp, receiver.smtp, to, means, resends), resends)
        if receiver.stdout:
            built[Target(name)] = StdoutNotifier(means.write, resends=resends)
        if receiver.webhook is not None:
            built[Target(name)] = _guarded(partial(_webhook, receiver.webhook, means, resends), resends)
    return built


def _guarded(build: Callable[[], Notifier], resends: bool) -> Notifier:
    try:
        return build()
    except InputError as error:
        return Unusable(str(error), resends)


def _apprise(url: str | SecretRef, means: Means, resends: bool) -> Notifier:
    from alerts.notifiers.apprise_notifier import AppriseNotifier

    return AppriseNotifier(_revealed(url, means), means.delivery.timeout, resends=resends)


def _smtp(settings: SmtpSettings, to: str, means: Means, resends: bool) -> Notifier:
    from alerts.notifiers.smtp import Credentials, SmtpNotifier

    credentials = None
    if settings.username is not None and settings.password is not None:
        credentials = Credentials(means.resolve(settings.username), means.resolve(settings.password))
    return SmtpNotifier(settings, to, credentials, means.clock, means.delivery.timeout, resends=resends)


def _webhook(settings: WebhookSettings, means: Means, resends: bool) -> Notifier:
    from alerts.notifiers.addresses import reach_of
    from alerts.notifiers.outgoing import Outgoing
    from alerts.notifiers.webhook import WebhookNotifier, signing_key

    url = _revealed(settings.url, means)
    refusal = refused_webhook_url(url.reveal(), insecure=settings.insecure)
    if refusal is not None:
        return Unusable(refusal, resends)
    keys = []
    for reference in filter(None, (settings.secret, settings.previous_secret)):
        key = signing_key(means.resolve(reference))
        if key is None:
            advice = "make one of `whsec_` and 32 random bytes in base64"
            return Unusable(f"{reference} holds no webhook secret; {advice}", resends)
        keys.append(key)
    reach = reach_of(means.delivery, insecure=settings.insecure)
    return WebhookNotifier(Outgoing(url, reach, means.delivery.timeout), keys, means.clock, resends=resends)


def _revealed(url: str | SecretRef, means: Means) -> Secret:
    return means.resolve(url) if isinstance(url, SecretRef) else Secret(url)
