"""The resolver of one workspace, built from its settings: who proposes, who judges, and where outcomes are kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from catalog.contract import Contract
from catalog.engines.duckdb_question import DuckDBQuestionEngine
from catalog.engines.port import Engine
from compiler.compile import compile_monitor
from monitors.definition import MonitorDefinition
from monitors.evaluation import NotMade
from monitors.masking import Mask
from resolver.candidates import Proposer
from resolver.models.lexical import LexicalProposer
from resolver.models.openai import Endpoint, OpenAIProposer
from resolver.models.replay import read_recording
from resolver.pipeline import Resolver
from resolver.ports import NO_RECORDER, Judged, Recorder
from resolver.vocabulary import monitor_words
from trivet.clock import Clock
from trivet.errors import UsageError
from worker.aging import aged
from worker.baselines import LookBack
from worker.bootstrap import Wiring
from worker.judging import involved_objects, judge, warehouse_fault
from worker.masking import mask_of


def resolver_of(
    wiring: Wiring,
    contract: Contract,
    monitors: tuple[MonitorDefinition, ...],
    *,
    recorder: Recorder = NO_RECORDER,
    replay: Path | None = None,
    ask_model: bool = True,
) -> Resolver:
    """The resolver of a workspace.

    The settings' model proposes where there is one; without one, questions are read by the contract's words.

    Args:
        wiring: the workspace.
        contract: its contract.
        monitors: its monitors; disabled ones decide no question.
        recorder: where outcomes are written down.
        replay: a recording whose replies are used in place of any model.
        ask_model: False reads questions by the contract's words, whatever model the settings name.

    Raises:
        InputError: a secret is missing, or the recording is at fault.
        UsageError: the recording cannot be read.
    """
    enabled = tuple(item for item in monitors if item.enabled)
    return Resolver(
        contract=contract,
        monitors=enabled,
        proposer=_proposer(wiring, contract, enabled, replay, ask_model),
        engine=question_engine(wiring, contract),
        judge=MonitorJudge(contract, wiring.engine(), wiring.clock, partial(_mask, wiring), wiring.look_back(contract)),
        clock=wiring.clock,
        recorder=recorder,
    )


def question_engine(wiring: Wiring, contract: Contract) -> DuckDBQuestionEngine:
    """What runs the statements of questions, within the contract's limits."""
    return DuckDBQuestionEngine(wiring.warehouse, timeout=contract.limits.timeout)


@dataclass(frozen=True, slots=True)
class MonitorJudge:
    """Judges a monitor on a snapshot of its own, and records no evaluation."""

    contract: Contract
    engine: Engine
    clock: Clock
    mask: Callable[[], Mask]
    look_back: LookBack

    def __call__(self, definition: MonitorDefinition) -> Judged:
        """Every member's verdict at this instant; whatever goes wrong is a `NotMade`."""
        at = self.clock.now()
        views = tuple(item.view for item in involved_objects(definition, self.contract))
        try:
            with self.engine.snapshot() as snapshot:
                made = judge(definition, self.contract, snapshot, at, self.mask, self.look_back)
                made = aged(made, definition, self.contract, snapshot, at, self.mask)
                if isinstance(made.outcome, NotMade):
                    return Judged(made.outcome, (), (), None, views)
                physical = {view: dict(snapshot.columns(view) or {}) for view in views}
                compiled = compile_monitor(definition, self.contract, physical, at=at)
                sql = f"{compiled.breach.query.sql};\n\n{compiled.no_data.query.sql};"
                return Judged(made.outcome, made.breached, made.undecided, sql, views, snapshot.identity.to_json())
        except Exception as error:
            return Judged(warehouse_fault(error), (), (), None, views)


def _mask(wiring: Wiring) -> Mask:
    """The mask of the store, so that an answer names members as alerts do; another one where there is no store."""
    return mask_of(None if wiring.store_is_missing() else wiring.store(create=False))


def _proposer(
    wiring: Wiring, contract: Contract, monitors: tuple[MonitorDefinition, ...], replay: Path | None, ask_model: bool
) -> Proposer:
    if replay is not None:
        try:
            text = replay.read_text("utf-8")
        except (OSError, UnicodeError):
            raise UsageError(f"the recording '{replay}' cannot be read") from None
        return read_recording(text, replay.name)
    settings = wiring.settings.model
    if settings.provider == "none" or not ask_model:
        return LexicalProposer(contract, tuple(monitor_words(item, contract) for item in monitors))
    endpoints = tuple(
        Endpoint(
            item.base_url,
            item.name,
            wiring.secret(item.api_key) if item.api_key else None,
        )
        for item in settings.endpoints
    )
    return OpenAIProposer(
        contract,
        monitors,
        endpoints,
        candidates=settings.candidates,
        temperature=settings.temperature,
        seed=settings.seed,
        policy=settings.policy,
    )
