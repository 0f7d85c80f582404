"""Files that ship with the program: migrations and example workspaces."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from trivet.errors import InternalError


def shipped(name: str) -> Path:
    """The folder `migrations` or `examples`, from the installed wheel or from a checkout.

    Raises:
        InternalError: the installation lacks it.
    """
    package = Path(str(files("trivet")))
    for candidate in (package / "_shipped" / name, package.parent / name):
        if candidate.is_dir():
            return candidate
    raise InternalError(f"the installation lacks its '{name}' folder; install trivet again")
