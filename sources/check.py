"""Do the governed views have the columns that a contract counts on?"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from trivet.findings import Finding, did_you_mean


@dataclass(frozen=True, slots=True)
class Lacking:
    """A view or a column that is not there."""

    view: str
    column: str | None
    """None where the whole view is gone."""
    message: str


def check_columns(
    expected: Mapping[str, Collection[str]], found: Mapping[str, Mapping[str, str]], file: str
) -> tuple[Finding, ...]:
    """One finding for each view or column that is counted on and is not there, spelled alike.

    Args:
        expected: the columns needed of each view, by `schema.name`.
        found: the columns of each view with their physical types, as a build reports them.
        file: the file that counts on them, to which the findings point.
    """
    return tuple(Finding(file, None, "", item.message) for item in lacking_columns(expected, found))


def lacking_columns(
    expected: Mapping[str, Collection[str]], found: Mapping[str, Mapping[str, str]]
) -> Iterator[Lacking]:
    """What `check_columns` finds, with what it is about."""
    for view, columns in expected.items():
        if view not in found:
            yield Lacking(view, None, f"view {view} does not exist{did_you_mean(view, found)}")
            continue
        for column in columns:
            if column not in found[view]:
                message = f"view {view} has no column {column!r}{did_you_mean(column, found[view])}"
                yield Lacking(view, column, message)
