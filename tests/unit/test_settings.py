"""Settings: defaults, file and environment, where each came from, and no secret anywhere."""

from __future__ import annotations

import json
from datetime import timedelta
from decimal import Decimal
from typing import Annotated, Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from trivet.documents import Document, read_yaml
from trivet.errors import InputError
from trivet.fields import Integer
from trivet.references import Secret, SecretRef, resolve_reference
from trivet.settings import Settings, SettingsResult, load_settings
from trivet.validation import StrictModel
from trivet.verdicts import Severity

EXAMPLE = """\
store: {url: "sqlite:///trivet.db"}
warehouse: {engine: duckdb, path: warehouse.duckdb, keep: 7}
scheduler: {mode: embedded, workers: 2, tick: 5s}
model: {provider: none}
receivers: {payroll: {apprise: ["env:PAYROLL_WEBHOOK"]}}
routes: [{match: {severity: critical}, receiver: payroll, group_by: [monitor], group_wait: 30s, repeat: 4h}]
api: {host: 127.0.0.1, port: 8321}
"""
CANARY = "hunter2"


def document(text: str) -> Document:
    result = read_yaml(text, file="trivet.yaml")
    assert result.document is not None, result.findings
    return result.document


def load(text: str, **environment: str) -> SettingsResult:
    return load_settings(document(text) if text else None, environment)


def loaded(text: str, **environment: str) -> Settings:
    result = load(text, **environment)
    assert result.settings is not None, result.findings
    return result.settings


def lines(result: SettingsResult) -> list[str]:
    assert result.settings is None
    return [str(finding) for finding in result.findings]


def test_without_a_file_everything_has_its_default() -> None:
    result = load("")
    assert result.settings == Settings()
    assert set(result.origin.values()) == {"default"}
    assert result.settings.store.url == "sqlite:///trivet.db"
    assert result.settings.scheduler.tick == timedelta(seconds=5)


def test_the_documented_example_is_read() -> None:
    settings = loaded(EXAMPLE)
    assert settings.receivers["payroll"].apprise == (SecretRef("env", "PAYROLL_WEBHOOK"),)
    (route,) = settings.routes
    assert route.match.severity is Severity.CRITICAL
    assert (route.receiver, route.group_by) == ("payroll", ("monitor",))
    assert (route.group_wait, route.repeat) == (timedelta(seconds=30), timedelta(hours=4))
    assert settings.warehouse.keep == 7
    assert settings.api.port == 8321


@pytest.mark.parametrize(
    ("keys", "wait", "interval"),
    [
        ("", 0, 0),
        ("group_by: [severity, monitor]", 0, 0),
        ("group_by: [severity]", 30, 300),
        ("group_by: []", 30, 300),
        ("group_by: [monitor], group_wait: 10s", 10, 0),
        ("group_by: [owner], group_wait: 0s, group_interval: 1h", 0, 3600),
    ],
)
def test_a_route_waits_for_others_only_where_it_puts_monitors_together(keys: str, wait: int, interval: int) -> None:
    (route,) = loaded(f"receivers: {{a: {{stdout: true}}}}\nroutes: [{{receiver: a, {keys}}}]").routes
    assert (route.wait, route.interval, route.repeat) == (timedelta(seconds=wait), timedelta(seconds=interval), None)


def test_a_route_cannot_repeat_without_end() -> None:
    (finding,) = load("receivers: {a: {stdout: true}}\nroutes: [{receiver: a, repeat: 0s}]").findings
    assert finding.message == "expected a duration of at least 1s, found '0s'"


def test_each_setting_says_where_it_comes_from() -> None:
    origin = load(EXAMPLE, TRIVET_WAREHOUSE__KEEP="9").origin
    assert origin["warehouse.path"] == "trivet.yaml:2"
    assert origin["warehouse.keep"] == "TRIVET_WAREHOUSE__KEEP"
    assert origin["scheduler.broker"] == "default"
    assert origin["receivers.payroll.apprise"] == "trivet.yaml:5"
    assert origin["routes[0].match.severity"] == "trivet.yaml:6"


@pytest.mark.parametrize(
    ("variable", "text", "key", "value"),
    [
        ("TRIVET_STORE__URL", "env:STORE", "store.url", "env:STORE"),
        ("TRIVET_STORE__URL", "file:/run/secrets/store", "store.url", "file:/run/secrets/store"),
        ("TRIVET_WAREHOUSE__KEEP", "30", "warehouse.keep", 30),
        ("TRIVET_SCHEDULER__TICK", "250s", "scheduler.tick", "250s"),
        ("TRIVET_MODEL__TEMPERATURE", "0.25", "model.temperature", "0.25"),
        ("TRIVET_MODEL__API_KEY", "env:KEY", "model.api_key", "env:KEY"),
        ("TRIVET_API__PORT", "0", "api.port", 0),
        ("TRIVET_RECEIVERS__OPS__APPRISE", '["env:OPS"]', "receivers.ops.apprise", ["env:OPS"]),
        ("TRIVET_RECEIVERS__OPS", "{apprise: [env:OPS]}", "receivers.ops.apprise", ["env:OPS"]),
        ("TRIVET_RECEIVERS", '{"ops": {"apprise": ["env:OPS"]}}', "receivers.ops.apprise", ["env:OPS"]),
        ("TRIVET_ROUTES", "[]", "routes", []),
        ("TRIVET_API", "{port: 80}", "api.port", 80),
    ],
)
def test_every_kind_of_setting_can_be_set_by_environment(variable: str, text: str, key: str, value: object) -> None:
    result = load("", **{variable: text})
    assert result.findings == ()
    effective = {setting.key: setting for setting in result.effective}
    assert (effective[key].value, effective[key].origin) == (value, variable)


def _leaf_keys(model: type[BaseModel], path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    leaves: list[tuple[str, ...]] = []
    for name, field in model.model_fields.items():
        inner: Any = field.annotation
        is_section = isinstance(inner, type) and issubclass(inner, BaseModel)
        leaves += _leaf_keys(inner, (*path, name)) if is_section else [(*path, name)]
    return leaves


@pytest.mark.parametrize("path", _leaf_keys(Settings), ids=".".join)
def test_no_key_is_out_of_the_environments_reach(path: tuple[str, ...]) -> None:
    variable = "TRIVET_" + "__".join(path).upper()
    findings = load("", **{variable: "[[nonsense]]"}).findings
    assert [finding.file for finding in findings] == [variable] * len(findings)
    assert not any("no such setting" in finding.message for finding in findings)


def test_a_more_exact_variable_wins_over_a_less_exact_one() -> None:
    settings = loaded("", TRIVET_API__PORT="81", TRIVET_API="{port: 80, host: 0.0.0.0}")
    assert (settings.api.port, settings.api.host) == (81, "0.0.0.0")  # noqa: S104


def test_a_receiver_with_a_hyphen_can_be_set_by_environment() -> None:
    text = 'receivers: {pay-ops.au: {apprise: ["env:A"]}}'
    settings = loaded(text, TRIVET_RECEIVERS__PAY_OPS_AU__APPRISE='["env:B"]')
    assert {name: receiver.apprise for name, receiver in settings.receivers.items()} == {
        "pay-ops.au": (SecretRef("env", "B"),)
    }


@pytest.mark.parametrize(
    "variable",
    [
        "TRIVET_WORKSPACE",
        "TRIVET_API_PORT",
        "TRIVET_PAYROLL__WEBHOOK",
        "TRIVET_",
        "STORE__URL",
        "XTRIVET_STORE__URL",
    ],
)
def test_other_variables_are_left_alone(variable: str) -> None:
    assert load("", **{variable: "anything"}).settings == Settings()


@pytest.mark.parametrize(
    ("variable", "line"),
    [
        ("TRIVET_API__PROT", "TRIVET_API__PROT: api: no such setting; did you mean 'TRIVET_API__PORT'?"),
        ("TRIVET_SOTRE__URL", "TRIVET_SOTRE__URL: no such setting; did you mean 'TRIVET_STORE'?"),
        ("TRIVET_API__PORT__X", "TRIVET_API__PORT__X: api.port: no such setting"),
        ("TRIVET_ROUTES__0", "TRIVET_ROUTES__0: routes: no such setting"),
        ("TRIVET_API__port", "TRIVET_API__port: api: no such setting; did you mean 'TRIVET_API__PORT'?"),
    ],
)
def test_a_misspelt_variable_is_a_finding(variable: str, line: str) -> None:
    assert lines(load("", **{variable: "1"})) == [line]


def test_findings_name_the_variable_or_the_line_that_is_at_fault() -> None:
    text = "api:\n  port: 8o80\n  hots: x\nscheduler: {mode: celery}\n"
    assert lines(load(text, TRIVET_WAREHOUSE__KEEP="seven", TRIVET_ROUTES="[{")) == [
        "TRIVET_ROUTES: routes: expected YAML or JSON on one line, such as [{receiver: payroll}]",
        "trivet.yaml:2:9: api.port: expected an integer from 0 to 65535, found '8o80'",
        "trivet.yaml:3:3: api.hots: unknown key 'hots'; did you mean 'host'?",
        "trivet.yaml:4:19: scheduler.mode: mode celery needs scheduler.broker, such as redis://localhost:6379/0",
        "TRIVET_WAREHOUSE__KEEP: warehouse.keep: expected an integer from 1 to 1000, found 'seven'",
    ]


def test_an_empty_variable_is_a_fault_and_no_default() -> None:
    assert lines(load("", TRIVET_API__HOST="")) == ["TRIVET_API__HOST: api.host: expected text, found an empty text"]


def test_a_variable_cannot_add_keys_beside_its_own() -> None:
    for text in ("[]\nother: 1", "[]}\n{", "&a []", "!!python/name:os.system"):
        assert "expected YAML or JSON on one line" in lines(load("", TRIVET_ROUTES=text))[0]


def test_a_file_that_has_no_mapping_where_a_variable_goes_is_told_so() -> None:
    assert lines(load("api: 80\n", TRIVET_API__PORT="80")) == ["trivet.yaml:1:6: api: expected a mapping, found '80'"]


SECRET_PLACES = [
    "store: {url: 'postgresql+psycopg://u:hunter2@h/db'}",
    "store: {url: 'postgresql+psycopg://h/db?password=hunter2'}",
    "store: {url: hunter2}",
    "store: {url: [hunter2]}",
    "store: {url: 'env: hunter2'}",
    "scheduler: {broker: 'redis://:hunter2@h'}",
    "scheduler: {broker: 'redis://:hun/hunter2@h'}",
    "scheduler: {broker: 'redis://h hunter2'}",
    "model: {api_key: hunter2}",
    "model: {api_key: 'hunter2 env:A'}",
    "model: {base_url: 'http://u:hunter2@h/v1'}",
    "receivers: {a: {apprise: ['mailto://u:hunter2@h']}}",
    "receivers: {a: {apprise: ['json://h/?token=hunter2']}}",
    "receivers: {a: {apprise: [hunter2]}}",
    "receivers: {a: {webhook: {url: 'https://u:hunter2@h/'}}}",
    "receivers: {a: {webhook: {url: 'http://h/hunter2'}}}",
    "receivers: {a: {webhook: {url: 'https://h/', secret: hunter2}}}",
]


@pytest.mark.parametrize("text", SECRET_PLACES)
def test_an_inline_secret_is_refused_and_not_repeated(text: str) -> None:
    result = load(text)
    assert result.settings is None
    assert CANARY not in repr(result)
    assert CANARY not in "\n".join(lines(result))


def test_a_receiver_is_of_any_one_kind() -> None:
    settings = loaded(
        "receivers: {chat: {apprise: [env:A]}, screen: {stdout: true},"
        " desk: {webhook: {url: 'https://example.org/hook', secret: 'file:desk.key'}},"
        " near: {webhook: {url: 'http://localhost:8080/', insecure: true}}}"
    )
    chat, screen, desk, near = settings.receivers.values()
    assert (chat.apprise, chat.stdout, chat.webhook) == ((SecretRef("env", "A"),), False, None)
    assert (screen.apprise, screen.stdout) == (None, True)
    assert desk.webhook is not None
    assert near.webhook is not None
    assert (desk.webhook.secret, desk.webhook.insecure) == (SecretRef("file", "desk.key"), False)
    assert (near.webhook.url, near.webhook.insecure) == ("http://localhost:8080/", True)


def test_a_path_of_a_webhooks_url_is_not_printed() -> None:
    result = load("receivers: {a: {webhook: {url: 'https://example.org/hunter2'}}}")
    assert CANARY not in repr(result.effective)
    assert {item.key: item.value for item in result.effective}["receivers.a.webhook.url"] == "https://***"


def test_a_path_of_a_receivers_url_is_not_printed() -> None:
    result = load("receivers: {a: {apprise: ['slack://hunter2/hunter2']}}")
    assert CANARY not in repr(result.effective)
    assert CANARY not in json.dumps(result.settings and result.settings.model_dump(mode="json"))
    assert {setting.key: setting.value for setting in result.effective}["receivers.a.apprise"] == ["slack://***"]


@pytest.mark.parametrize(
    "url",
    [
        "sqlite:////var/lib/a@b:c.db",
        "sqlite:///C:/x@y/trivet.db",
        "postgresql+psycopg://trivet@db:5432/trivet",
    ],
)
def test_a_store_url_without_a_password_is_a_value(url: str) -> None:
    assert loaded(f'store: {{url: "{url}"}}').store.url == url


def _no_file(path: str) -> str:
    raise FileNotFoundError(path)


def test_a_reference_to_a_variable_is_resolved() -> None:
    secret = resolve_reference(SecretRef("env", "KEY"), {"KEY": CANARY}, _no_file)
    assert secret.reveal() == CANARY


def test_a_reference_to_a_file_is_resolved_without_its_last_line_end() -> None:
    secret = resolve_reference(SecretRef("file", "/run/key"), {}, {"/run/key": f" {CANARY}\r\n"}.__getitem__)
    assert secret.reveal() == f" {CANARY}"


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        (SecretRef("env", "KEY"), "env:KEY: the secret is missing: the variable is not set or is blank"),
        (SecretRef("env", "BLANK"), "env:BLANK: the secret is missing: the variable is not set or is blank"),
        (SecretRef("file", "key"), "file:key: the secret is missing: the file cannot be read or is blank"),
    ],
)
def test_a_reference_to_nothing_is_a_fault_of_the_input(reference: SecretRef, words: str) -> None:
    with pytest.raises(InputError, match=words):
        resolve_reference(reference, {"BLANK": " \n"}, _no_file)


def test_a_secret_shows_nothing_of_itself() -> None:
    secret = Secret(CANARY)
    for text in (repr(secret), str(secret), f"{secret}", f"{[secret]}", "%s" % secret):  # noqa: UP031
        assert text in ("Secret(***)", "[Secret(***)]")
    with pytest.raises(TypeError):
        json.dumps(secret)


def test_one_model_and_several_are_asked_alike() -> None:
    one = loaded("model: {provider: openai, base_url: 'http://h/v1', name: m, api_key: env:K}").model
    several = loaded("model: {provider: openai, models: [{base_url: 'http://h/v1', name: m, api_key: env:K}]}").model
    assert one.endpoints == several.endpoints
    assert one.endpoints[0].api_key == SecretRef("env", "K")
    assert loaded("model: {provider: none, base_url: 'http://h/v1', name: m}").model.endpoints == ()


def test_numbers_and_names_of_settings_have_their_types() -> None:
    settings = loaded("model: {temperature: 0.10, seed: -1}\nreceivers: {'1': {apprise: [env:A]}}")
    assert settings.model.temperature == Decimal("0.10")
    assert settings.model.seed == -1
    assert type(next(iter(settings.receivers))) is str


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="frozen"):
        loaded("").api.port = 1  # type: ignore[misc]


def test_the_json_schema_accepts_what_a_file_spells() -> None:
    schema = Settings.model_json_schema()
    scheduler = schema["$defs"]["SchedulerSettings"]["properties"]
    assert scheduler["workers"]["type"] == "integer"
    assert (scheduler["workers"]["minimum"], scheduler["workers"]["maximum"]) == (1, 256)
    assert (scheduler["tick"]["type"], scheduler["tick"]["default"]) == ("string", "5s")
    assert schema["$defs"]["ModelSettings"]["properties"]["temperature"] == {
        "default": 0.7,
        "maximum": 2,
        "minimum": 0,
        "title": "Temperature",
        "type": "number",
    }
    assert schema["additionalProperties"] is False
    assert scheduler["tick"]["description"] == "How often due slots are looked for."
    json.dumps(schema)


def test_a_model_whose_fields_would_be_coerced_cannot_be_defined() -> None:
    for annotation in (
        int,
        bool | None,
        list[float],
        dict[str, Annotated[timedelta, "x"]],
        Decimal | Integer,
    ):
        with pytest.raises(TypeError, match="use Integer, Number, Flag or DurationText"):
            type("Bad", (StrictModel,), {"__annotations__": {"field": annotation}, "__module__": __name__})


names = st.sampled_from(
    ["TRIVET_API__PORT", "TRIVET_STORE__URL", "TRIVET_ROUTES", "TRIVET_MODEL", "TRIVET_RECEIVERS__A"]
)


@given(st.dictionaries(names | st.text(max_size=20).map("TRIVET_".__add__), st.text(max_size=20), max_size=4))
def test_no_environment_makes_loading_fail(environment: dict[str, str]) -> None:
    result = load_settings(document(EXAMPLE), environment)
    assert (result.settings is None) == bool(result.findings)


words = st.sampled_from(["", "x", "5", "true", "env:A", "redis://h", "15m", "openai", "critical"])
inner_keys = st.sampled_from(["url", "mode", "tick", "broker", "apprise", "match", "receiver", "a", "models", "name"])
values = st.recursive(
    words,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(inner_keys, inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(sorted(Settings.model_fields)) | inner_keys, values, min_size=1))
def test_no_file_makes_loading_fail_and_every_finding_has_a_place(tree: dict[str, Any]) -> None:
    result = load(yaml.safe_dump(tree))
    assert (result.settings is None) == bool(result.findings)
    for finding in result.findings:
        assert finding.position is not None
        assert finding.message


def test_who_is_told_of_a_receiver_that_cannot_be_told_is_a_receiver() -> None:
    text = "receivers: {desk: {stdout: true}}\ndelivery: {fallback: [desk, dsk]}"
    (finding,) = load(text).findings
    assert str(finding).startswith("trivet.yaml:2:29: delivery.fallback[1]: ")
    assert finding.message == "no receiver 'dsk'; did you mean 'desk'?"
    assert loaded("delivery: {fallback: []}").delivery.fallback == ()
