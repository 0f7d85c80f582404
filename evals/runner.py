"""The life of a run, from top to bottom. This is the file to read first.

Every question goes through the resolver as a person's would, and leaves its trace in the ledger. A run
whose figures would mean something else than they say is no run: another contract than the labels are
for, a warehouse that is not there, or data that was replaced meanwhile end it.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from catalog.contract import Contract
from catalog.engines.port import Engine, EngineFault, SnapshotIdentity
from evals.bank import Bank, Question
from evals.judging import Judged, judge
from evals.remembering import Remembering
from resolver.outcome import Outcome
from resolver.pipeline import Resolver
from trivet.errors import CheckFailedError, UnavailableError, UsageError

ASKER = "trivet evals"
"""Who asks, as the ledger has it: so its entries are told from those of people."""
AT_ONCE = 2
"""Questions that are asked at the same time."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One question of a bank with its outcome and what it came to."""

    judged: Judged
    outcome: Outcome
    ledger_seq: int | None
    """The ledger entry that binds the outcome; None where nothing was recorded."""


@dataclass(frozen=True, slots=True)
class Run:
    """A whole run."""

    bank: Bank
    asked: tuple[Asked, ...]
    """In the order of the bank."""
    snapshot: SnapshotIdentity
    """The data that all of them saw."""

    @property
    def judged(self) -> tuple[Judged, ...]:
        """What the questions came to."""
        return tuple(item.judged for item in self.asked)


def check_contract(bank: Bank, contract: Contract) -> None:
    """Holds that a bank's labels are for this contract.

    Raises:
        UsageError: they are for another one, or for another version of it.
    """
    if (bank.contract, bank.version) != (contract.id, contract.version):
        wanted, found = f"{bank.contract} {bank.version}", f"{contract.id} {contract.version}"
        message = f"the bank '{bank.id}' is labelled for the contract {wanted}, and the workspace has {found}"
        raise UsageError(f"{message}; name the bank's workspace with -C, or another bank with --bank")


def run_bank(bank: Bank, resolver: Resolver, warehouse: Engine, tell: Callable[[Asked], None]) -> Run:
    """Asks every question of a bank.

    Args:
        bank: the questions.
        resolver: of a workspace that is ready to be asked.
        warehouse: the same workspace's, to see that the data stays what it is.
        tell: called with each question as it ends, from any thread and in any order.

    Raises:
        UsageError: the bank is for another contract.
        UnavailableError: there is no warehouse that can be read.
        CheckFailedError: the data was replaced during the run.
    """
    check_contract(bank, resolver.contract)
    before = _identity(warehouse)
    remembering = replace(resolver, engine=Remembering(resolver.engine))

    def ask(question: Question) -> Asked:
        ended = remembering.ask(question.ask, ASKER)
        asked = Asked(judge(question, ended.outcome), ended.outcome, ended.ledger_seq)
        tell(asked)
        return asked

    with ThreadPoolExecutor(AT_ONCE) as pool:
        asked = tuple(pool.map(ask, bank.questions))
    if _identity(warehouse) != before:
        raise CheckFailedError("the data was replaced during the run, so its figures are of no one state; run it again")
    return Run(bank, asked, before)


def _identity(warehouse: Engine) -> SnapshotIdentity:
    try:
        with warehouse.snapshot() as snapshot:
            return snapshot.identity
    except EngineFault as error:
        raise UnavailableError(f"no question can be run: {error}; `trivet ingest` builds the warehouse") from None
