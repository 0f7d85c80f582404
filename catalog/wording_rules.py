"""What must hold of the glossary, the stated gaps and the verified questions beyond the shape of their file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from catalog.document import ContractModel
from catalog.wording_document import GlossaryModel, RefusalModel, VerifiedQueryModel
from trivet.documents import Document, Path, shown
from trivet.findings import Finding, did_you_mean
from trivet.stems import holds, stems_of

Stems = tuple[str, ...]


def wording_findings(read: Sequence[tuple[Document, ContractModel]]) -> Iterator[Finding]:
    """Every fault of the three sections, in all files together."""
    rules = _Rules(_names(read), _means(read), tuple(_descriptions(read)))
    for document, model in read:
        for index, term in enumerate(model.glossary):
            yield from rules.term(document, ("glossary", index), term)
    for document, model in read:
        for index, refusal in enumerate(model.refusals):
            yield from rules.refusal(document, ("refusals", index), refusal)
    for document, model in read:
        for index, query in enumerate(model.verified_queries):
            yield from rules.verified(document, ("verified_queries", index), query)


def final_meaning(term: GlossaryModel, glossary: Sequence[GlossaryModel]) -> str | None:
    """What a term means in the end, through other terms; None where they lead back to it."""
    following = {stems_of(item.term): item.means for item in glossary}
    seen: set[Stems] = {stems_of(term.term)}
    means = term.means
    while (stems := stems_of(means)) in following:
        if stems in seen:
            return None
        seen.add(stems)
        means = following[stems]
    return means


@dataclass
class _Rules:
    names: dict[Stems, str]
    """Everything that a question may name, by its stems."""
    means: tuple[set[str], list[GlossaryModel]]
    """What a term may mean, and the glossary."""
    descriptions: tuple[str, ...]
    terms: dict[Stems, str] = field(default_factory=dict)
    refusals: dict[str, str] = field(default_factory=dict)
    refused: dict[Stems, str] = field(default_factory=dict)
    """The refusal of each term of one."""
    asked: dict[Stems, str] = field(default_factory=dict)

    def term(self, document: Document, path: Path, model: GlossaryModel) -> Iterator[Finding]:
        """The faults of one term of the glossary."""
        stems = stems_of(model.term)
        yield from _wordless(document, (*path, "term"), stems)
        if stems in self.terms:
            yield document.finding((*path, "term"), f"'{self.terms[stems]}' stands here already; keep one of them")
        self.terms.setdefault(stems, model.term)
        hidden = next((name for known, name in self.names.items() if stems and holds(known, stems)), None)
        if hidden is not None:
            message = f"it would hide '{hidden}', which the contract names; a term is no part of a name"
            yield document.finding((*path, "term"), message)
        known, glossary = self.means
        means = final_meaning(model, glossary)
        if means is None:
            yield document.finding((*path, "means"), "its meaning leads back to itself; let it mean a name")
        elif means not in known:
            where = "" if means == model.means else f", which '{shown(model.means)}' leads to"
            message = f"the contract names no '{shown(means)}'{where}{did_you_mean(means, known)}"
            yield document.finding((*path, "means"), message)

    def refusal(self, document: Document, path: Path, model: RefusalModel) -> Iterator[Finding]:
        """The faults of one stated gap."""
        if model.id in self.refusals:
            yield document.finding((*path, "id"), f"'{model.id}' stands here twice; ids must be distinct")
        self.refusals.setdefault(model.id, model.id)
        for index, term in enumerate(model.terms):
            place, stems = (*path, "terms", index), stems_of(term)
            yield from _wordless(document, place, stems)
            if stems in self.refused:
                message = f"refusal '{self.refused[stems]}' has this term already; a question is refused once"
                yield document.finding(place, message)
            self.refused.setdefault(stems, model.id)
            if (name := self.names.get(stems) or self.terms.get(stems)) is not None:
                message = f"'{name}' is a name by which questions are answered; refuse another word"
                yield document.finding(place, message)
        if not any(model.evidence in text for text in self.descriptions):
            message = "no description of this contract holds these words; quote one letter by letter"
            yield document.finding((*path, "evidence"), message)

    def verified(self, document: Document, path: Path, model: VerifiedQueryModel) -> Iterator[Finding]:
        """The faults of one verified question, but for those that the referee finds in its SQL."""
        place, stems = (*path, "question"), stems_of(model.question)
        yield from _wordless(document, place, stems)
        if stems in self.asked:
            yield document.finding(place, f"'{shown(self.asked[stems])}' asks the same; keep one of them")
        self.asked.setdefault(stems, model.question)
        for term, refusal in self.refused.items():
            if term and holds(stems, term):
                message = f"it has '{' '.join(term)}', which refusal '{refusal}' refuses"
                yield document.finding(place, message)


def _wordless(document: Document, path: Path, stems: Stems) -> Iterator[Finding]:
    if not stems:
        yield document.finding(path, "it has no word of a to z and no number, by which a question could be known")


def _names(read: Sequence[tuple[Document, ContractModel]]) -> dict[Stems, str]:
    found: dict[Stems, str] = {}
    for _, model in read:
        for item in model.object_types:
            properties = [name for part in item.properties for name in (part.name, *part.synonyms)]
            for name in (item.name, *properties):
                found.setdefault(stems_of(name.replace("_", " ")), name)
        for metric in model.metrics:
            for name in (metric.name, *metric.synonyms):
                found.setdefault(stems_of(name.replace("_", " ")), name)
    return found


def _means(read: Sequence[tuple[Document, ContractModel]]) -> tuple[set[str], list[GlossaryModel]]:
    known: set[str] = set()
    for _, model in read:
        known |= {metric.name for metric in model.metrics}
        for item in model.object_types:
            known |= {item.name, *(part.name for part in item.properties)}
            known |= {f"{item.name}.{part.name}" for part in item.properties}
    return known, [term for _, model in read for term in model.glossary]


def _descriptions(read: Sequence[tuple[Document, ContractModel]]) -> Iterator[str]:
    for _, model in read:
        if model.identity is not None:
            yield model.identity.statement
        for item in model.object_types:
            yield from (item.description, item.grain, *(part.description for part in item.properties))
        yield from (link.description for link in model.link_types)
        yield from (metric.description for metric in model.metrics)
