"""The life of one question, from top to bottom. This is the file to read first.

A pipeline is a tuple of stages. Each takes the state and gives the next one, or stops the question
with a refusal. However it ends, the outcome is recorded: a question that leaves no trace did not happen.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal

from catalog.contract import Contract
from catalog.engines.port import QuestionEngine
from monitors.definition import MonitorDefinition
from resolver import stages
from resolver.candidates import Proposer
from resolver.conclusion import conclude
from resolver.consensus import THRESHOLD
from resolver.outcome import Outcome
from resolver.ports import NO_RECORDER, JudgeMonitor, Recorder
from resolver.question import Question
from resolver.refusals import refuse
from resolver.running import OneSnapshot
from resolver.state import Parts, State, Stopped
from trivet.clock import Clock
from trivet.outcomes import ReasonCode

_log = logging.getLogger(__name__)

Stage = Callable[[State, Parts], State | Stopped]

PIPELINE: tuple[tuple[str, Stage], ...] = (
    ("intent", stages.check_intent),
    ("link", stages.link),
    ("propose", stages.propose),
    ("referee", stages.referee),
    ("execute", stages.execute),
    ("consensus", stages.agree_on_one),
    ("absence", stages.account_for_absence),
    ("draft", stages.draft),
    ("frame", stages.frame_assumptions),
    ("ground", stages.ground_claims),
)
"""The stages in their order, each with the name under which its time is told."""


@dataclass(frozen=True, slots=True)
class Asked:
    """An outcome and the ledger entry that binds it; None where nothing was recorded."""

    outcome: Outcome
    ledger_seq: int | None


@dataclass(frozen=True, slots=True)
class Resolver:
    """Answers questions against one contract and one warehouse."""

    contract: Contract
    monitors: tuple[MonitorDefinition, ...]
    proposer: Proposer
    engine: QuestionEngine
    judge: JudgeMonitor
    clock: Clock
    recorder: Recorder = NO_RECORDER
    threshold: Decimal = THRESHOLD

    def ask(self, text: str, asker: str | None = None) -> Asked:
        """The outcome of one question. Whatever goes wrong ends in a refusal that says so, never in an exception.

        Raises:
            TrivetError: the outcome cannot be recorded.
        """
        question = Question(uuid.uuid4().hex, text, self.clock.now(), asker)
        engine = OneSnapshot(self.engine)
        parts = Parts(self.contract, self.monitors, self.proposer, engine, self.judge, self.threshold)
        state, stopped = _run(State(question), parts)
        outcome = conclude(state, stopped, parts, self.clock.now())
        return Asked(outcome, self.recorder.record(outcome))


def _run(state: State, parts: Parts) -> tuple[State, Stopped | None]:
    for name, stage in PIPELINE:
        started = time.monotonic()
        try:
            ended = stage(state, parts)
        except Exception as error:
            # A fault of ours must not lose the question.
            _log.exception("question %s failed in stage %s", state.question.request_id, name)
            what = f"fault in Trivet, stage {name}: {type(error).__name__}"
            ended = Stopped(state, refuse(ReasonCode.EXEC_ERROR, what))
        spent = round((time.monotonic() - started) * 1000)
        state = ended.state if isinstance(ended, Stopped) else ended
        state = replace(state, timings_ms={**state.timings_ms, name: spent})
        if isinstance(ended, Stopped):
            return state, ended
    return state, None
