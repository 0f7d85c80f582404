"""`trivet ledger` for those outside: checkpoints, proofs, exports, replays, erasing, and damage shown on copies."""

from __future__ import annotations

import json
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.command import ROOT, Ended, trivet
from tests.acceptance.files import rows_of

NAME = "example.com/aruma"


@pytest.fixture(scope="module")
def keyed(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A demo whose ledger has a key, a checkpoint, and something behind it."""
    workspace = Path(shutil.copytree(demo, tmp_path_factory.mktemp("keyed") / "demo"))
    made = trivet("ledger", "key", "new", workspace / "ledger.key", "--name", NAME, at=workspace)
    assert made.code == 0
    with (workspace / "trivet.yaml").open("a") as settings:
        settings.write('ledger: {key: "file:ledger.key", checkpoint_every: 1000d}\n')
    assert trivet("ledger", "checkpoint", at=workspace).code == 0
    assert trivet("evaluate", "hours-over-limit", at=workspace).code == 1
    return workspace


@pytest.fixture
def workspace(keyed: Path, tmp_path: Path) -> Path:
    """A copy of its own."""
    return Path(shutil.copytree(keyed, tmp_path / "demo"))


def public_key(workspace: Path) -> str:
    (key,) = trivet("ledger", "key", "show", "--json", at=workspace).document["keys"]
    return str(key)


def test_a_key_is_written_for_its_owner_alone_and_never_overwritten(tmp_path: Path, demo: Path) -> None:
    file = tmp_path / "ledger.key"
    made = trivet("ledger", "key", "new", file, "--name", NAME, "--json", at=demo).document
    assert (made["name"], made["file"]) == (NAME, str(file))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    secret = file.read_text()
    assert secret.startswith(f"PRIVATE+KEY+{NAME}+")
    # After the key's hash; the key itself may hold plus signs.
    assert secret.removeprefix(f"PRIVATE+KEY+{NAME}+").partition("+")[2].strip() not in json.dumps(made)
    again = trivet("ledger", "key", "new", file, at=demo)
    assert (again.code, file.read_text()) == (64, secret)
    assert "a key is never overwritten" in again.err


def test_a_ledger_says_how_far_it_is_covered(keyed: Path) -> None:
    ended = trivet("ledger", "verify", at=keyed)
    entries = len(rows_of(keyed)["ledger_entry"])
    assert ended.code == 0
    assert ended.out.splitlines()[1:] == [
        f"checkpoints: 1 agree, up to entry {entries - 2}, outside the ledger up to entry {entries - 2}",
        f"uncovered tail: 2 of {entries} entries",
    ]
    document = trivet("ledger", "verify", "--json", at=keyed).document
    assert document["checkpoints"] == {
        "checkpoints": 1,
        "size": entries - 2,
        "witnessed": entries - 2,
        "unchecked": 0,
    }
    assert document["uncovered"] == 2


def test_without_a_key_it_is_said_that_nothing_is_covered(demo: Path) -> None:
    assert "no checkpoints: tail uncovered" in trivet("ledger", "verify", at=demo).out
    assert "no checkpoints: tail uncovered" in trivet("doctor", at=demo).out
    for command in ("checkpoint", "key show"):
        ended = trivet("ledger", *command.split(), at=demo)
        assert (ended.code, ended.err) == (
            64,
            "the settings name no ledger.key; `trivet ledger key new FILE` makes one\n",
        )


@pytest.mark.parametrize("content", [None, "", "hunter2", "PRIVATE+KEY+a+00000000+AQ=="])
def test_a_key_that_is_named_and_cannot_be_read_is_a_loud_fault(workspace: Path, content: str | None) -> None:
    key = workspace / "ledger.key"
    key.unlink() if content is None else key.write_text(content)
    before = len(rows_of(workspace)["ledger_entry"])
    for command in ("evaluate", "run", "ledger checkpoint", "ledger verify"):
        ended = trivet(*command.split(), at=workspace)
        assert ended.code == 65, command
        assert "file:ledger.key" in ended.err
        assert "hunter2" not in ended.err
    assert len(rows_of(workspace)["ledger_entry"]) == before, "nothing was evaluated"
    doctor = trivet("doctor", "--json", at=workspace)
    assert doctor.code == 4
    assert [item["fine"] for item in doctor.document["observations"] if item["what"] == "checkpoints"] == [False]


def test_a_public_key_is_enough_to_verify(workspace: Path) -> None:
    key = public_key(workspace)
    (workspace / "ledger.key").unlink()
    assert trivet("ledger", "verify", "--key", key, at=workspace).code == 0
    (workspace / "keys").write_text(f"{key}\n")
    assert trivet("ledger", "verify", "--key", workspace / "keys", at=workspace).code == 0
    assert trivet("ledger", "verify", "--key", "nonsense", at=workspace).code == 64


def test_a_witness_elsewhere_is_held_against_the_ledger(workspace: Path, tmp_path: Path) -> None:
    witness = tmp_path / "elsewhere"
    shutil.copy(workspace / "checkpoints.txt", witness)
    assert trivet("ledger", "verify", "--against", witness, at=workspace).code == 0
    text = witness.read_text("utf-8").split("\n")
    witness.write_text("\n".join([text[0], "99", *text[2:]]), "utf-8")
    ended = trivet("ledger", "verify", "--against", witness, at=workspace)
    assert ended.code == 4
    assert "checkpoint: elsewhere: the signature over 99 entries does not hold" in ended.err


def test_a_witness_that_cannot_be_written_is_complained_of(workspace: Path) -> None:
    shutil.rmtree(workspace / "checkpoints.txt", ignore_errors=True)
    (workspace / "checkpoints.txt").unlink(missing_ok=True)
    (workspace / "checkpoints.txt").mkdir()
    ended = trivet("ledger", "checkpoint", at=workspace)
    assert ended.code == 69
    assert "has not got its checkpoints" in ended.err


def test_proofs_are_verified_without_the_store(workspace: Path, tmp_path: Path) -> None:
    key = public_key(workspace)
    evaluation = trivet("ledger", "show", "--type", "evaluation", "--json", at=workspace).documents[0]
    assert trivet("ledger", "checkpoint", at=workspace).code == 0
    inclusion, consistency = tmp_path / "one.tlog-proof", tmp_path / "two.proof"
    subject = evaluation["payload"]["evaluation_id"]
    assert trivet("ledger", "prove", subject, "-o", inclusion, at=workspace).code == 0
    notes = trivet("ledger", "show", "--type", "checkpoint", "--json", at=workspace).documents
    old, new = (str(item["payload"]["size"]) for item in notes)
    assert trivet("ledger", "consistency", old, new, "-o", consistency, at=workspace).code == 0
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for file in (inclusion, consistency):
        ended = trivet("ledger", "verify", "--proof", file, "--key", key, at=elsewhere)
        assert (ended.code, ended.out[:5]) == (0, "fine:")
    document = trivet("ledger", "verify", "--proof", inclusion, "--key", key, "--json", at=elsewhere).document
    assert json.loads(document["payload"]) == evaluation["payload"]
    other = trivet("ledger", "key", "new", tmp_path / "other.key", "--json", at=elsewhere).document["public_key"]
    assert trivet("ledger", "verify", "--proof", inclusion, "--key", other, at=elsewhere).code == 4
    broken = inclusion.read_text("utf-8").replace(f"index {evaluation['seq'] - 1}", f"index {evaluation['seq']}")
    inclusion.write_text(broken, "utf-8")
    assert trivet("ledger", "verify", "--proof", inclusion, "--key", key, at=elsewhere).code == 4


def test_what_no_checkpoint_covers_is_not_proven(keyed: Path) -> None:
    last = len(rows_of(keyed)["ledger_entry"])
    ended = trivet("ledger", "prove", str(last), at=keyed)
    assert (ended.code, ended.err[:24]) == (4, "no checkpoint covers ent")
    assert trivet("ledger", "prove", "nothing", at=keyed).code == 64


def test_an_export_is_verified_by_the_command_and_by_the_auditors_script(workspace: Path, tmp_path: Path) -> None:
    folder = tmp_path / "export"
    made = trivet("ledger", "export", folder, "--json", at=workspace).document
    assert (made["verifiable"], made["entries"]) == (True, len(rows_of(workspace)["ledger_entry"]))
    key = public_key(workspace)
    assert trivet("ledger", "verify", "--export", folder, "--key", key, at=tmp_path).code == 0
    assert audited(folder, key, workspace / "checkpoints.txt").code == 0
    lines = (folder / "entries.jsonl").read_text().splitlines()
    (folder / "entries.jsonl").write_text("\n".join([*lines[:2], *lines[3:]]) + "\n")
    ended = trivet("ledger", "verify", "--export", folder, "--key", key, at=tmp_path)
    assert (ended.code, ended.err.splitlines()[0]) == (4, "damage at entry 3: gap: entry 3 is missing")
    theirs = audited(folder, key, workspace / "checkpoints.txt")
    assert (theirs.code, theirs.out.splitlines()[0][:13]) == (4, "entry 3: gap:")


def audited(folder: Path, key: str, witness: Path) -> Ended:
    """The auditor's script, as a program of its own and with nothing of ours on its path."""
    script = ROOT / "docs" / "auditor" / "verify.py"
    command = [sys.executable, "-I", script, folder, "--key", key, "--witness", witness]
    # -I keeps the script's own folder off the path too, so it is said where its neighbour is.
    runner = f"import runpy, sys; sys.path.insert(0, {str(script.parent)!r}); sys.argv = sys.argv[1:]; "
    runner += "runpy.run_path(sys.argv[0], run_name='__main__')"
    command[1:2] = ["-I", "-c", runner]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd=folder, check=False)
    return Ended(done.returncode, done.stdout, done.stderr)


def test_an_export_in_part_says_that_it_cannot_be_verified(workspace: Path, tmp_path: Path) -> None:
    folder = tmp_path / "part"
    options = ("--type", "evaluation", "--monitor", "hours-over-limit", "--from", "2")
    made = trivet("ledger", "export", folder, *options, "--json", at=workspace).document
    assert (made["verifiable"], made["entries"]) == (False, 2)
    ended = trivet("ledger", "verify", "--export", folder, at=workspace)
    assert (ended.code, "only some entries were exported" in ended.err) == (4, True)
    assert trivet("ledger", "export", folder, at=workspace).code == 64


def test_an_export_for_other_programs_is_in_columns(workspace: Path, tmp_path: Path) -> None:
    import duckdb

    folder = tmp_path / "parquet"
    assert trivet("ledger", "export", folder, "--format", "parquet", at=workspace).code == 0
    assert sorted(file.name for file in folder.iterdir()) == [
        f"{name}.parquet" for name in ("audit", "entries", "evaluation", "member", "member_change", "outcome")
    ]
    entries = duckdb.sql(f"SELECT count(*), max(seq) FROM '{folder / 'entries.parquet'}'").fetchall()
    held = len(rows_of(workspace)["ledger_entry"])
    assert entries == [(held, held)]
    members = duckdb.sql(f"SELECT count(*) FROM '{folder / 'member.parquet'}' WHERE verdict = 'breach'").fetchall()
    assert members == [(sum(row[2] == "breach" for row in rows_of(workspace)["member"]),)]


def test_recorded_verdicts_are_derived_again(workspace: Path) -> None:
    ended = trivet("ledger", "replay", "--last", "4", "--json", at=workspace)
    assert ended.code == 0
    assert [item["result"] for item in ended.documents] == ["reproduced"] * 4
    assert all(item["rejudge"]["result"] == item["rerun"]["result"] == "reproduced" for item in ended.documents)
    assert len(trivet("ledger", "show", "--type", "replay", "--json", at=workspace).documents) == 4
    assert trivet("ledger", "replay", at=workspace).code == 64
    seq = str(trivet("ledger", "show", "--type", "evaluation", "--json", at=workspace).documents[0]["seq"])
    for file in workspace.glob("warehouse.*duckdb"):
        file.unlink()
    only = trivet("ledger", "replay", seq, "--only", "rerun", "--dry-run", "--json", at=workspace)
    assert (only.code, only.document["result"], only.document["rejudge"]) == (2, "inputs gone", None)
    assert trivet("ledger", "replay", seq, "--only", "rejudge", at=workspace).code == 0


def test_text_is_erased_only_if_that_is_really_meant(workspace: Path) -> None:
    asked = trivet("ledger", "show", "--type", "outcome", "--json", at=workspace).documents[-1]
    arguments = ("ledger", "redact", str(asked["seq"]), "--by", "data officer", "--reason", "asked for")
    assert trivet(*arguments, at=workspace).code == 64
    ended = trivet(*arguments, "--yes", at=workspace)
    assert ended.code == 0
    row = next(row for row in rows_of(workspace)["outcome"] if row[0] == asked["payload"]["request_id"])
    assert (row[3], row[4]) == (None, "")
    verified = trivet("ledger", "verify", at=workspace)
    assert (verified.code, "redacted rows: 1" in verified.out) == (0, True)
    assert trivet(*arguments, "--yes", at=workspace).code == 64


def test_damage_of_every_kind_is_shown_on_copies(workspace: Path) -> None:
    before = (workspace / "trivet.db").read_bytes()
    ended = trivet("ledger", "tamper-demo", "--json", at=workspace)
    assert ended.code == 0
    (sound, *damaged) = ended.document["damaged"]
    assert (sound["ok"], sound["damage"]) == (True, [])
    assert [item["ok"] for item in damaged] == [False] * 10
    kinds = [item["damage"][0]["kind"] for item in damaged]
    assert kinds == [
        "content",
        "rows",
        "rows",
        "gap",
        "order",
        "link",
        "fork",
        "tail_cut",
        "rewrite",
        "rewrite",
    ]
    assert (workspace / "trivet.db").read_bytes() == before


def test_a_backup_is_restored_and_told_of(workspace: Path, tmp_path: Path) -> None:
    backup = tmp_path / "backup.db"
    assert trivet("db", "backup", backup, at=workspace).code == 0
    held = len(rows_of(workspace)["ledger_entry"])
    assert trivet("evaluate", "pay-below-floor", at=workspace).code == 1
    assert trivet("ledger", "checkpoint", at=workspace).code == 0
    assert trivet("db", "restore", backup, at=workspace).code == 64
    ended = trivet("db", "restore", backup, "--replace", "--json", at=workspace)
    assert ended.code == 0
    assert (ended.document["restored"], ended.document["seen"]) == (held, held + 1)
    verified = trivet("ledger", "verify", "--json", at=workspace)
    assert verified.code == 0
    assert verified.document["recoveries"] == [{"seq": held + 1, "lost": [held + 1, held + 1]}]
    assert trivet("db", "grants", "app", "--json", at=workspace).document["role"] == "app"
