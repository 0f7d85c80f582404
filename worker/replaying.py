"""Replaying evaluations: judged again from what was recorded, and run again on the snapshot while its file is kept.

A replay is an entry of the ledger. It writes no evaluation, and it never alerts.
"""

from __future__ import annotations

import json
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from catalog.engines.duckdb_engine import DuckDBEngine
from catalog.engines.port import EngineFault
from ledger.append import append
from ledger.entries import EntryType, LedgerEntry
from ledger.reading import entry, entry_about
from monitors.evaluation import NotMade
from sources.publication import generation_file
from trivet.canonical import Json
from trivet.clock import Clock, utc_text
from trivet.errors import CheckFailedError, UsageError
from trivet.verdicts import EvaluationStatus, NotMadeReason, ReplayResult, Verdict, worst_verdict
from worker.aging import aged
from worker.history import NamedHistory
from worker.judging import Judgement, judge
from worker.masking import mask_of
from worker.reconstruction import TextGone, contract_of, definition_of
from worker.recorded_members import RecordedMember, recorded_member
from worker.recording import measure_rows, member_rows
from worker.rejudging import Rejudged, rejudge
from worker.stores import read_only
from worker.tables import evaluation, measure, member

PAYLOAD_VERSION = 1
_MOST_DIFFERENCES = 20
_FROM_DATA = frozenset({NotMadeReason.POPULATION_EMPTY, NotMadeReason.VIEW_MISSING, NotMadeReason.VIEW_CHANGED})
"""Reasons that follow from the data alone; the others tell of the machine at that moment."""


@dataclass(frozen=True, slots=True)
class Strength:
    """What one way of replaying came to."""

    result: ReplayResult
    told: tuple[str, ...] = ()
    """Why inputs are gone or changed, or what diverged."""
    members: Mapping[str, int] = field(default_factory=dict)
    """Of rejudging: members by result."""

    def to_json(self) -> dict[str, Json]:
        """As the ledger and `--json` hold it."""
        return {"result": self.result, "told": list(self.told), "members": dict(self.members)}


@dataclass(frozen=True, slots=True)
class Replay:
    """What replaying one evaluation came to."""

    replay_id: str
    evaluation_id: str
    monitor: str
    seq: int
    """Of the evaluation's entry."""
    rejudge: Strength | None
    rerun: Strength | None

    @property
    def result(self) -> ReplayResult:
        """Of both ways together: what diverged counts first, then data that changed, then whichever could be done."""
        found = [item.result for item in (self.rejudge, self.rerun) if item is not None]
        for result in (ReplayResult.DIVERGED, ReplayResult.INPUTS_CHANGED, ReplayResult.REPRODUCED):
            if result in found:
                return result
        return ReplayResult.INPUTS_GONE

    def to_json(self) -> dict[str, Json]:
        """As the ledger and `--json` hold it."""
        return {
            "replay_id": self.replay_id,
            "evaluation_id": self.evaluation_id,
            "monitor_id": self.monitor,
            "evaluation_seq": self.seq,
            "result": self.result,
            "rejudge": self.rejudge.to_json() if self.rejudge else None,
            "rerun": self.rerun.to_json() if self.rerun else None,
        }


@dataclass(frozen=True, slots=True)
class Replayer:
    """Replays the evaluations of one store."""

    store: sa.Engine
    warehouse: Path
    """The served file; earlier ones stay beside it under the names of their generations."""
    clock: Clock

    def replay(
        self, evaluation_id: str, *, rejudging: bool = True, rerunning: bool = True, record: bool = True
    ) -> Replay:
        """Replays one evaluation, and writes down what came of it unless told otherwise.

        Raises:
            UsageError: there is no such evaluation.
            CheckFailedError: its entry or its rows are damaged.
        """
        with read_only(self.store).connect() as connection:
            made = self._replayed(connection, evaluation_id, rejudging, rerunning)
        if record:
            with self.store.begin() as connection:
                payload = made.to_json()
                payload |= {"schema": PAYLOAD_VERSION, "replayed_at": utc_text(self.clock.now())}
                append(connection, EntryType.REPLAY, made.replay_id, payload)
        return made

    def _replayed(self, connection: sa.Connection, evaluation_id: str, rejudging: bool, rerunning: bool) -> Replay:
        found = entry_about(connection, EntryType.EVALUATION, evaluation_id)
        statement = sa.select(evaluation).where(evaluation.c.evaluation_id == evaluation_id)
        held = connection.execute(statement).mappings().one_or_none()
        if found is None or held is None:
            raise UsageError(
                f"there is no evaluation '{evaluation_id}'; `trivet ledger show --type evaluation` lists some"
            )
        row = _plain(held)
        statement = sa.select(member).where(member.c.evaluation_id == evaluation_id).order_by(member.c.ordinal)
        members = [_plain(item) for item in connection.execute(statement).mappings()]
        again = self._rejudged(connection, row, members) if rejudging else None
        run = self._rerun(connection, row, members, found.content()) if rerunning else None
        return Replay(uuid.uuid4().hex, evaluation_id, row["monitor"], found.seq, again, run)

    def _rejudged(
        self, connection: sa.Connection, row: Mapping[str, Any], members: Sequence[dict[str, Any]]
    ) -> Strength:
        if row["status"] != EvaluationStatus.COMPLETED:
            return Strength(ReplayResult.INPUTS_GONE, ("it could not be made, so no member was recorded",))
        if not (members or row["breach"] or row["no_data"]):
            return Strength(ReplayResult.INPUTS_GONE, ("every member was compliant, and those are not recorded",))
        try:
            contract = contract_of(connection, row["contract_hash"])
            definition = definition_of(connection, row["definition_hash"], contract)
        except TextGone as error:
            return Strength(ReplayResult.INPUTS_GONE, (str(error),))
        try:
            recorded = [recorded_member(item) for item in members]
        except (ValueError, KeyError, TypeError) as error:
            raise CheckFailedError(f"a recorded member is damaged ({error}); run `trivet ledger verify`") from error
        made = rejudge(definition, contract, recorded, _slot(row))
        _compare_counts(row, recorded, made)
        counts = {"reproduced": made.reproduced, "inputs_gone": made.inputs_gone, "diverged": made.diverged}
        return Strength(made.result, made.told, counts)

    def _rerun(
        self,
        connection: sa.Connection,
        row: Mapping[str, Any],
        members: Sequence[dict[str, Any]],
        payload: Mapping[str, Any],
    ) -> Strength:
        if row["status"] != EvaluationStatus.COMPLETED and NotMadeReason(row["reason"]) not in _FROM_DATA:
            return Strength(ReplayResult.INPUTS_GONE, (f"{row['reason']} tells of that moment, not of data",))
        if row["snapshot"] is None:
            return Strength(ReplayResult.INPUTS_GONE, ("no data could be opened then",))
        identity = json.loads(row["snapshot"])
        try:
            contract = contract_of(connection, row["contract_hash"])
            definition = definition_of(connection, row["definition_hash"], contract)
        except TextGone as error:
            return Strength(ReplayResult.INPUTS_GONE, (str(error),))
        file = generation_file(self.warehouse, identity["generation"]) if identity["generation"] else self.warehouse
        if not file.is_file():
            return Strength(ReplayResult.INPUTS_GONE, (f"{file.name} is not kept any more",))
        try:
            with DuckDBEngine(file).snapshot() as snapshot:
                present = snapshot.identity.to_json()
                changed = [name for name in ("generation", "size") if present[name] != identity[name]]
                if changed:
                    told = f"{file.name} is not the file that was read: its {', '.join(changed)} differ"
                    return Strength(ReplayResult.INPUTS_CHANGED, (told,))
                past = NamedHistory(connection, payload.get("baselines", {}))
                at, mask = _slot(row), partial(mask_of, self.store)
                made = judge(definition, contract, snapshot, at, mask, past)
                made = aged(made, definition, contract, snapshot, at, mask)
        except EngineFault as error:
            return Strength(ReplayResult.INPUTS_CHANGED, (f"{file.name} cannot be read: {error}",))
        differences = [*_differences(row, members, made), *_measure_differences(connection, row, made)]
        del differences[_MOST_DIFFERENCES:]
        if differences and present["modified_ns"] != identity["modified_ns"]:
            # A copy has another time and the same data; whatever has other data was written to.
            told = f"{file.name} was written to since it was read"
            return Strength(ReplayResult.INPUTS_CHANGED, (told, *differences[: _MOST_DIFFERENCES - 1]))
        return Strength(ReplayResult.DIVERGED if differences else ReplayResult.REPRODUCED, tuple(differences))


def _compare_counts(row: Mapping[str, Any], members: Sequence[RecordedMember], made: Rejudged) -> None:
    """Whether the recorded members are those that were counted, and make the evaluation's verdict."""
    found = Counter(item.verdict for item in members)
    for verdict in (Verdict.BREACH, Verdict.NO_DATA):
        counted = row[verdict.value]
        if row["recorded_truncated"] and counted > found[verdict]:
            made.lacks("they were counted, and are beyond those that are recorded", counted - found[verdict])
        elif counted != found[verdict]:
            made.differences.append(f"{verdict} was counted {counted} times and recorded {found[verdict]} times")
    worst = worst_verdict(row["breach"], row["no_data"])
    if row["verdict"] != worst:
        made.differences.append(f"it was recorded as {row['verdict']}, and its counts make it {worst}")


def _slot(row: Mapping[str, Any]) -> datetime:
    """The instant that the conditions looked at."""
    return datetime.fromisoformat(row["slot"])


def _plain(row: sa.RowMapping) -> dict[str, Any]:
    return {str(name): value for name, value in row.items()}


def _differences(row: Mapping[str, Any], members: Sequence[dict[str, Any]], made: Judgement) -> list[str]:
    """What a second run gives otherwise than it was recorded, a line each; the first of them suffice."""
    if isinstance(made.outcome, NotMade):
        now = (EvaluationStatus.NOT_MADE.value, made.outcome.reason.value)
        was = (row["status"], row["reason"])
        return [] if now == was else [f"it was {was[0]} ({was[1]}) and is {now[0]} ({now[1]})"]
    if row["status"] != EvaluationStatus.COMPLETED:
        return [f"it was {row['status']} ({row['reason']}) and is completed"]
    found = []
    for name in ("population", "breach", "no_data", "compliant", "partial", "duplicate_keys", "unexpected"):
        if row[name] != getattr(made.outcome, name):
            found.append(f"{name} was {row[name]} and is {getattr(made.outcome, name)}")
    again = list(member_rows(row["evaluation_id"], (*made.breached, *made.undecided)))
    if len(again) != len(members):
        found.append(f"{len(members)} members were recorded and there are {len(again)}")
    for recorded, present in zip(members, again, strict=False):
        if len(found) == _MOST_DIFFERENCES:
            break
        different = [name for name, value in present.items() if name != "salt" and recorded[name] != value]
        if different and recorded["erased"] is None:
            found.append(f"member {recorded['ordinal']}: {', '.join(different)} differ")
    return found


def _measure_differences(connection: sa.Connection, row: Mapping[str, Any], made: Judgement) -> list[str]:
    """Which measures a second run gives otherwise than they were recorded."""
    chosen = measure.c.evaluation_id == row["evaluation_id"]
    statement = sa.select(measure).where(chosen).order_by(measure.c.measure_hash, measure.c.ordinal)
    recorded = {(item.measure, item.ordinal): item for item in connection.execute(statement)}
    again = {(item["measure"], item["ordinal"]): item for item in measure_rows(row["evaluation_id"], made.measures)}
    if len(recorded) != len(again):
        return [f"{len(recorded)} measures were recorded and there are {len(again)}"]
    return [
        f"measure {key[0]} of group {key[1]} differs"
        for key, item in recorded.items()
        if key not in again or not _is_same_measure(item, again[key])
    ]


def _is_same_measure(recorded: sa.Row[Any], again: Mapping[str, object]) -> bool:
    same_group = recorded.erased is not None or recorded.member_key == again["member_key"]
    return same_group and (recorded.value, recorded.reason) == (again["value"], again["reason"])


def evaluation_named(connection: sa.Connection, name: str) -> str:
    """The id of an evaluation that a person named: by its id, or by the number of its ledger entry.

    Raises:
        UsageError: there is none.
    """
    found: LedgerEntry | None = None
    if name.isdecimal() and len(name) <= 18:
        found = entry(connection, int(name))
    found = found or entry_about(connection, EntryType.EVALUATION, name)
    if found is None or found.entry_type is not EntryType.EVALUATION:
        raise UsageError(f"'{name}' is no evaluation; `trivet ledger show --type evaluation` lists some")
    return found.subject_id


def latest_evaluations(connection: sa.Connection, last: int) -> list[str]:
    """The ids of the last evaluations, oldest first."""
    order = sa.desc(evaluation.c.finished_at)
    found = connection.execute(sa.select(evaluation.c.evaluation_id).order_by(order).limit(last)).scalars().all()
    return list(reversed(found))
