"""Questions that a monitor decides already, recognised by the monitor's own words."""

from __future__ import annotations

from collections.abc import Sequence

from resolver.outcome import Refusal
from resolver.phrases import PHRASES, Mark, meaningful, read_phrase, without_form
from resolver.plan import Measure, MonitorAsk, MonitorQuestion
from resolver.refusals import refuse
from resolver.vocabulary import Linked, MonitorWords, Target
from trivet.outcomes import ReasonCode
from trivet.stems import stem

LEAST_SHARE = 0.5
"""Share of a title's words that a question must hold to mean the monitor."""


def match_monitor(
    linked: Linked, monitors: Sequence[MonitorWords], corpus: frozenset[str]
) -> MonitorQuestion | Refusal | None:
    """The monitor that a question means; a refusal where it may mean several, None where it means none.

    Every word that carries meaning must be one of the monitor's, so nothing that is asked is passed over.

    Args:
        linked: the question.
        monitors: the words of each monitor.
        corpus: stems that name the whole corpus.
    """
    stems = [stem(word) for word in linked.question.words]
    if any(_is_figure(word) for word in stems) or any(target.value for span in linked.spans for target in span.targets):
        return None
    symbols = {found[0] for index in range(len(stems)) if (found := read_phrase(stems, index)) is not None}
    if symbols & {Measure.AVG, Measure.SUM, Mark.BY}:
        return None
    nouns = {index for span in linked.spans if _is_noun(span.targets) for index in range(span.start, span.end)}
    words = [word for index, word in enumerate(stems) if index not in nouns and word not in corpus]
    content = without_form(words)
    if Mark.MISSING in symbols and Mark.UNDECIDED not in symbols:
        unlinked = [item for item in monitors if content in item.linked and _concerns(item, linked)]
        return _one(unlinked, MonitorAsk.UNLINKED)
    best = _best([item for item in monitors if content and set(content) <= item.every], frozenset(content))
    if Mark.UNDECIDED in symbols:
        return _one(best, MonitorAsk.UNDECIDED)
    return _one(best, MonitorAsk.COUNT if Measure.COUNT in symbols else MonitorAsk.LIST)


def _best(monitors: Sequence[MonitorWords], content: frozenset[str]) -> list[MonitorWords]:
    shares = [(_share(item, content), item) for item in monitors]
    highest = max((share for share, _ in shares), default=0.0)
    return [item for share, item in shares if share == highest >= LEAST_SHARE]


def _share(item: MonitorWords, content: frozenset[str]) -> float:
    title = meaningful(item.title)
    return len(title & content) / len(title) if title else 0.0


def _one(found: Sequence[MonitorWords], asks: MonitorAsk) -> MonitorQuestion | Refusal | None:
    if not found:
        return None
    if len(found) == 1:
        return MonitorQuestion(found[0].definition.id, asks)
    titles = tuple(item.definition.title for item in found)
    return refuse(ReasonCode.AMBIGUOUS, f"it may mean the monitors {', '.join(titles)}", nearest=titles)


def _concerns(item: MonitorWords, linked: Linked) -> bool:
    """Whether the question is about the monitor's members: it names them, or no rows at all."""
    return not linked.objects_named or item.definition.object in linked.objects_named


def _is_noun(targets: Sequence[Target]) -> bool:
    return all(target.is_rows() for target in targets)


def _is_figure(word: str) -> bool:
    return (word,) not in PHRASES and word.lstrip("-").replace(".", "").replace("-", "").isdigit()
