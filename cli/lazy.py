"""Commands that are imported when they are called, so that none pays for what the others need."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, MutableMapping

import click


class LazyCommands(MutableMapping[str, click.Command]):
    """The commands of a group, by name. The names are known at once; a command is imported when it is asked for.

    A help text that lists the group asks for each of them.
    """

    def __init__(self, places: Mapping[str, str]) -> None:
        """Args: for each name, where its command is: `module:attribute`."""
        self._places = dict(places)
        self._imported: dict[str, click.Command] = {}

    def __getitem__(self, name: str) -> click.Command:
        if name not in self._imported:
            module, _, attribute = self._places[name].partition(":")
            self._imported[name] = getattr(importlib.import_module(module), attribute)
        return self._imported[name]

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._places[name] = ""
        self._imported[name] = command

    def __delitem__(self, name: str) -> None:
        del self._places[name]
        self._imported.pop(name, None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)
