"""`trivet ledger checkpoint`, `key`, `prove` and `consistency`: what the ledger gives to those outside."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import click

from cli.invocation import Invocation, command
from cli.output import Output
from ledger.checkpoints import last_checkpoint
from ledger.keys import new_signing_key
from ledger.proving import checkpoint_named, consistency_proof, inclusion_proof
from ledger.reading import entry_named, head
from trivet.errors import CheckFailedError, UnavailableError, UsageError
from trivet.exits import Exit
from worker.sealing import Sealer
from worker.stores import read_only


def seal_if_due(output: Output, sealer: Sealer | None) -> None:
    """Makes a checkpoint if one is due; what the witnesses could not be given is complained of."""
    if sealer is not None:
        for problem in sealer.seal().problems:
            output.complain(problem)


_NO_KEY = "the settings name no ledger.key; `trivet ledger key new FILE` makes one"


@click.command()
@command
def checkpoint(invocation: Invocation) -> int:
    """Make a checkpoint over everything so far, and copy it to the witnesses."""
    wiring = invocation.wiring()
    sealer = wiring.sealer(wiring.store(create=False))
    if sealer is None:
        raise UsageError(_NO_KEY)
    report = sealer.seal(now=True)
    with read_only(sealer.store).connect() as connection:
        last = last_checkpoint(connection)
    if last is None:
        raise UsageError("the ledger is empty: there is nothing to make a checkpoint over")
    if invocation.output.as_json:
        made = {"made": report.made is not None, "seq": last.seq, "size": last.size, "note": last.note}
        invocation.output.document({**made, "problems": list(report.problems)})
    if report.made is None:
        invocation.output.print(f"nothing was recorded since the checkpoint in entry {last.seq}:\n")
    invocation.output.print(last.note.rstrip("\n"))
    if report.problems:
        raise UnavailableError("\n".join(report.problems))
    return Exit.FINE


@click.group()
def key() -> None:
    """The key that signs checkpoints."""


@key.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--name", help="What the key is called, and what its checkpoints speak of; HOST/trivet if absent.")
@command
def new(invocation: Invocation, file: Path, name: str | None) -> int:
    """Write a new private key to FILE, which only its owner may read, and print the public one."""
    try:
        made = new_signing_key(name or f"{socket.gethostname()}/trivet")
    except ValueError as error:
        raise UsageError(f"--name: {error}") from None
    try:
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise UsageError(f"'{file}' exists already; a key is never overwritten") from None
    with os.fdopen(handle, "w") as target:
        target.write(f"{made.text}\n")
    if invocation.output.as_json:
        invocation.output.document({"file": str(file), "name": made.name, "public_key": str(made.public)})
    invocation.output.print(f"public key, for whoever verifies:\n{made.public}")
    inside = file.resolve().is_relative_to(invocation.path.resolve())
    place = file.resolve().relative_to(invocation.path.resolve()) if inside else file.resolve()
    invocation.output.print(f'\nsettings: ledger: {{key: "file:{place}"}}')
    return Exit.FINE


@key.command("show")
@command
def show_keys(invocation: Invocation) -> int:
    """Print the public keys of the settings: that of the signing key first, then those that were known before."""
    keys = invocation.wiring().public_keys()
    if not keys:
        raise UsageError(_NO_KEY)
    if invocation.output.as_json:
        invocation.output.document({"keys": [str(item) for item in keys]})
    for item in keys:
        invocation.output.print(str(item))
    return Exit.FINE


@click.command()
@click.argument("subject", metavar="ID")
@click.option("-o", "--output", "file", type=click.Path(path_type=Path, dir_okay=False), help="Write it to this file.")
@command
def prove(invocation: Invocation, subject: str, file: Path | None) -> int:
    """Prove that the entry ID (its number, or what it is about) is in the ledger, to someone without the store."""
    engine = read_only(invocation.wiring().store(create=False))
    with engine.connect() as connection:
        found = entry_named(connection, subject)
        last = last_checkpoint(connection)
        if last is None or last.size < found.seq:
            advice = "run `trivet ledger checkpoint`, then again"
            raise CheckFailedError(f"no checkpoint covers entry {found.seq} yet; {advice}")
        proof = inclusion_proof(connection, found, last)
    return _give(invocation, proof, file, {"seq": found.seq, "size": last.size})


@click.command()
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@click.option("-o", "--output", "file", type=click.Path(path_type=Path, dir_okay=False), help="Write it to this file.")
@command
def consistency(invocation: Invocation, old: str, new: str, file: Path | None) -> int:
    """Prove that what checkpoint NEW was signed over begins with what OLD was signed over.

    Each is a file that ends with a checkpoint, or the number of entries of one that the ledger holds.
    """
    engine = read_only(invocation.wiring().store(create=False))
    with engine.connect() as connection:
        first, second = (checkpoint_named(connection, text) for text in (old, new))
        if first.size > second.size:
            raise UsageError(f"OLD is over {first.size} entries and NEW over {second.size}; exchange them")
        if second.size > head(connection).seq:
            raise CheckFailedError(f"the ledger holds fewer entries than the {second.size} of the checkpoint")
        proof = consistency_proof(connection, first, second)
    return _give(invocation, proof, file, {"old": first.size, "new": second.size})


def _give(invocation: Invocation, proof: str, file: Path | None, about: dict[str, int]) -> int:
    if file is not None:
        file.write_text(proof, "utf-8")
    if invocation.output.as_json:
        invocation.output.document({**about, "proof": proof})
    elif file is None:
        invocation.output.raw(proof.rstrip("\n"))
    else:
        invocation.output.print(f"written to {file}; `trivet ledger verify --proof {file}` verifies it anywhere")
    return Exit.FINE
