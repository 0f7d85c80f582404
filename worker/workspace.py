"""A workspace read from disk: settings, contract, monitors, and everything that is wrong with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from catalog.contract import Contract
from catalog.loading import load_contract
from monitors.definition import MonitorDefinition
from monitors.loading import load_monitors
from trivet.documents import Document, read_yaml
from trivet.errors import InputError
from trivet.findings import Finding
from trivet.settings import Settings, SettingsResult, load_settings
from worker.misplaced import misplaced_files

SETTINGS_FILE = "trivet.yaml"
CONTRACT_FILE = "contract.yaml"
CONTRACT_FOLDER = "contract"
MONITORS_FOLDER = "monitors"
SOURCES_FILE = "sources.yaml"
VIEWS_FOLDER = "views"
_FOLDERS = (CONTRACT_FOLDER, MONITORS_FOLDER)
_MOST_BYTES = 300_000
"""A little above what `read_yaml` accepts, so that its message is the one that is seen."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """What a workspace's files say. Parts that could not be read are None, with findings that tell why."""

    path: Path
    settings: Settings | None
    effective: SettingsResult
    contract: Contract | None
    monitors: tuple[MonitorDefinition, ...]
    findings: tuple[Finding, ...]
    documents: tuple[Document, ...] = field(default=(), repr=False)
    """The monitor files, as far as they could be read."""
    contract_documents: tuple[Document, ...] = field(default=(), repr=False)
    """The contract files, as far as they could be read."""

    @property
    def defines_anything(self) -> bool:
        """Whether there is a contract or a monitor, be it at fault: some machines have no files but the settings."""
        return self.contract is not None or bool(self.documents) or bool(_contract_files(self.path))

    def require_settings(self) -> Settings:
        """The settings.

        Raises:
            InputError: they are at fault.
        """
        if self.settings is None:
            raise InputError(self.effective.findings)
        return self.settings

    def require(self) -> tuple[Settings, Contract, tuple[MonitorDefinition, ...]]:
        """Settings, contract and monitors.

        Raises:
            InputError: any of the files is at fault; every finding is carried.
        """
        if self.settings is None or self.contract is None or self.findings:
            raise InputError(self.findings)
        return self.settings, self.contract, self.monitors


def read_workspace(path: Path, environment: Mapping[str, str]) -> Workspace:
    """Reads and checks every file of a workspace. It changes nothing and opens no warehouse or store."""
    findings = list(misplaced_files(path, (SETTINGS_FILE, CONTRACT_FILE, SOURCES_FILE), _FOLDERS))
    settings = _read_settings(path, environment)
    findings += settings.findings
    contract_documents, faults = _read_all(path, _contract_files(path))
    findings += faults
    contract: Contract | None = None
    if contract_documents and not faults:
        result = load_contract(contract_documents)
        contract = result.contract
        findings += result.findings
    elif not contract_documents and not faults:
        message = f"there is no {CONTRACT_FILE} here; `trivet init DIR` makes a workspace to start from"
        findings.append(Finding(CONTRACT_FILE, None, "", message))
    monitor_documents, faults = _read_all(path, _in_folder(path / MONITORS_FOLDER))
    findings += faults
    monitors: tuple[MonitorDefinition, ...] = ()
    if contract is not None:
        receivers = settings.settings.receivers if settings.settings else None
        loaded = load_monitors(monitor_documents, contract, receivers)
        monitors = loaded.monitors
        findings += loaded.findings
    return Workspace(
        path,
        settings.settings,
        settings,
        contract,
        monitors,
        tuple(findings),
        documents=tuple(monitor_documents),
        contract_documents=tuple(contract_documents),
    )


def _read_settings(path: Path, environment: Mapping[str, str]) -> SettingsResult:
    file = path / SETTINGS_FILE
    if not stands(file):
        return load_settings(None, environment)
    documents, findings = _read_all(path, [file])
    if findings:
        return SettingsResult(None, tuple(findings))
    return load_settings(documents[0], environment)


def _contract_files(path: Path) -> Sequence[Path]:
    single = [path / CONTRACT_FILE] if stands(path / CONTRACT_FILE) else []
    return [*single, *_in_folder(path / CONTRACT_FOLDER)]


def _in_folder(folder: Path) -> list[Path]:
    """The files of a folder; editors and file servers leave others there, whose names begin with a dot."""
    return sorted(file for file in folder.glob("*.yaml") if not file.name.startswith("."))


def stands(file: Path) -> bool:
    """Whether a file is there, be it a link that leads nowhere: what it says is then unknown, and not the default."""
    return file.is_symlink() or file.exists()


def _read_all(root: Path, files: Sequence[Path]) -> tuple[list[Document], list[Finding]]:
    documents: list[Document] = []
    findings: list[Finding] = []
    for file in files:
        name = file.relative_to(root).as_posix()
        if file.exists() and not (file.is_file() or file.is_dir()):
            # A pipe would be waited for.
            findings.append(Finding(name, None, "", "cannot be read: this is no regular file"))
            continue
        try:
            with file.open("rb") as handle:
                result = read_yaml(handle.read(_MOST_BYTES), file=name)
        except OSError as error:
            findings.append(Finding(name, None, "", f"cannot be read: {error.strerror or type(error).__name__}"))
            continue
        findings += result.findings
        if result.document is not None:
            documents.append(result.document)
    return documents, findings
