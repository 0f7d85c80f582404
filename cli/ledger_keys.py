"""Public keys as commands are given them: as text, in files, or by the settings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cli.invocation import Invocation
from ledger.verification.notes import NotANote, PublicKey, read_key
from trivet.errors import UsageError


def known_keys(invocation: Invocation, given: Sequence[str]) -> list[PublicKey]:
    """The keys that were given, each as text or as a file with one on each line; else those of the settings.

    Raises:
        UsageError: one that was given is none.
        InputError: the settings name a key that cannot be read.
    """
    if not given:
        return list(invocation.wiring().public_keys())
    found = []
    for text in given:
        lines = _lines(Path(text)) if Path(text).is_file() else [text]
        for line in lines:
            try:
                found.append(read_key(line))
            except NotANote as error:
                raise UsageError(f"--key: {error}") from None
    return found


def _lines(file: Path) -> list[str]:
    return [line for line in file.read_text("utf-8", "replace").splitlines() if line.strip()]
