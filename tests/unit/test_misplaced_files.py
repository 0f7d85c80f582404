"""Files that can only be meant for the workspace and that nothing reads are faults; nothing is left out in silence."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from worker.workspace import read_workspace

NOBODY = "nothing reads this file"
# What stands in a workspace (a text, or where a link leads to), and the one thing that is said of it.
CASES: dict[str, tuple[dict[str, str | Path], str | None]] = {
    "an ending of three letters": ({"monitors/a.yml": ""}, f"monitors/a.yml: {NOBODY}; name it a.yaml"),
    "an ending in capitals": ({"monitors/a.YAML": ""}, f"monitors/a.YAML: {NOBODY}; name it a.yaml"),
    "a folder in the folder": ({"monitors/pay/a.yaml": ""}, f"monitors/pay/a.yaml: {NOBODY}; move it into monitors/"),
    "monitors beside the folder": ({"monitors.yaml": ""}, f"monitors.yaml: {NOBODY}; move it into monitors/"),
    "settings of another ending": ({"trivet.yml": ""}, f"trivet.yml: {NOBODY}; name it trivet.yaml"),
    "sources of another ending": ({"Sources.yml": ""}, f"Sources.yml: {NOBODY}; name it sources.yaml"),
    "a file for a folder": ({"monitors": ""}, "monitors: this is not a folder; make it one, with *.yaml files in it"),
    "a folder for a file": ({"monitors/a.yaml/b.txt": ""}, "monitors/a.yaml: cannot be read: Is a directory"),
    "settings that lead nowhere": (
        {"trivet.yaml": Path("gone")},
        "trivet.yaml: cannot be read: No such file or directory",
    ),
    "a contract that leads to itself": (
        {"contract.yaml": Path("contract.yaml")},
        "contract.yaml: cannot be read: Too many levels of symbolic links",
    ),
    "what editors leave behind": ({"monitors/.a.yaml": "", "monitors/a.yaml~": "", "monitors/.git/a.yaml": ""}, None),
    "files of others": ({"docker-compose.yml": "", "ci/monitors.yaml": "", "monitors/notes.md": ""}, None),
}


@pytest.mark.parametrize("name", CASES)
def test_a_file_that_nothing_reads_is_told_with_where_it_belongs(name: str, tmp_path: Path) -> None:
    files, said = CASES[name]
    for file, content in files.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Path):
            (tmp_path / file).symlink_to(content)
        else:
            (tmp_path / file).write_text(content, "utf-8")
    missing = "contract.yaml: there is no contract.yaml here; `trivet init DIR` makes a workspace to start from"
    found = [str(item) for item in read_workspace(tmp_path, {}).findings]
    assert [text for text in found if text != missing] == ([] if said is None else [said])


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "contract.yaml")
    found = [str(item) for item in read_workspace(tmp_path, {}).findings]
    assert found == ["contract.yaml: cannot be read: this is no regular file"]
