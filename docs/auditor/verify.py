"""Verifies an exported Trivet ledger. Call it as: python verify.py EXPORT [--key KEY]... [--witness FILE]...

Nothing of Trivet is used, no library, no network. EXPORT is a folder that `trivet ledger export` wrote, KEY a public
key as `trivet ledger key show` prints it, FILE a file of checkpoints that was kept elsewhere. Damage is printed as
`entry SEQ: KIND: what`, and then the exit code is 4. Needs Python 3.11 or later, and `signatures.py` beside it.
"""

import argparse
import json
from hashlib import sha256
from pathlib import Path

from signatures import b64decode, read_keys, read_notes

ENTRIES, FOLLOW = "entries.jsonl", "it does not follow from the entry before it"
ERASABLE = {  # columns that may be erased, with what is then in their place; they are hashed apart
    "member": {"salt": None, "member_key": "{}", "operands": "{}", "provenance": "[]"},
    "measure": {"salt": None, "member_key": "{}"},
    "member_change": {"salt": None, "member_key": "{}"},
    "outcome": dict.fromkeys(("salt", "asker", "answer", "refusal", "draft"))
    | {"question": "", "document": "{}", "candidates": "[]"},
}


def sha(data):
    return sha256(data).digest()


def chained(seq, prev, leaf):
    return sha(b"trivet/ledger/v1\n" + seq.to_bytes(8, "big") + prev + leaf)


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace")


class Tree:
    """A Merkle tree (RFC 9162, section 2.1) as its perfect subtrees, largest first."""

    def __init__(self):
        self.size, self.peaks = 0, []

    def add(self, node):
        size, self.size = self.size, self.size + 1
        while size & 1:
            node, size = sha(b"\1" + self.peaks.pop() + node), size >> 1
        self.peaks.append(node)

    def root(self):
        node = self.peaks[-1] if self.peaks else sha(b"")
        for peak in reversed(self.peaks[:-1]):
            node = sha(b"\1" + peak + node)
        return node


class Ledger:
    """The files of an export, and where a walk over its entries stands. `tree` is None once it cannot be known."""

    def __init__(self, folder, keys, witnesses):
        self.folder, self.keys = Path(folder), keys
        self.witnesses = {name: list(read_notes(Path(name).read_text("utf-8", "replace"), keys)) for name in witnesses}
        self.roots = {note[0]: None for notes in self.witnesses.values() for note in notes}
        self.last, self.tip, self.tree, self.agreed, self.recoveries = 0, bytes(32), Tree(), {0}, []

    def lines(self, name):
        with (self.folder / name).open("rb") as lines:
            yield from map(json.loads, lines)

    def places(self, column, value):
        return [item["seq"] for item in self.lines(ENTRIES) if item[column] == value.hex()]

    def findings(self):
        """Everything that is wrong: number of the entry, kind, and what."""
        trees = self.rows()
        for item in self.lines(ENTRIES):
            yield from self.entry(item, trees)
            if self.tree and self.tree.size in self.roots:
                self.roots[self.tree.size] = self.tree.root()
        outside = list(self.outside())
        yield from outside
        (head,) = self.lines("head.json")
        peaks = self.tree and json.dumps([node.hex() for node in self.tree.peaks], separators=(",", ":"))
        if head["seq"] > self.last:
            yield from [] if "tail_cut" in str(outside) else [(self.last + 1, "tail_cut", "the head row knows of more")]
        elif peaks and (head["seq"], head["entry_hash"], head["merkle_frontier"]) != (self.last, self.tip.hex(), peaks):
            yield None, "head", "the head row does not describe the entries"
        yield from ((None, "orphan_rows", f"{subject} has rows and no entry") for subject in trees)

    def rows(self):
        """The Merkle tree over the bound rows of each subject."""
        told = [json.loads(item["payload"]) for item in self.lines(ENTRIES) if item["entry_type"] == "redaction"]
        told, trees = {(content["table"], content["of"], content["text"]) for content in told}, {}
        for item in self.lines("rows.jsonl"):
            table, row = item["table"], {name: value for name, value in item["row"].items() if value is not None}
            empty, erased = ERASABLE.get(table, {}), row.get("erased")
            bare = all(row.get(name) == empty[name] for name in empty)
            fine = not erased or ((table, item["subject_id"], erased) in told and bare)
            if "salt" in row or erased:
                parts = {name: row.pop(name) for name in empty if name in row}
                row["text"] = row.pop("erased", None) or sha(canonical(parts)).hex()
            leaf = sha(b"\0" + canonical({"row": row, "table": table})) if fine else b"erased, and nobody says so"
            trees.setdefault((item["entry_type"], str(item["subject_id"])), Tree()).add(leaf)
        return trees

    def entry(self, item, trees):
        seq, payload, due = item["seq"], item["payload"], self.last + 1
        before = self.tree.root() if self.tree and item["entry_type"] == "checkpoint" else None
        leaf, prev, own = (bytes.fromhex(item[name]) for name in ("leaf_hash", "prev_hash", "entry_hash"))
        self.last, computed = max(seq, self.last), sha(b"\0" + payload.encode("utf-8", "replace"))
        if seq != due:
            self.tree = None
            yield (due, "gap", f"{seq - due} are missing") if seq > due else (seq, "fork", "a second one at its place")
        bad = self.misplaced(seq, leaf, prev, own, computed, seq == due)
        self.tip = self.tip if seq >= due else None
        if self.tree:
            self.tree.add(computed if own == chained(seq, prev, computed) else leaf)
        try:
            content = json.loads(payload, object_pairs_hook=lambda it: dict(it) if len(dict(it)) == len(it) else {})
        except ValueError:
            content = {}  # as for an object that repeats a key, which could be read in two ways
        if computed != leaf or any(content.get(name) != item[name] for name in ("entry_type", "subject_id")):
            bad = bad or (seq, "content", "its payload, type or subject is not what was hashed")
        yield from [bad] if bad else self.meaning(seq, content, before if self.tree else None, trees)

    def misplaced(self, seq, leaf, prev, own, computed, follows):
        """Whether an entry's hashes do not follow from it and from the entry before, and how that came about."""
        tip, self.tip, sound = self.tip, own, own == chained(seq, prev, leaf)
        if sound and (not follows or tip in (None, prev)):
            return None
        if not sound and (own == chained(seq, prev, computed) or (tip and own == chained(seq, tip, leaf))):
            return seq, "link", "its leaf_hash or its prev_hash was changed"
        self.tree, before = None, self.places("entry_hash", prev) if any(prev) else [0]
        if sound:
            kind = "fork" if len(self.places("prev_hash", prev)) > 1 else "order" if before else "link"
            return max(seq - (kind == "link"), 1), kind, FOLLOW
        places = [*before, *(p + 1 for p in before), *(p - 1 for p in self.places("prev_hash", own))]
        self.tip, moved = None, any(place > 0 and own == chained(place, prev, leaf) for place in places)
        return seq, "order" if moved else "link" if computed == leaf else "content", FOLLOW

    def meaning(self, seq, content, before, trees):
        entry_type, subject = content["entry_type"], content["subject_id"]
        if "rows_root" in content and content["rows_root"] != trees.pop((entry_type, subject), Tree()).root().hex():
            yield seq, "rows", f"the rows of {entry_type} {subject} are not those that were recorded"
        elif entry_type.endswith("_published") and sha(canonical(content["content"])).hex() != subject:
            yield seq, "content", "what it publishes does not have the hash that it names"
        elif entry_type == "recovery":
            self.recoveries.append((seq, {(item["size"], b64decode(item["root"])) for item in content["seen"]}))
        elif entry_type == "checkpoint":
            ((size, root, signed),) = list(read_notes(content["note"], self.keys)) or [(-1, b"", False)]
            if size != seq - 1 or signed is False:
                yield seq, "checkpoint", "it does not state what stands before it, or no known key signed it"
            elif before:
                yield from self.agrees(size, root, before)

    def agrees(self, size, root, found):
        self.agreed |= {size} if root == found else set()
        if root != found:
            first = max(known for known in self.agreed if known < size) + 1
            yield first, "rewrite", f"entries {first} to {size} are not those that a checkpoint was signed over"

    def outside(self):
        """What the witnesses' checkpoints say of the entries."""
        seen = {}
        for name, notes in self.witnesses.items():
            wrong, largest = [], 0
            for size, root, signed in sorted(note for n, note in enumerate(notes) if not self.given_up(notes, n)):
                if signed is False:
                    yield None, "checkpoint", f"{name}: no known key signed the checkpoint over {size} entries"
                    continue
                if seen.setdefault(size, root) != root:
                    yield size, "fork", f"two signed checkpoints over {size} entries disagree"
                wrong += self.agrees(size, root, self.roots[size]) if self.roots[size] else []
                largest = size
            yield from wrong[:1]
            if largest > self.last:
                yield self.last + 1, "tail_cut", f"{name} has a checkpoint over {largest} entries"

    def given_up(self, notes, place):
        """Whether a checkpoint is of a history that was lost when a backup was restored, as the ledger tells."""
        for seq, seen in self.recoveries:
            last = min((n for n, note in enumerate(notes) if note[:2] in seen), default=len(notes))
            if seen and seq <= notes[place][0] <= max(seen)[0] and place <= last:
                return True
        return False


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("export")
    for option in ("--key", "--witness"):
        parser.add_argument(option, action="append", default=[])
    options = parser.parse_args()
    ledger = Ledger(options.export, read_keys(options.key), options.witness)
    try:
        found = list(ledger.findings())
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        found = [(ledger.last + 1, "unreadable", f"the files hold what no ledger holds: {error!r}")]
    told = [f"{f'entry {seq}' if seq else 'ledger'}: {kind}: {what}" for seq, kind, what in found]
    print("\n".join(told) or f"fine: {ledger.last} entries; checkpoints agree up to entry {max(ledger.agreed)}")
    raise SystemExit(4 if found else 0)
