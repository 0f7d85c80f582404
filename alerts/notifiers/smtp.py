"""Telling people by mail, handed to a mail server (RFC 5321) over TLS; one mail for each person."""

from __future__ import annotations

import smtplib
import socket
import ssl
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime

from alerts.message import Message
from alerts.notifiers.deadline import Deadline
from alerts.notifiers.port import Ending, MaybeSent, Notice, NotSent, Sent
from alerts.rendering import body, subject
from alerts.rendering_html import html
from alerts.wording import inactive
from trivet.clock import Clock
from trivet.receiver_settings import SmtpSettings
from trivet.references import Secret

TIMEOUT = timedelta(seconds=30)
_GO_ON = 354
_TAKEN = range(200, 300)


@dataclass(frozen=True, slots=True)
class Credentials:
    """By whom mail is sent."""

    username: Secret
    password: Secret


class SmtpNotifier:
    """One person's mail address.

    A mail's `Message-ID` is made of the notice's key, the same on every attempt: some servers drop one that they had.

    Args:
        settings: the server, and who sends.
        to: the address.
        credentials: None where the server wants none.
        clock: for the date of each mail.
        timeout: the longest for one mail.
        resends: whether what may have arrived is sent again.
        trust: whose certificates are trusted; those of the system if absent.
    """

    def __init__(
        self,
        settings: SmtpSettings,
        to: str,
        credentials: Credentials | None,
        clock: Clock,
        timeout: timedelta = TIMEOUT,
        *,
        resends: bool = False,
        trust: ssl.SSLContext | None = None,
    ) -> None:
        self._settings, self._to, self._credentials, self._clock = settings, to, credentials, clock
        self._timeout, self.resends = timeout, resends
        self._trust = trust

    def send(self, notice: Notice) -> Ending:
        """Hands one mail to the server, which has taken it once it answers the end of the message with 2xx."""
        mail = self._mail(notice).as_bytes(policy=SMTP)
        trust = self._trust or ssl.create_default_context()
        with Deadline(self._timeout) as deadline:
            try:
                client = _Client(self._settings, trust, deadline)
            except (OSError, UnicodeError) as error:
                return NotSent(f"cannot connect to the mail server: {_reason(error, deadline)}")
            with closing(client):
                return self._hand_over(client, mail, deadline, trust)

    def _hand_over(self, client: _Client, mail: bytes, deadline: Deadline, trust: ssl.SSLContext) -> Ending:
        try:
            refusal = self._open(client, trust)
        except (OSError, UnicodeError) as error:
            return NotSent(f"the mail server did not take it: {_reason(error, deadline)}")
        if refusal is not None:
            return refusal
        try:
            code, _ = client.data(mail)
        except smtplib.SMTPDataError as error:
            return NotSent(f"the mail server answered {error.smtp_code} to DATA")
        except OSError as error:
            return MaybeSent(f"no answer of the mail server: {_reason(error, deadline)}")
        return Sent() if code in _TAKEN else NotSent(f"the mail server answered {code} to the message")

    def _open(self, client: _Client, trust: ssl.SSLContext) -> NotSent | None:
        """Everything that goes before the message itself."""
        client.ehlo_or_helo_if_needed()
        if self._settings.tls == "starttls":
            client.starttls(context=trust)
            client.ehlo_or_helo_if_needed()
        if self._credentials is not None:
            client.login(self._credentials.username.reveal(), self._credentials.password.reveal())
        for what, (code, _) in (
            ("the sender", client.mail(self._settings.sender)),
            ("the recipient", client.rcpt(self._to)),
        ):
            if code not in _TAKEN:
                return NotSent(f"the mail server answered {code} to {what}")
        return None

    def _mail(self, notice: Notice) -> EmailMessage:
        message = Message.from_json(notice.payload)
        mail = EmailMessage()
        mail["From"], mail["To"], mail["Subject"] = self._settings.sender, self._to, subject(message)
        mail["Date"] = format_datetime(self._clock.now())
        mail["Message-ID"] = f"<{notice.key}@{self._settings.sender.rpartition('@')[2]}>"
        # RFC 3834: no program is to answer it.
        mail["Auto-Submitted"] = "auto-generated"
        mail.set_content(body(message, inactive), cte="quoted-printable")
        mail.add_alternative(html(message), subtype="html", cte="quoted-printable")
        return mail


class _Client(smtplib.SMTP):
    """A connection under a deadline, from its first byte on."""

    def __init__(self, settings: SmtpSettings, trust: ssl.SSLContext, deadline: Deadline) -> None:
        self._deadline = deadline
        self._wraps = trust if settings.tls == "implicit" else None
        # Named here, since smtplib would ask a name server for it.
        name = socket.gethostname()
        local = name if "." in name else "[127.0.0.1]"
        super().__init__(settings.host, settings.at_port, local_hostname=local, timeout=deadline.left)

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        connection = socket.create_connection((host, port), timeout)
        self._deadline.watch(connection)
        if self._wraps is None:
            return connection
        return self._wraps.wrap_socket(connection, server_hostname=host)


def _reason(error: Exception, deadline: Deadline) -> str:
    """The kind of a failure. What the server said is left out: it may quote anything."""
    if deadline.is_over:
        return "timed out"
    match error:
        case smtplib.SMTPAuthenticationError():
            return f"it answered {error.smtp_code} to username and password"
        case smtplib.SMTPResponseException():
            return f"it answered {error.smtp_code}"
        case smtplib.SMTPNotSupportedError():
            return "it offers no TLS, or no way to log in that is known here"
        case smtplib.SMTPServerDisconnected():
            return "it hung up"
        case ssl.SSLError():
            return "its certificate is not trusted, or it speaks no TLS"
        case TimeoutError():
            return "timed out"
        case socket.gaierror():
            return "no such host"
        case _:
            return type(error).__name__
