"""What checkpoints say of the entries: those that the ledger holds, and those that witnesses keep."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ledger.verification.chain import Checked
from ledger.verification.findings import Coverage, Damage, DamageKind, Recovery
from ledger.verification.notes import Checkpoint, NotANote, PublicKey, Witness, read_checkpoint


@dataclass(slots=True)
class Vouching:
    """Compares checkpoints with the roots that a walk over the entries gave."""

    keys: Sequence[PublicKey]
    witnesses: Sequence[Witness]
    size: int = 0
    witnessed: int = 0
    unchecked: int = 0
    recoveries: list[Recovery] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    _agreed: list[int] = field(default_factory=list)
    """The sizes for which some checkpoint has the right root."""
    _held: set[tuple[int, bytes]] = field(default_factory=set)
    """Size and root of those that agree and are signed."""
    _names: dict[str, tuple[str, Checkpoint]] = field(default_factory=dict)
    _seen: list[set[tuple[int, str]]] = field(default_factory=list)
    """Size and root of the latest checkpoint of each witness, as each recovery names them."""

    def sizes(self) -> frozenset[int]:
        """The sizes that roots are wanted for, beside those that the ledger's own checkpoints state."""
        return frozenset(item.size for witness in self.witnesses for item in witness.checkpoints)

    def coverage(self) -> Coverage:
        """How far the checkpoints vouch."""
        return Coverage(len(self._held), self.size, self.witnessed, self.unchecked)

    def entry(self, entry: Checked) -> Iterator[Damage]:
        """A checkpoint or a recovery that the ledger holds."""
        if entry.entry_type == "recovery":
            self._recovered(entry)
            return
        try:
            checkpoint = read_checkpoint(str(entry.content.get("note")))
        except NotANote as error:
            yield Damage(entry.seq, DamageKind.CHECKPOINT, f"it holds no checkpoint: {error}")
            return
        if checkpoint.size != entry.seq - 1:
            message = f"it states {checkpoint.size} entries where {entry.seq - 1} stand before it"
            yield Damage(entry.seq, DamageKind.CHECKPOINT, message)
            return
        refused = self._signature(checkpoint, f"entry {entry.seq}", entry.seq)
        if refused is not None:
            yield refused
        elif entry.before is not None and checkpoint.root != entry.before:
            yield self._rewritten(checkpoint, f"the checkpoint in entry {entry.seq}")
        elif entry.before is not None:
            self._count(checkpoint, outside=False)

    def _recovered(self, entry: Checked) -> None:
        seen = entry.content.get("seen")
        found: set[tuple[int, str]] = set()
        for item in seen if isinstance(seen, list) else ():
            size, root = (item.get("size"), item.get("root")) if isinstance(item, dict) else (None, None)
            if isinstance(size, int) and isinstance(root, str):
                found.add((size, root))
        self.recoveries.append(Recovery(entry.seq, max((size for size, _ in found), default=None)))
        self._seen.append(found)

    def _signature(self, checkpoint: Checkpoint, place: str, seq: int | None) -> Damage | None:
        signed = checkpoint.signed_by(self.keys)
        if signed is None:
            self.unchecked += 1
        if signed is not False:
            return None
        known = {(key.name, key.key_id) for key in self.keys}
        if any((name, key_id) in known for name, key_id, _ in checkpoint.signatures):
            message = f"{place}: the signature over {checkpoint.size} entries does not hold"
        else:
            message = f"{place}: signed by {checkpoint.signers}, which is none of the keys that are known"
        return Damage(seq, DamageKind.CHECKPOINT, message)

    def _count(self, checkpoint: Checkpoint, *, outside: bool) -> None:
        self._agreed.append(checkpoint.size)
        if self.keys:
            self._held.add((checkpoint.size, checkpoint.root))
            self.size = max(self.size, checkpoint.size)
            self.witnessed = max(self.witnessed, checkpoint.size) if outside else self.witnessed

    def _rewritten(self, checkpoint: Checkpoint, place: str) -> Damage:
        first = max((size for size in self._agreed if size < checkpoint.size), default=0) + 1
        message = f"entries {first} to {checkpoint.size} are not those that {place} was signed over"
        return Damage(first, DamageKind.REWRITE, message)

    def outside(self, roots: Mapping[int, bytes], last: int) -> Iterator[Damage]:
        """What the witnesses say, once every entry was read.

        Args:
            roots: the root for each size that is known.
            last: the number of the last entry.
        """
        for witness in self.witnesses:
            if witness.unreadable:
                self.notices.append(f"{witness.name}: {witness.unreadable} pieces are no checkpoints; passed over")
            yield from self._of(witness, roots, last)

    def _of(self, witness: Witness, roots: Mapping[int, bytes], last: int) -> Iterator[Damage]:
        excused = self._excused(witness)
        trusted: list[Checkpoint] = []
        for place, checkpoint in enumerate(witness.checkpoints):
            refused = self._signature(checkpoint, witness.name, None)
            if refused is not None:
                yield refused
            elif place >= excused.get(checkpoint.size, 0):
                trusted.append(checkpoint)
        told = False
        for checkpoint in sorted(trusted, key=lambda item: item.size):
            yield from self._twice(checkpoint, witness.name)
            root = roots.get(checkpoint.size)
            if root == checkpoint.root:
                self._count(checkpoint, outside=True)
            elif root is not None and not told:
                told = True
                yield self._rewritten(checkpoint, f"the checkpoint in {witness.name}")
        size = max((item.size for item in trusted), default=0)
        if size > last:
            lost = f"entry {size} is" if size == last + 1 else f"entries {last + 1} to {size} are"
            message = f"{lost} gone: {witness.name} has a checkpoint over {size} entries"
            yield Damage(last + 1, DamageKind.TAIL_CUT, message)

    def _twice(self, checkpoint: Checkpoint, name: str) -> Iterator[Damage]:
        """Two histories that were both signed, by whom it may be."""
        place, first = self._names.setdefault(f"{checkpoint.origin}\n{checkpoint.size}", (name, checkpoint))
        if first.root != checkpoint.root:
            message = f"two checkpoints over {checkpoint.size} entries disagree: {place} and {name}"
            yield Damage(checkpoint.size, DamageKind.FORK, message)

    def _excused(self, witness: Witness) -> dict[int, int]:
        """For each size that a restored backup cut off: up to which place of the witness's file that is excused.

        What a recovery names was the last that the witness had then. A copy that does not reach so far is older.
        """
        found: dict[int, int] = {}
        for recovery, seen in zip(self.recoveries, self._seen, strict=True):
            if recovery.lost is None:
                continue
            first, last = recovery.lost
            stated = [(item.size, base64.b64encode(item.root).decode("ascii")) for item in witness.checkpoints]
            ends = [place + 1 for place, item in enumerate(stated) if item in seen]
            until = ends[0] if ends else len(stated)
            for size, _ in stated:
                if first <= size <= last:
                    found[size] = max(found.get(size, 0), until)
        return found
