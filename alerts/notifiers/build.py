"""The notifiers that the settings ask for. A receiver that cannot be built stops no other, and no evaluation.

The notifiers that go out are imported where one is built: their libraries take longer to load than most commands run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeAlias

from alerts.notifiers.port import Notifier, Unusable
from alerts.notifiers.stdout import StdoutNotifier
from alerts.routing import Target
from trivet.clock import Clock
from trivet.errors import InputError
from trivet.references import Secret, SecretRef, refused_webhook_url
from trivet.settings import ReceiverSettings, WebhookSettings

Resolve: TypeAlias = Callable[[SecretRef], Secret]
"""Gives what a reference names. Raises InputError where there is nothing, with a message that holds no secret."""


def build_notifiers(
    receivers: Mapping[str, ReceiverSettings], resolve: Resolve, clock: Clock, write: Callable[[str], None]
) -> dict[Target, Notifier]:
    """One notifier for each address of each receiver.

    Args:
        receivers: of the settings.
        resolve: reads references, such as `resolve_reference` with a workspace's environment and files.
        clock: for timestamps of webhooks.
        write: where receivers of kind `stdout` write.
    """
    built: dict[Target, Notifier] = {}
    for name, receiver in receivers.items():
        for number, url in enumerate(receiver.apprise or (), start=1):
            built[Target(name, number)] = _guarded(partial(_apprise, url, resolve))
        if receiver.stdout:
            built[Target(name)] = StdoutNotifier(write)
        if receiver.webhook is not None:
            built[Target(name)] = _guarded(partial(_webhook, receiver.webhook, resolve, clock))
    return built


def _guarded(build: Callable[[], Notifier]) -> Notifier:
    try:
        return build()
    except InputError as error:
        return Unusable(str(error))


def _apprise(url: str | SecretRef, resolve: Resolve) -> Notifier:
    from alerts.notifiers.apprise_notifier import AppriseNotifier

    return AppriseNotifier(_revealed(url, resolve))


def _webhook(settings: WebhookSettings, resolve: Resolve, clock: Clock) -> Notifier:
    from alerts.notifiers.webhook import WebhookNotifier, signing_key

    url = _revealed(settings.url, resolve)
    refusal = refused_webhook_url(url.reveal(), insecure=settings.insecure)
    if refusal is not None:
        return Unusable(refusal)
    if settings.secret is None:
        return WebhookNotifier(url, None, clock)
    key = signing_key(resolve(settings.secret))
    if key is None:
        return Unusable(
            f"{settings.secret} holds no webhook secret; make one of `whsec_` and 32 random bytes in base64"
        )
    return WebhookNotifier(url, key, clock)


def _revealed(url: str | SecretRef, resolve: Resolve) -> Secret:
    return resolve(url) if isinstance(url, SecretRef) else Secret(url)
