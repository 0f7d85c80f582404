"""Do the governed views have the columns that a contract counts on?"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from trivet.findings import Finding, did_you_mean


def check_columns(
    expected: Mapping[str, Collection[str]], found: Mapping[str, Mapping[str, str]], file: str
) -> tuple[Finding, ...]:
    """One finding for each view or column that is counted on and is not there, spelled alike.

    Args:
        expected: the columns needed of each view, by `schema.name`.
        found: the columns of each view with their physical types, as a build reports them.
        file: the file that counts on them, to which the findings point.
    """
    findings: list[Finding] = []
    for view, columns in expected.items():
        if view not in found:
            message = f"view {view} does not exist{did_you_mean(view, found)}"
            findings.append(Finding(file, None, "", message))
            continue
        for column in columns:
            if column not in found[view]:
                message = f"view {view} has no column {column!r}{did_you_mean(column, found[view])}"
                findings.append(Finding(file, None, "", message))
    return tuple(findings)
