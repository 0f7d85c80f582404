"""An engine that runs each statement once in a run: the same data gives the same rows, and each costs a process."""

from __future__ import annotations

from catalog.engines.port import QuestionEngine, QuestionResult
from catalog.referee.certified import CertifiedQuery


class Remembering:
    """Remembers results, and no faults. The data must not change meanwhile; the runner holds that it did not."""

    def __init__(self, engine: QuestionEngine) -> None:
        """Args: what runs a statement the first time."""
        self.name, self.version = engine.name, engine.version
        self._engine = engine
        self._results: dict[str, QuestionResult] = {}

    def run(self, query: CertifiedQuery) -> QuestionResult:
        """The rows of a query; raises as the engine does."""
        # Two threads may both find nothing and both run it; they get the same rows.
        statement = query.bounded_sql or query.sql
        found = self._results.get(statement)
        if found is None:
            found = self._results[statement] = self._engine.run(query)
        return found
