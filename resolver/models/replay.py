"""The proposer that repeats what was recorded: decisions are the same whenever and wherever it runs.

A recording is JSON Lines, one question a line:
`{"question": "...", "model": "...", "replies": [{"content": "...", "finish_reason": "stop"}]}`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from resolver.candidates import Proposal
from resolver.models.replies import Reply, candidates_of
from resolver.outcome import Refusal
from resolver.question import plain_text
from resolver.refusals import refuse
from resolver.vocabulary import Linked
from trivet.canonical import Json, normal_text
from trivet.errors import InputError
from trivet.findings import Finding, Position
from trivet.outcomes import ReasonCode


@dataclass(frozen=True, slots=True)
class Recording:
    """What a model replied to one question."""

    model: str
    replies: tuple[Reply, ...]


@dataclass(frozen=True, slots=True)
class ReplayProposer:
    """Repeats recorded replies, found by the question's plain text."""

    recordings: Mapping[str, Recording]

    def propose(self, linked: Linked) -> Proposal | Refusal:
        """The recorded candidates; MODEL_UNAVAILABLE where the question was not recorded."""
        found = self.recordings.get(linked.question.plain)
        if found is None:
            return refuse(ReasonCode.MODEL_UNAVAILABLE, "the recording does not hold this question")
        model: dict[str, Json] = {"provider": "replay", "proposer": "replay", "names": [normal_text(found.model)]}
        candidates = tuple(candidates_of(found.replies, found.model))
        return Proposal(candidates, max(len(found.replies), 1), model)


def read_recording(text: str, file: str) -> ReplayProposer:
    """The proposer of a recording.

    Raises:
        InputError: lines are at fault; every finding is carried.
    """
    recordings: dict[str, Recording] = {}
    findings: list[Finding] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        found = _read_line(line)
        if isinstance(found, str):
            findings.append(Finding(file, Position(number, 1), "", found))
        elif found[0] in recordings:
            findings.append(Finding(file, Position(number, 1), "question", "this question was recorded above already"))
        else:
            recordings[found[0]] = found[1]
    if findings:
        raise InputError(findings)
    return ReplayProposer(recordings)


def _read_line(line: str) -> tuple[str, Recording] | str:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return "expected one JSON object a line"
    match value:
        case {"question": str(question), "replies": list(replies), **rest} if set(rest) <= {"model"}:
            model = rest.get("model", "replay")
        case _:
            return "expected the keys question and replies, and model if it is known"
    read: list[Reply] = []
    for reply in replies:
        match reply:
            case {"content": str() | None as content, "finish_reason": str(reason), **others} if not others:
                read.append(Reply(content, reason))
            case _:
                return "expected of each reply the keys content and finish_reason"
    return plain_text(question), Recording(str(model), tuple(read))
