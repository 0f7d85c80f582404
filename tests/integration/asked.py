"""The Aruma workspace, ingested once, and questions asked of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from catalog.contract import Contract
from catalog.engines.port import QuestionEngine, QuestionResult
from catalog.referee.certified import CertifiedQuery
from monitors.definition import MonitorDefinition
from resolver.candidates import Proposer
from resolver.outcome import Answer, Outcome, Refusal
from resolver.pipeline import Resolver
from tests.acceptance.command import trivet
from trivet.clock import SystemClock
from worker.asking import resolver_of
from worker.bootstrap import Wiring
from worker.workspace import Workspace, read_workspace


class Remembering:
    """An engine that runs each statement once: the data of these tests never changes, and a process each costs time."""

    def __init__(self, engine: QuestionEngine, results: dict[str, QuestionResult]) -> None:
        self.name, self.version = engine.name, engine.version
        self._engine, self._results = engine, results

    def run(self, query: CertifiedQuery) -> QuestionResult:
        if query.sql not in self._results:
            self._results[query.sql] = self._engine.run(query)
        return self._results[query.sql]


class Aruma:
    """An ingested copy of the example."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._results: dict[str, QuestionResult] = {}
        ended = trivet("demo", path)
        assert ended.code == 0, ended.err

    @cached_property
    def workspace(self) -> Workspace:
        return read_workspace(self.path, {})

    @property
    def contract(self) -> Contract:
        return self.workspace.require()[1]

    @property
    def monitors(self) -> Sequence[MonitorDefinition]:
        return self.workspace.require()[2]

    @property
    def wiring(self) -> Wiring:
        return Wiring(self.path, self.workspace.require_settings(), {}, SystemClock())

    def resolver(self, proposer: Proposer | None = None) -> Resolver:
        """The workspace's resolver, which records nothing; with another proposer if one is given."""
        made = resolver_of(self.wiring, self.contract, tuple(self.monitors))
        made = replace(made, engine=Remembering(made.engine, self._results))
        return made if proposer is None else replace(made, proposer=proposer)

    def ask(self, question: str, proposer: Proposer | None = None) -> Outcome:
        return self.resolver(proposer).ask(question).outcome


def answer_of(outcome: Outcome) -> Answer:
    """The answer that an outcome must hold."""
    assert isinstance(outcome.ending, Answer), outcome.ending
    return outcome.ending


def refusal_of(outcome: Outcome) -> Refusal:
    """The refusal that an outcome must hold."""
    assert isinstance(outcome.ending, Refusal), outcome.ending
    return outcome.ending
