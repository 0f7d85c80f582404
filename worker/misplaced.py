"""Files that somebody wrote for the workspace and that nothing reads: where they stand, or by how they are named.

A monitor that is never read never breaches, and looks like one that always complies. So a file that can only be meant
for Trivet, and is passed over, is a fault.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from trivet.findings import Finding

_SUFFIXES = (".yaml", ".yml")


def misplaced_files(root: Path, files: Sequence[str], folders: Sequence[str]) -> Iterator[Finding]:
    """A finding for each file that is passed over.

    Args:
        root: of the workspace.
        files: single files that are read from the root, such as `trivet.yaml`.
        folders: those of which every `*.yaml` is read. A file of the root that is named as one of them is meant for it.
    """
    stems = {PurePosixPath(name).stem: name for name in files}
    for file in _listed(root):
        if not _is_yaml(file) or file.name in files:
            continue
        stem = file.stem.lower()
        if stem in stems:
            yield _passed_over(root, file, f"name it {stems[stem]}")
        elif stem in folders:
            yield _passed_over(root, file, f"move it into {stem}/")
    for name in folders:
        yield from _in_folder(root, root / name)


def _in_folder(root: Path, folder: Path) -> Iterator[Finding]:
    if folder.is_symlink() or folder.exists():
        if not folder.is_dir():
            yield Finding(folder.name, None, "", "this is not a folder; make it one, with *.yaml files in it")
        for file in sorted(folder.rglob("*")):
            if not _is_yaml(file) or any(part.startswith(".") for part in file.relative_to(folder).parts):
                continue
            if file.parent != folder:
                yield _passed_over(root, file, f"move it into {folder.name}/")
            elif file.suffix != _SUFFIXES[0]:
                yield _passed_over(root, file, f"name it {file.with_suffix(_SUFFIXES[0]).name}")


def _listed(root: Path) -> list[Path]:
    return sorted(root.iterdir()) if root.is_dir() else []


def _is_yaml(file: Path) -> bool:
    return file.suffix.lower() in _SUFFIXES and not file.is_dir()


def _passed_over(root: Path, file: Path, advice: str) -> Finding:
    return Finding(file.relative_to(root).as_posix(), None, "", f"nothing reads this file; {advice}")
