"""A real mail server on this machine: keeps what it took, and can refuse, be slow, or hang up after taking."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from enum import Enum, auto
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from worker.stack.folder import free_port


class Doing(Enum):
    """What the server does otherwise than it should."""

    HANG_UP_AFTER_TAKING = auto()
    HANG_UP_AT_ONCE = auto()
    BE_SLOW_AFTER_TAKING = auto()


@dataclass
class MailServer:
    """What it took, and how it answers: each of `answers` once, then well."""

    port: int
    mails: list[EmailMessage] = field(default_factory=list)
    """What it took, whether or not it said so."""
    recipients: list[list[str]] = field(default_factory=list)
    login: tuple[str, str] | None = None
    """Who may send; anybody if absent."""
    logins: list[tuple[str, str]] = field(default_factory=list)
    answers: dict[str, list[str | Doing]] = field(default_factory=dict)
    """By verb: MAIL, RCPT or DATA; the answer to DATA is that to the whole message."""
    encrypted: list[bool] = field(default_factory=list)
    """Whether each mail came over TLS."""

    def _next(self, verb: str) -> str | Doing | None:
        given = self.answers.get(verb)
        return given.pop(0) if given else None

    async def handle_MAIL(self, server: SMTP, session: Session, envelope: Envelope, address: str, options: Any) -> str:
        """The sender."""
        answer = self._next("MAIL")
        if answer is Doing.HANG_UP_AT_ONCE and server.transport is not None:
            server.transport.abort()
        if isinstance(answer, str):
            return answer
        envelope.mail_from = address
        return "250 OK"

    async def handle_RCPT(self, server: SMTP, session: Session, envelope: Envelope, address: str, options: Any) -> str:
        """A recipient."""
        answer = self._next("RCPT")
        if isinstance(answer, str):
            return answer
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        """The whole message."""
        answer = self._next("DATA")
        if isinstance(answer, str):
            return answer
        assert isinstance(envelope.content, bytes)
        mail = message_from_bytes(envelope.content, policy=default)
        assert isinstance(mail, EmailMessage)
        self.mails.append(mail)
        self.recipients.append(list(envelope.rcpt_tos))
        assert server.transport is not None
        self.encrypted.append(server.transport.get_extra_info("ssl_object") is not None)
        if answer is Doing.HANG_UP_AFTER_TAKING:
            server.transport.abort()
        if answer is Doing.BE_SLOW_AFTER_TAKING:
            await asyncio.sleep(30)
        return "250 OK"

    def authenticate(self, server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: Any) -> AuthResult:
        """Who logs in."""
        if not isinstance(data, LoginPassword):
            return AuthResult(success=False, handled=False)
        found = data.login.decode(), data.password.decode()
        self.logins.append(found)
        return AuthResult(success=found == self.login, handled=False)


@contextmanager
def running_mail_server(
    *,
    starttls: ssl.SSLContext | None = None,
    implicit: ssl.SSLContext | None = None,
    login: tuple[str, str] | None = None,
) -> Iterator[MailServer]:
    """A mail server on any free port of this machine: plain, or with one kind of TLS; and with log-in, if wanted."""
    mails = MailServer(free_port(), login=login)
    controller = Controller(
        mails,
        hostname="127.0.0.1",
        port=mails.port,
        ssl_context=implicit,
        tls_context=starttls,
        require_starttls=starttls is not None,
        authenticator=mails.authenticate,
        auth_required=login is not None,
        auth_require_tls=starttls is not None,
    )
    controller.start()
    try:
        yield mails
    finally:
        controller.stop(no_assert=True)
