"""A publication: the contract and the monitors that are in force together, as one ledger entry holds them. Pure.

Beside each monitor stands the instant up to which it was planned by the publication before: its schedule here counts
for later slots, the earlier one for earlier slots. So the entries alone say which slots came due.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from catalog.contract import Contract
from monitors.definition import MonitorDefinition, Schedule
from monitors.document import MonitorModel
from monitors.schedule_loading import schedule_of
from trivet.canonical import Json, normal_text
from trivet.documents import Document, Scalar, Value
from trivet.plain_documents import document_of
from trivet.validation import examine

PAYLOAD_VERSION = 1
Reference: TypeAlias = "Mapping[str, str]"
"""A contract's id, version and hash."""
_SCHEDULE_KEYS = frozenset({"id", "object", "breach_when", "enabled", "schedule", "catch_up", "delay", "jitter", "dst"})
"""What is read to know when a monitor comes due, and what no monitor is without."""


class UnreadablePublication(Exception):
    """A publication is damaged, or of a later version; the message says what is wrong."""


@dataclass(frozen=True, slots=True)
class PublishedMonitor:
    """One monitor of a publication."""

    id: str
    definition_hash: str
    document: Mapping[str, Json]
    """As its file says it, every value a text."""
    file: str = field(default="", compare=False)
    """Where that was."""

    def schedule(self) -> Schedule | None:
        """When it comes due; None where it never does, because it has no schedule or is not enabled.

        Raises:
            UnreadablePublication: this version cannot read it.
        """
        given = {name: value for name, value in self.document.items() if name in _SCHEDULE_KEYS}
        model, faults = examine(document_of(given, self.file).root, MonitorModel)
        if model is None:
            raise UnreadablePublication(f"the schedule of {self.id} cannot be read: {faults[0].message}")
        return schedule_of(model) if model.enabled else None


@dataclass(frozen=True, slots=True)
class Content:
    """What is published: equal contents are the same definitions, whichever files they stand in."""

    contract: Reference
    time_zone: str
    """The contract's, in which a schedule is read that names none."""
    monitors: Mapping[str, PublishedMonitor]
    """By id."""

    def documents(self, names: Container[str] | None = None) -> list[Document]:
        """The monitors, or those of these names, as files again, for the loader of files."""
        by_file: dict[str, list[Any]] = {}
        for item in self.monitors.values():
            if names is not None and item.id not in names:
                continue
            by_file.setdefault(item.file, []).append(_with_keys(item.document, _read_key))
        return [document_of({"monitors": items}, file) for file, items in by_file.items()]


@dataclass(frozen=True, slots=True)
class Changes:
    """How a content differs from the one before it."""

    contract_before: Reference | None
    contract_after: Reference
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Monitors with the keys that say something else."""

    @property
    def contract_changed(self) -> bool:
        """Whether the contract is another one."""
        return self.contract_before != self.contract_after

    def __bool__(self) -> bool:
        """Whether anything differs."""
        return self.contract_changed or bool(self.added or self.removed or self.changed)

    def words(self) -> str:
        """On one line, with at most a few names of each kind."""
        parts = []
        if self.contract_changed:
            before, after = self.contract_before, self.contract_after
            was = f" (was {before['id']} {before['version']})" if before is not None else ""
            parts.append(f"contract {after['id']} {after['version']}{was}")
        keys = [f"{name} ({', '.join(of)})" for name, of in self.changed]
        for what, names in (("added", self.added), ("removed", self.removed), ("changed", keys)):
            parts += [f"{what} {_some(names)}"] if names else []
        return "; ".join(parts) or "nothing changed"

    def to_json(self) -> dict[str, Json]:
        """As the ledger and the commands tell it."""
        after = dict(self.contract_after)
        before = dict(self.contract_before) if self.contract_before is not None else None
        return {
            "contract": {"before": before, "after": after} if self.contract_changed else None,
            "added": list(self.added),
            "removed": list(self.removed),
            "changed": [{"id": name, "keys": list(keys)} for name, keys in self.changed],
        }


@dataclass(frozen=True, slots=True)
class Publication:
    """One publication, as the ledger has it."""

    seq: int
    """Of its ledger entry."""
    previous: int | None
    """Of the publication before it."""
    published_at: str
    content: Content
    planned_until: Mapping[str, str | None]
    """By monitor, of those that were removed too: the instant after which this publication says what is due. None where
    nothing was due before and nothing is."""


def content_of(contract: Contract, monitors: Iterable[MonitorDefinition], documents: Iterable[Document]) -> Content:
    """What the files of a workspace without fault publish.

    Args:
        contract: as it was loaded.
        monitors: as they were loaded.
        documents: the files that they were loaded from.
    """
    trees = {name: tree for document in documents for name, tree in _trees(document)}
    found = {
        item.id: PublishedMonitor(item.id, item.definition_hash, _as_json(trees[item.id]), item.file)
        for item in sorted(monitors, key=lambda item: item.id)
    }
    return Content(contract.reference(), contract.calendar.time_zone, found)


def changes(before: Content | None, after: Content) -> Changes:
    """What is different in `after`."""
    known = before.monitors if before is not None else {}
    changed = [
        (name, _changed_keys(known[name].document, item.document))
        for name, item in after.monitors.items()
        if name in known and known[name].document != item.document
    ]
    return Changes(
        contract_before=before.contract if before is not None else None,
        contract_after=after.contract,
        added=tuple(name for name in after.monitors if name not in known),
        removed=tuple(name for name in known if name not in after.monitors),
        changed=tuple(changed),
    )


def payload_of(
    content: Content,
    different: Changes,
    planned_until: Mapping[str, str | None],
    *,
    previous: int | None,
    at: str,
    by: str,
) -> dict[str, Json]:
    """The ledger entry's payload; see `docs/reference/store.md`."""
    monitors: list[Json] = [
        {
            "id": item.id,
            "definition_hash": item.definition_hash,
            "file": normal_text(item.file),
            "planned_until": planned_until.get(item.id),
            "document": item.document,
        }
        for item in content.monitors.values()
    ]
    return {
        "schema": PAYLOAD_VERSION,
        "published_at": at,
        "published_by": normal_text(by),
        "previous": previous,
        "contract": dict(content.contract),
        "time_zone": content.time_zone,
        "monitors": monitors,
        "removed": [{"id": name, "planned_until": planned_until.get(name)} for name in different.removed],
        "changes": different.to_json(),
    }


def read_publication(seq: int, payload: Mapping[str, Any]) -> Publication:
    """A publication from the payload of its entry.

    Raises:
        UnreadablePublication: it is damaged, or of a later version.
    """
    try:
        if payload["schema"] != PAYLOAD_VERSION:
            raise UnreadablePublication(f"its payload is of version {payload['schema']!r:.20}")
        listed = [*payload["monitors"], *payload["removed"]]
        until = {str(item["id"]): item["planned_until"] for item in listed}
        found = {
            str(item["id"]): PublishedMonitor(
                str(item["id"]), str(item["definition_hash"]), dict(item["document"]), str(item["file"])
            )
            for item in payload["monitors"]
        }
        contract = {name: str(payload["contract"][name]) for name in ("id", "version", "hash")}
        content = Content(contract, str(payload["time_zone"]), found)
        return Publication(seq, payload["previous"], str(payload["published_at"]), content, until)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UnreadablePublication(f"its payload lacks what a publication has ({error!r:.80})") from error


def _trees(document: Document) -> Iterable[tuple[str, dict[str, Value]]]:
    listed = document.root.get("monitors")
    for tree in listed if isinstance(listed, list) else ():
        if isinstance(tree, dict) and isinstance(tree.get("id"), Scalar):
            yield str(tree["id"]), tree


def _as_json(tree: Mapping[str, Value]) -> dict[str, Json]:
    return {_written_key(key): _value(value) for key, value in tree.items()}


def _value(value: Value) -> Json:
    if isinstance(value, dict):
        return _as_json(value)
    if isinstance(value, list):
        return [_value(item) for item in value]
    return normal_text(value) if isinstance(value, str) else None


def _with_keys(value: Any, key: Any) -> Any:
    if isinstance(value, Mapping):
        return {key(name): _with_keys(item, key) for name, item in value.items()}
    return [_with_keys(item, key) for item in value] if isinstance(value, list) else value


def _written_key(key: str) -> str:
    """Canonical JSON has ASCII keys, and a rule test names members by keys that may be any text."""
    return normal_text(key).encode("unicode_escape").decode("ascii")


def _read_key(key: str) -> str:
    return key.encode("ascii").decode("unicode_escape")


def _changed_keys(before: Mapping[str, Json], after: Mapping[str, Json]) -> tuple[str, ...]:
    names = [*after, *(name for name in before if name not in after)]
    return tuple(name for name in names if name not in before or name not in after or before[name] != after[name])


def _some(names: Sequence[str]) -> str:
    most = 5
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{rest}"
