"""Writing an evaluation down: its row, counts, members and measures, and the ledger entry that binds them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice

import sqlalchemy as sa

from ledger.append import Draft, append_all
from ledger.bound_rows import collect_rows_root, new_salt, rows_root
from ledger.entries import EntryType, LedgerEntry
from ledger.texts import PublishedText, missing_texts
from monitors.baselines import MeasuredValue
from monitors.evaluation import Evaluation, Member, NotMade
from trivet.canonical import Json, canonical_json, normal_text
from trivet.clock import utc_text
from trivet.verdicts import Verdict
from worker.binding import EVALUATION_BINDING
from worker.tables import audit, evaluation, measure, member

PAYLOAD_VERSION = 1
_CHUNK = 5_000


def record(connection: sa.Connection, made: Evaluation, texts: Sequence[PublishedText] = ()) -> LedgerEntry:
    """Writes one evaluation; see `record_all`."""
    (entry,) = record_all(connection, [made], texts)
    return entry


def record_all(
    connection: sa.Connection, made: Sequence[Evaluation], texts: Sequence[PublishedText] = ()
) -> list[LedgerEntry]:
    """Writes evaluations whole, inside the caller's transaction, and gives their entries. It never commits.

    Args:
        connection: with a writing transaction.
        made: the evaluations.
        texts: what they refer to by hash; those that the ledger lacks are published first.
    """
    rows = [_evaluation_row(item) for item in made]
    counts = [list(_audit_rows(item)) for item in made]
    connection.execute(evaluation.insert(), rows)
    connection.execute(audit.insert(), [row for of_one in counts for row in of_one])
    drafts = []
    for item, row, of_one in zip(made, rows, counts, strict=True):
        members = member_rows(item.evaluation_id, (*item.breached, *item.undecided))
        while chunk := list(islice(members, _CHUNK)):
            connection.execute(member.insert(), chunk)
        measures = measure_rows(item.evaluation_id, item.measures)
        while chunk := list(islice(measures, _CHUNK)):
            connection.execute(measure.insert(), chunk)
        root = _rows_root(connection, item, row, of_one)
        drafts.append(Draft(EntryType.EVALUATION, item.evaluation_id, _payload(item, root.hex())))
    entries = append_all(connection, [*missing_texts(connection, texts), *drafts])
    return entries[len(entries) - len(drafts) :]


def _rows_root(
    connection: sa.Connection, made: Evaluation, row: Mapping[str, Json], counts: Sequence[Mapping[str, Json]]
) -> bytes:
    """What the entry binds: read back from the store, but where nothing was judged and there may be thousands."""
    if not isinstance(made.outcome, NotMade):
        return collect_rows_root(connection, EVALUATION_BINDING, made.evaluation_id)
    of_counts = ((audit.name, item) for item in counts)
    return rows_root(EVALUATION_BINDING, [(evaluation.name, row), *of_counts])


def _evaluation_row(made: Evaluation) -> dict[str, Json]:
    not_made = made.outcome if isinstance(made.outcome, NotMade) else None
    return {
        "evaluation_id": made.evaluation_id,
        "monitor": made.definition.id,
        "definition_hash": made.definition.definition_hash,
        "contract_id": made.contract["id"],
        "contract_version": made.contract["version"],
        "contract_hash": made.contract["hash"],
        "object": made.definition.object,
        "trigger": made.trigger.value,
        "slot": made.slot.isoformat(),
        "scheduled_for": utc_text(made.slot),
        "started_at": utc_text(made.started_at),
        "finished_at": utc_text(made.finished_at),
        "status": made.status.value,
        "verdict": made.verdict.value,
        "reason": not_made.reason.value if not_made else None,
        "cause": not_made.cause.value if not_made and not_made.cause else None,
        "message": _storable(not_made.message) if not_made and not_made.message else None,
        **made.counts_json(),
        "no_data_reasons": _json(made.reasons_json()),
        "engine": made.engine,
        "engine_version": made.engine_version,
        "snapshot": _json(dict(made.snapshot)) if made.snapshot is not None else None,
        "queries_hash": made.queries_hash,
        "recorded_truncated": made.recorded_truncated,
    }


def _audit_rows(made: Evaluation) -> Iterator[dict[str, Json]]:
    """One row for each verdict, zeros included; for an evaluation that could not be made one, without a count."""
    if isinstance(made.outcome, NotMade):
        reasons = _json({made.outcome.reason.value: None})
        yield {
            "evaluation_id": made.evaluation_id,
            "verdict": Verdict.NO_DATA.value,
            "count": None,
            "reasons": reasons,
        }
        return
    counts = {
        Verdict.BREACH: made.outcome.breach,
        Verdict.NO_DATA: made.outcome.no_data,
        Verdict.COMPLIANT: made.outcome.compliant,
    }
    for verdict, count in counts.items():
        reasons = _json(made.reasons_json() if verdict is Verdict.NO_DATA else {})
        yield {
            "evaluation_id": made.evaluation_id,
            "verdict": verdict.value,
            "count": count,
            "reasons": reasons,
        }


def member_rows(evaluation_id: str, members: Iterable[Member]) -> Iterator[dict[str, object]]:
    """Members as rows of `member`, breached ones first."""
    for ordinal, item in enumerate(members, start=1):
        yield {"evaluation_id": evaluation_id, "ordinal": ordinal, **_member_row(item)}


def _member_row(item: Member) -> dict[str, object]:
    return {
        "verdict": item.verdict.value,
        "member_key": _json(dict(item.key)),
        "reason": item.reason.value if item.reason else None,
        "causes": _json({name: list(causes) for name, causes in item.causes.items()}),
        "operands": _json(dict(item.operands)),
        "provenance": _json([dict(part) for part in item.provenance]),
        "partial": item.partial,
        "salt": new_salt(),
    }


def measure_rows(evaluation_id: str, measures: Iterable[MeasuredValue]) -> Iterator[dict[str, object]]:
    """Measured values as rows of `measure`, numbered in each measure."""
    for measure_hash, values in groupby(measures, key=lambda item: item.measure_hash):
        for ordinal, item in enumerate(values, start=1):
            yield {
                "evaluation_id": evaluation_id,
                "measure_hash": measure_hash,
                "ordinal": ordinal,
                "measure": item.measure,
                "member_key": item.key,
                "value": item.value,
                "reason": item.reason.value if item.reason else None,
                "salt": new_salt(),
            }


def _payload(made: Evaluation, rows_root: str) -> dict[str, Json]:
    not_made = made.outcome if isinstance(made.outcome, NotMade) else None
    covers = {"covers_after": not_made.covers_after} if not_made and not_made.covers_after else {}
    return {
        "schema": PAYLOAD_VERSION,
        "evaluation_id": made.evaluation_id,
        "monitor_id": made.definition.id,
        "definition_hash": made.definition.definition_hash,
        "contract": dict(made.contract),
        "trigger": made.trigger.value,
        "scheduled_for": utc_text(made.slot),
        "started_at": utc_text(made.started_at),
        "finished_at": utc_text(made.finished_at),
        "status": made.status.value,
        "verdict": made.verdict.value,
        "reason": not_made.reason.value if not_made else None,
        "cause": not_made.cause.value if not_made and not_made.cause else None,
        "counts": made.counts_json(),
        "no_data_reasons": made.reasons_json(),
        "engine": {"name": made.engine, "version": made.engine_version},
        "snapshot": dict(made.snapshot) if made.snapshot is not None else None,
        "queries_hash": made.queries_hash,
        "recorded_truncated": made.recorded_truncated,
        **made.baselines_json(),
        **made.first_attempt_json(),
        "rows_root": rows_root,
        **covers,
    }


def _json(value: Json) -> str:
    return canonical_json(_normal(value)).decode("utf-8")


def _normal(value: Json) -> Json:
    """Text from data made fit for the ledger; NUL has no place in a PostgreSQL text."""
    if isinstance(value, str):
        return _storable(value)
    if isinstance(value, dict):
        return {_ascii(key): _normal(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_normal(item) for item in value]
    if isinstance(value, int) and abs(value) >= 2**53:
        # A row number of the source may be any 64-bit integer; beyond this it travels as text.
        return str(value)
    return value


def _storable(text: str) -> str:
    return normal_text(text).replace("\0", "\ufffd")


def _ascii(key: str) -> str:
    """Keys are operands as printed, and a text literal among them may hold anything."""
    return key if key.isascii() else key.encode("ascii", "backslashreplace").decode("ascii")
