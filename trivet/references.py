"""References to secrets, what they resolve to, and URLs, which may hold one.

A secret is kept elsewhere (`env:NAME`, `file:PATH`) and never in a file of Trivet. No message of
the field types here shows a value, which may be a secret.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import PlainSerializer, PlainValidator, WithJsonSchema

from trivet.errors import InputError
from trivet.faults import expected, refused
from trivet.findings import Finding


@dataclass(frozen=True, slots=True)
class SecretRef:
    """Where a secret is kept. Printing one shows the reference, which is no secret."""

    kind: Literal["env", "file"]
    name: str
    """The name of an environment variable, or the path of a file."""

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"


class Secret:
    """A resolved secret. Its value leaves only through `reveal`; `repr`, `str` and logs show none of it."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The value itself."""
        return self._value

    def __repr__(self) -> str:
        return "Secret(***)"


def resolve_reference(reference: SecretRef, environment: Mapping[str, str], read_file: Callable[[str], str]) -> Secret:
    """The secret that `reference` names, without line ends at its end.

    Raises:
        InputError: there is no such variable or file, or it is blank. The message never holds the value.
    """
    if reference.kind == "env":
        value = environment.get(reference.name)
    else:
        try:
            value = read_file(reference.name)
        except (OSError, UnicodeError):
            value = None
    value = (value or "").rstrip("\r\n")
    if not value.strip():
        what = "variable is not set" if reference.kind == "env" else "file cannot be read"
        message = f"the secret is missing: the {what} or is blank; set it, or change the reference"
        raise InputError([Finding(str(reference), None, "", message)])
    return Secret(value)


def refused_webhook_url(url: str, *, insecure: bool) -> str | None:
    """Why a URL is not posted to; None where it is.

    `https` only; with `insecure`, `http` to this machine too. The URL itself is not repeated: it may hold a secret.
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https") or not url.isprintable() or " " in url:
        return "the webhook's url is no http or https URL"
    if parts.scheme == "https" or (insecure and is_this_machine(host)):
        return None
    if insecure:
        return "the webhook's url is http to another machine: insecure allows that to this machine only; use https"
    return "the webhook's url must begin with https:// (insecure: true allows http:// to this machine)"


def is_this_machine(host: str) -> bool:
    """Whether a host is this machine by definition: `localhost`, 127.0.0.0/8, ::1."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


_ENV_REFERENCE = re.compile(r"env:([A-Za-z_][A-Za-z0-9_]*)")
_FILE_REFERENCE = re.compile(r"file:([^\x00-\x1f]+)")
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*)://")
# Everything before the last "@" of the authority, even where it holds a "/" that should be escaped.
_PASSWORD = re.compile(r"[a-z][a-z0-9+.-]*://[^/@][^@]*:[^@]*@|[a-z][a-z0-9+.-]*://:[^@]*@")
_SECRET_PARAMETER = re.compile(r"[?&](password|passwd|pwd|pass|token|secret|key|api_?key)=", re.IGNORECASE)


def _reference(text: str) -> SecretRef | None:
    if match := _ENV_REFERENCE.fullmatch(text):
        return SecretRef("env", match[1])
    if match := _FILE_REFERENCE.fullmatch(text):
        return SecretRef("file", match[1])
    return None


def _read_reference(value: object) -> SecretRef:
    reference = _reference(value) if isinstance(value, str) else value
    if not isinstance(reference, SecretRef):
        raise refused("expected a reference such as env:NAME or file:PATH, never the secret itself")
    return reference


def _url_reader(*schemes: str, references: bool = True) -> Callable[[object], str | SecretRef]:
    """Reads URLs of these schemes (of any, where none is named)."""
    beginnings = " or ".join(f"{scheme}://" for scheme in schemes)
    what = f"a URL that begins with {beginnings}" if schemes else "a URL"

    def read(value: object) -> str | SecretRef:
        if references and isinstance(value, SecretRef):
            return value
        text = value if isinstance(value, str) else ""
        reference = _reference(text)
        if references and reference is not None:
            return reference
        scheme = _SCHEME.match(text)
        if scheme is not None and schemes and scheme[1] not in schemes:
            raise expected(what, found=f"the scheme '{scheme[1]}'")
        if scheme is None or not text.isprintable() or " " in text:
            raise expected(what, found="something else" if text else None)
        if _PASSWORD.match(text) or _SECRET_PARAMETER.search(text):
            instead = "refer to it as env:NAME or file:PATH" if references else "give it as api_key"
            raise refused(f"the URL holds a secret; keep it elsewhere and {instead}")
        return str(text)

    return read


def _any_url_printed(url: str | SecretRef) -> str:
    """A receiver's URL as printed: for many services its path is the secret, so only the scheme is shown."""
    return str(url) if isinstance(url, SecretRef) else f"{url.split('://', 1)[0]}://***"


def _url_type(read: Callable[[object], str | SecretRef], printed: Callable[[Any], str] = str) -> Any:
    return (
        PlainValidator(read),
        PlainSerializer(printed, return_type=str, when_used="json"),
        WithJsonSchema({"type": "string", "minLength": 1}),
    )


Reference = Annotated[
    SecretRef,
    PlainValidator(_read_reference),
    PlainSerializer(str, return_type=str, when_used="json"),
    WithJsonSchema({"type": "string", "pattern": "^(env|file):.+$"}),
]
StoreUrl = Annotated[str | SecretRef, *_url_type(_url_reader("sqlite", "postgresql+psycopg"))]
BrokerUrl = Annotated[str | SecretRef, *_url_type(_url_reader("redis", "rediss", "redis+socket"))]
ReceiverUrl = Annotated[str | SecretRef, *_url_type(_url_reader(), _any_url_printed)]
WebhookUrl = Annotated[str | SecretRef, *_url_type(_url_reader("https", "http"), _any_url_printed)]
ModelUrl = Annotated[str, *_url_type(_url_reader("http", "https", references=False))]
