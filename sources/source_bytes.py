"""The bytes of a source file: witnessed while they are read, and judged where they are no text."""

from __future__ import annotations

import hashlib
import io
from typing import TYPE_CHECKING

from sources.workspace_files import WorkspaceFile, open_regular
from trivet.findings import Finding, Position

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

BUFFER = 1 << 20
"""Bytes read at once."""


class WitnessedReader(io.RawIOBase):
    """Hashes the bytes that pass through it, so that what is recorded is what was loaded."""

    def __init__(self, raw: io.FileIO) -> None:
        super().__init__()
        self.digest = hashlib.sha256()
        self.size = 0
        self.has_nul = False
        self._raw = raw

    def readable(self) -> bool:
        """Always: it stands on an open file."""
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Fills `buffer` from the file; the number of bytes, 0 at its end."""
        count = self._raw.readinto(buffer) or 0
        chunk = bytes(memoryview(buffer)[:count])
        self.digest.update(chunk)
        self.size += count
        self.has_nul = self.has_nul or b"\0" in chunk
        return count


def byte_findings(file: WorkspaceFile, encoding: str, limit: int) -> list[Finding]:
    """The lines of a file that are no text in `encoding`, at most `limit` of them.

    The file is read again for this: it is rare, and decoding in blocks knows no lines.
    """
    found: list[Finding] = []
    line = 1
    with open_regular(file) as raw, io.BufferedReader(raw, BUFFER) as lines:
        for content in lines:
            if message := _fault(content, encoding):
                found.append(Finding(file.document, Position(line, 1), "", message))
                if len(found) == limit or message == _UTF16:
                    break
            line += content.replace(b"\r\n", b"\n").count(b"\r") + 1
    return found or [Finding(file.document, None, "", "changed while it was being read; ingest again")]


_UTF16 = "the file is UTF-16; save it as CSV UTF-8"


def _fault(content: bytes, encoding: str) -> str:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return _UTF16
    if b"\0" in content:
        return "the line holds a NUL byte; the file is no text, or is damaged"
    try:
        content.decode(encoding)
    except UnicodeDecodeError as error:
        hint = "; if an old spreadsheet wrote it, declare `encoding: cp1252`" if encoding == "utf-8" else ""
        return f"byte 0x{content[error.start]:02x} is not {encoding}{hint}"
    return ""
