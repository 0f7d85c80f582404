"""The settings: `trivet.yaml`, every key of which can be set by environment as `TRIVET_STORE__URL`.

Secrets are references (`trivet.references`) and never values, so settings can be printed and hashed.
References are resolved where a connection is opened, and what comes out is a `Secret`.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from types import MappingProxyType
from typing import Annotated, Any, Literal, TypeAlias, get_origin

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from trivet.delivery_settings import DeliverySettings
from trivet.digest_settings import DigestSettings
from trivet.documents import Document, Path, Scalar, Value, read_yaml, shown_path
from trivet.faults import Fault, expected, refused
from trivet.fields import Between, DurationText, Integer, Slug, Text
from trivet.findings import Finding, did_you_mean, key_path
from trivet.ledger_settings import LedgerSettings
from trivet.receiver_settings import ReceiverSettings
from trivet.references import BrokerUrl, ModelUrl, Reference, StoreUrl
from trivet.shapes import bare_type, child_shape, fields_of
from trivet.validation import StrictModel, examine, findings_of
from trivet.verdicts import Severity
from trivet.warehouse_settings import WarehouseSettings
from trivet.watch_settings import WatchSettings

PREFIX = "TRIVET_"
Json: TypeAlias = "bool | int | str | list[Json] | dict[str, Json] | None"


def _read_group_key(value: object) -> str:
    if not isinstance(value, str) or not (value in _GROUP_KEYS or _LABEL_KEY.fullmatch(value)):
        raise expected(f"one of {', '.join(_GROUP_KEYS)}, or labels.NAME")
    return str(value)


_GROUP_KEYS = ("monitor", "object", "severity", "owner", "verdict")
_GROUP_WAIT = timedelta(seconds=30)
_GROUP_INTERVAL = timedelta(minutes=5)
_LABEL_KEY = re.compile(r"labels\.[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")

GroupKey = Annotated[str, BeforeValidator(_read_group_key), WithJsonSchema({"type": "string"})]


class StoreSettings(StrictModel):
    """Where audit rows, alerts and the ledger are kept."""

    url: StoreUrl = "sqlite:///trivet.db"
    """`sqlite:///FILE` (from the workspace) or `postgresql+psycopg://...`; with a password, a reference."""


class SchedulerSettings(StrictModel):
    """Who runs due evaluations."""

    mode: Literal["embedded", "celery"] = "embedded"
    workers: Annotated[int, Between(1, 256)] = 2
    """Evaluations at one time, in one process."""
    tick: DurationText = timedelta(seconds=5)
    """How often due slots are looked for."""
    lease: DurationText = timedelta(seconds=45)
    """How long a process that no longer says so is believed to be working."""
    broker: BrokerUrl | None = None
    """`redis://...`, for mode celery; with a password, a reference."""

    @model_validator(mode="after")
    def _needs_broker(self) -> SchedulerSettings:
        if self.mode == "celery" and self.broker is None:
            message = "mode celery needs scheduler.broker, such as redis://localhost:6379/0"
            raise refused(Fault(("mode",), message))
        if not self.tick:
            raise refused(Fault(("tick",), "expected a duration of at least 1s, found '0s'"))
        if not self.lease:
            raise refused(Fault(("lease",), "expected a duration of at least 1s, found '0s'"))
        return self


class ModelEndpoint(StrictModel):
    """One model behind an OpenAI-compatible server."""

    base_url: ModelUrl
    name: Text
    """As the server calls it."""
    api_key: Reference | None = None


class ModelSettings(StrictModel):
    """What proposes SQL for questions; none is fine."""

    provider: Literal["none", "openai"] = "none"
    """`openai`: any OpenAI-compatible server (vLLM, llama.cpp, Ollama)."""
    base_url: ModelUrl | None = None
    name: Text | None = None
    api_key: Reference | None = None
    candidates: Annotated[int, Between(1, 32)] = 5
    """Proposals per question and model."""
    temperature: Annotated[Decimal, Between(0, 2)] = Decimal("0.7")
    seed: Integer = 0
    policy: Literal["vote", "agree"] = "vote"
    """Of several models: their candidates vote together, or each must reach the same answer."""
    models: tuple[ModelEndpoint, ...] = ()
    """Several models, in place of `base_url`, `name` and `api_key`."""

    @property
    def endpoints(self) -> tuple[ModelEndpoint, ...]:
        """The models to ask, in order; none where the provider is none."""
        if self.provider == "none":
            return ()
        if self.base_url is None or self.name is None:
            return self.models
        return (ModelEndpoint(base_url=self.base_url, name=self.name, api_key=self.api_key),)

    @model_validator(mode="after")
    def _names_a_model(self) -> ModelSettings:
        single = {"base_url": self.base_url, "name": self.name}
        given = [key for key, value in single.items() if value is not None]
        if self.models and given:
            raise refused(Fault((given[0],), "give either models, or base_url and name, not both"))
        if self.provider == "openai" and not self.models and len(given) < 2:
            missing = " and ".join(key for key in single if key not in given)
            raise refused(Fault(("provider",), f"provider openai needs {missing}, or models"))
        return self


class RouteMatch(StrictModel):
    """What an alert must be to take a route: everything that is named here. Empty matches all."""

    monitor: Slug | None = None
    object: Text | None = None
    severity: Severity | None = None
    owner: Text | None = None
    verdict: Literal["breach", "no_data"] | None = None
    labels: dict[Slug, Text] = Field(default_factory=dict)


class RouteSettings(StrictModel):
    """Which alerts go to which receiver, and how they are gathered."""

    match: RouteMatch = RouteMatch()
    receiver: Text
    group_by: tuple[GroupKey, ...] = ("monitor",)
    """Notices that are alike in these are of one group; with none, all are."""
    group_wait: DurationText | None = None
    """How long a first notice waits for others of its group; `wait` is what holds."""
    group_interval: DurationText | None = None
    """How long after a message of a group the next one is sent; `interval` is what holds."""
    repeat: DurationText | None = None
    """How often a group that still fires is told again; never, if absent."""

    @property
    def wait(self) -> timedelta:
        """`group_wait` as it holds: nothing waits of itself where each monitor is a group of its own."""
        return self._given_or(self.group_wait, _GROUP_WAIT)

    @property
    def interval(self) -> timedelta:
        """`group_interval` as it holds."""
        return self._given_or(self.group_interval, _GROUP_INTERVAL)

    @model_validator(mode="after")
    def _takes_its_time(self) -> RouteSettings:
        if self.repeat is not None and not self.repeat:
            raise refused(Fault(("repeat",), "expected a duration of at least 1s, found '0s'"))
        return self

    def _given_or(self, given: timedelta | None, otherwise: timedelta) -> timedelta:
        return given if given is not None else timedelta() if "monitor" in self.group_by else otherwise


class ApiSettings(StrictModel):
    """Where the API and the page listen."""

    host: Text = "127.0.0.1"
    port: Annotated[int, Between(0, 65535)] = 8321
    """0 takes any free port."""


class Settings(StrictModel):
    """The whole of `trivet.yaml`; every key has a default."""

    store: StoreSettings = StoreSettings()
    warehouse: WarehouseSettings = WarehouseSettings()
    scheduler: SchedulerSettings = SchedulerSettings()
    model: ModelSettings = ModelSettings()
    receivers: dict[Slug, ReceiverSettings] = Field(default_factory=dict)
    routes: tuple[RouteSettings, ...] = ()
    """Tried in order; the first that matches is taken."""
    delivery: DeliverySettings = DeliverySettings()
    digests: tuple[DigestSettings, ...] = ()
    """At most one for each receiver."""
    ledger: LedgerSettings = LedgerSettings()
    api: ApiSettings = ApiSettings()
    watch: WatchSettings = WatchSettings()

    @model_validator(mode="after")
    def _routes_end_somewhere(self) -> Settings:
        named: list[tuple[Path, str]] = [
            (("routes", index, "receiver"), route.receiver) for index, route in enumerate(self.routes)
        ]
        named += [(("delivery", "fallback", index), name) for index, name in enumerate(self.delivery.fallback or ())]
        named += [(("digests", index, "receiver"), digest.receiver) for index, digest in enumerate(self.digests)]
        faults = [
            Fault(place, f"no receiver '{name}'{did_you_mean(name, self.receivers)}")
            for place, name in named
            if name not in self.receivers
        ]
        told = [digest.receiver for digest in self.digests]
        faults += [
            Fault(("digests", index, "receiver"), f"'{name}' has a digest already; one for each receiver")
            for index, name in enumerate(told)
            if name in told[:index]
        ]
        if faults:
            raise refused(*faults)
        return self


@dataclass(frozen=True, slots=True)
class EffectiveSetting:
    """One setting as it is in force."""

    key: str
    """Such as `store.url`."""
    value: Json
    """As printed: references for secrets, and of receivers' URLs the scheme only."""
    origin: str
    """`default`, `trivet.yaml:3`, or the name of an environment variable."""


@dataclass(frozen=True, slots=True)
class SettingsResult:
    """The settings and where each came from, or the findings that refuse them."""

    settings: Settings | None
    findings: tuple[Finding, ...] = ()
    effective: tuple[EffectiveSetting, ...] = ()

    @property
    def origin(self) -> Mapping[str, str]:
        """Key to origin."""
        return MappingProxyType({setting.key: setting.origin for setting in self.effective})


def load_settings(document: Document | None, environment: Mapping[str, str]) -> SettingsResult:
    """The settings in force: defaults, over which the file stands, over which the environment stands.

    A variable that names a list or a mapping (`TRIVET_ROUTES`) holds it as YAML on one line, which
    JSON is too. Variables without `__` that name no top-level key are none of the settings' business.

    Args:
        document: `trivet.yaml`, if there is one.
        environment: every environment variable; only `TRIVET_*` is looked at.
    """
    overlay = _Overlay(document)
    for name in sorted(environment, key=lambda each: (each.count("__"), each)):
        overlay.add(name, environment[name])
    settings, faults = examine(overlay.tree, Settings)
    findings = (*overlay.findings, *findings_of(faults, overlay.finding, overlay.file))
    if settings is None or findings:
        return SettingsResult(None, findings)
    leaves = _leaves(settings.model_dump(mode="json"), ())
    effective = (EffectiveSetting(key_path(path), value, overlay.origin(path)) for path, value in leaves)
    return SettingsResult(settings, (), tuple(effective))


class _Overlay:
    """The file's tree with the environment laid over it, and where each value came from."""

    def __init__(self, document: Document | None) -> None:
        self.tree: dict[str, Value] = copy.deepcopy(document.root) if document else {}
        self.file = document.file if document else "trivet.yaml"
        self.findings: list[Finding] = []
        self._document = document
        self._variables: dict[Path, str] = {}

    def add(self, name: str, text: str) -> None:
        """Lays one environment variable over the tree, if it names a setting."""
        parts = name.removeprefix(PREFIX).split("__")
        if not name.startswith(PREFIX) or not _concerns_settings(parts):
            return
        path: Path = ()
        shape: Any = Settings
        for part in parts:
            keys = self._keys(path, shape, part)
            if part not in keys:
                known = [PREFIX + "__".join((*parts[: len(path)], key)) for key in keys]
                self._refuse(name, path, f"no such setting{did_you_mean(name, known)}")
                return
            path, shape = (*path, keys[part]), child_shape(bare_type(shape), keys[part])
        value = self._structure(name, text, path) if _is_structure(shape) else Scalar(text)
        if value is not None and _put(self.tree, path, value):
            self._variables[path] = name

    def finding(self, fault: Fault) -> Finding:
        """The fault where it was written: in a variable or in the file."""
        variable = self._variable(fault.path)
        if variable is not None or self._document is None:
            return Finding(variable or self.file, None, shown_path(fault.path), fault.message)
        return self._document.finding(fault.path, fault.message, key=fault.at_key)

    def origin(self, path: Path) -> str:
        """Where the value at `path` comes from, as `EffectiveSetting.origin`."""
        variable = self._variable(path)
        if variable is not None:
            return variable
        if self._document is not None and self._document.has(path):
            return f"{self.file}:{self._document.position(path, key=True).line}"
        return "default"

    def _keys(self, path: Path, shape: Any, part: str) -> dict[str, str]:
        """The keys that may stand at `path`, by their spelling in a variable's name."""
        if get_origin(bare_type(shape)) is not dict:
            return {key.upper(): key for key in fields_of(shape)}
        present: Any = self.tree
        for step in path:
            present = present.get(step) if isinstance(present, dict) else None
        named = {re.sub("[-.]", "_", key).upper(): key for key in present or ()}
        return {part: part.lower()} | named

    def _structure(self, name: str, text: str, path: Path) -> Value | None:
        document = read_yaml(f"value: {text}", file=name).document
        if document is None or document.root.keys() != {"value"}:
            self._refuse(name, path, "expected YAML or JSON on one line, such as [{receiver: payroll}]")
            return None
        return document.root["value"]

    def _refuse(self, name: str, path: Path, message: str) -> None:
        self.findings.append(Finding(name, None, key_path(path), message))

    def _variable(self, path: Path) -> str | None:
        prefixes = (path[:length] for length in range(len(path), 0, -1))
        return next((self._variables[prefix] for prefix in prefixes if prefix in self._variables), None)


def _concerns_settings(parts: list[str]) -> bool:
    """Whether a variable is a setting or a misspelt one; others may be secrets that a reference names."""
    section = parts[0].lower()
    misspelt = "did you mean" in did_you_mean(section, Settings.model_fields)
    return section in Settings.model_fields or (len(parts) > 1 and misspelt)


def _is_structure(shape: Any) -> bool:
    return bool(fields_of(shape)) or get_origin(bare_type(shape)) in (dict, tuple)


def _put(tree: dict[str, Value], path: Path, value: Value) -> bool:
    """Puts `value` in; false where the file has no mapping on the way, which is a fault of its own."""
    node: Any = tree
    for part in path[:-1]:
        node = node.setdefault(part, {})
        if not isinstance(node, dict):
            return False
    node[path[-1]] = value
    return True


def _leaves(value: Json, path: Path) -> Iterator[tuple[Path, Json]]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _leaves(inner, (*path, key))
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        for index, item in enumerate(value):
            yield from _leaves(item, (*path, index))
    else:
        yield path, value
