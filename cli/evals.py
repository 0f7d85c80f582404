"""`trivet evals`: question banks, scored beside refusing everything."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from rich.text import Text

from catalog.contract import Contract
from cli.demo import build_example
from cli.invocation import Invocation, command
from cli.output import Output, visible
from evals.bank import Bank
from evals.banks import shipped_bank
from evals.judging import Judged, Judgement
from evals.loading import load_bank
from evals.report import passes, report
from evals.runner import Asked, Run, check_contract, run_bank
from evals.scoring import METRICS, Share, counts, refuse_all, score
from monitors.definition import MonitorDefinition
from trivet.errors import InputError, UsageError
from trivet.exits import Exit
from worker.asking import resolver_of
from worker.bootstrap import Wiring
from worker.outcomes import StoreRecorder
from worker.workspace import read_workspace

_LEXICAL, _REPLAY = "lexical", "replay"
_RECORDING = ".replay.jsonl"
_MOST_BYTES = 300_000
"""A little above what a YAML file may have, so that its own message is the one that is seen."""
_AS_LABELLED = (Judgement.RIGHT, Judgement.REFUSED_RIGHTLY)


@click.group()
def evals() -> None:
    """Question banks: how often answers are right, and refusals too."""


@evals.command("run")
@click.option(
    "--proposer",
    type=click.Choice([_LEXICAL, _REPLAY]),
    default=_LEXICAL,
    show_default=True,
    help="Where proposals come from: the contract's words, or a recording.",
)
@click.option("--replay", type=click.Path(path_type=Path, dir_okay=False), help="The recording (JSON Lines).")
@click.option("--bank", "file", type=click.Path(path_type=Path, dir_okay=False), help="Another bank than Aruma's.")
@command
def run_evals(invocation: Invocation, proposer: str, replay: Path | None, file: Path | None) -> int:
    """Ask every question of a bank, and score what comes of it.

    The workspace is the one that -C or TRIVET_WORKSPACE names; where neither does, the bundled example is
    built in a temporary directory.
    """
    file = file or shipped_bank()
    recording = _recording(proposer, replay, file)
    bank = _read_bank(file)
    with _ready(invocation, bank) as ready:
        resolver = resolver_of(
            ready.wiring,
            ready.contract,
            ready.monitors,
            recorder=StoreRecorder(ready.wiring.store(), ready.contract),
            replay=recording,
            ask_model=False,
        )
        run = run_bank(bank, resolver, ready.wiring.engine(), _Progress(invocation.output, len(bank.questions)))
    if invocation.output.as_json:
        digest = hashlib.sha256(recording.read_bytes()).hexdigest() if recording else None
        invocation.output.document(
            report(run, proposer=proposer, recording=digest, contract=ready.contract.reference())
        )
    else:
        _show(invocation.output, run, proposer, ready.contract)
    return _end(invocation.output, run)


@dataclass(frozen=True, slots=True)
class _Ready:
    wiring: Wiring
    contract: Contract
    monitors: tuple[MonitorDefinition, ...]


@contextmanager
def _ready(invocation: Invocation, bank: Bank) -> Iterator[_Ready]:
    """A workspace that can be asked: the one that was named, or a new one of the example for this run alone."""
    if invocation.directory is not None or invocation.environment.get("TRIVET_WORKSPACE"):
        workspace = invocation.workspace()
        _, contract, monitors = workspace.require()
        check_contract(bank, contract)
        yield _Ready(invocation.wiring(workspace), contract, monitors)
        return
    with TemporaryDirectory(prefix="trivet-evals-") as folder:
        path = Path(folder) / "workspace"
        build_example(path)
        # The labels hold for the example as it is shipped, whatever settings the environment makes.
        settings, contract, monitors = read_workspace(path, {}).require()
        check_contract(bank, contract)
        wiring = Wiring(path, settings, {}, invocation.clock)
        wiring.ingest(contract)
        yield _Ready(wiring, contract, monitors)


def _recording(proposer: str, replay: Path | None, bank: Path) -> Path | None:
    """The recording to replay: the one that was named, else the one beside the bank."""
    if proposer == _LEXICAL:
        if replay is not None:
            raise UsageError("--replay names a recording, which only `--proposer replay` reads")
        return None
    beside = bank.with_suffix(_RECORDING)
    if replay is None and not beside.is_file():
        raise UsageError(f"there is no recording '{beside.name}' beside the bank; name one with --replay")
    return replay or beside


def _read_bank(file: Path) -> Bank:
    try:
        with file.open("rb") as handle:
            text = handle.read(_MOST_BYTES)
    except OSError as error:
        raise UsageError(f"the bank '{file}' cannot be read: {error.strerror}") from None
    read = load_bank(text, file.name)
    if read.bank is None:
        raise InputError(read.findings)
    return read.bank


class _Progress:
    """Says how far a run is where someone watches."""

    def __init__(self, output: Output, total: int) -> None:
        self._output, self._total, self._done = output, total, 0

    def __call__(self, asked: Asked) -> None:
        self._done += 1
        if self._done % 10 == 0 or self._done == self._total:
            self._output.progress(f"{self._done} of {self._total} questions asked")


def _show(output: Output, run: Run, proposer: str, contract: Contract) -> None:
    judged = run.judged
    head = f"\n{len(judged)} questions of the bank {run.bank.id} under {contract.id} {contract.version}"
    output.print(Text(f"{head}, proposals: {proposer}", style="bold"))
    mine, baseline = score(judged), score(refuse_all(run.bank.questions))
    rows = [(_words(name), *_shares(getattr(mine, name), getattr(baseline, name))) for name in METRICS]
    output.table(["metric", "count", "rate", "refuse all", "its rate"], rows)
    found = [
        (label.value, str(sum(ends.values())), *(str(ends[end]) for end in Judgement))
        for label, ends in counts(judged).items()
    ]
    output.table(["labelled", "questions", *(_words(end.value) for end in Judgement)], found)
    others = [item for item in judged if item.judgement not in _AS_LABELLED or not _reason_fits(item)]
    if others:
        rows = [(item.question.id, item.question.ask, _words(item.judgement.value), _why(item)) for item in others]
        output.table(["question", "asked", "came to", "why"], rows, title="Not as labelled")


def _shares(*shares: Share) -> Iterator[str]:
    for share in shares:
        yield f"{share.count} of {share.of}"
        yield "—" if share.rate is None else f"{share.rate:.1%}"


def _reason_fits(item: Judged) -> bool:
    return item.answered or item.reason_right


def _why(item: Judged) -> str:
    if item.judgement is Judgement.REFUSED_RIGHTLY:
        return f"{item.reason}, labelled {item.question.reason}"
    return item.why or str(item.reason)


def _words(name: str) -> str:
    return name.replace("_", " ")


def _end(output: Output, run: Run) -> int:
    judged = run.judged
    wrong = [item for item in judged if item.judgement is Judgement.WRONG]
    output.print(Text(f"confidently wrong: {len(wrong)}", style="bold red" if wrong else "bold green"))
    for item in wrong:
        output.complain(f"{item.question.id}: {visible(item.question.ask)}: {item.why}")
    for asked in run.asked:
        if asked.judged.is_fault:
            output.complain(f"{asked.judged.question.id}: could not be run, so the run is not whole")
    return Exit.FINE if passes(judged) else Exit.CHECK_FAILED
