"""Contract files to one contract: what every default is, what several files may hold, and what the hash covers."""

from __future__ import annotations

import random
import textwrap
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.contract import (
    Additivity,
    Calendar,
    Cardinality,
    CensoredColumns,
    Contract,
    EffectiveDates,
    Identity,
    Limits,
    LinkType,
    ObjectType,
    Property,
    PropertyRole,
    ProvenanceColumns,
    Restates,
    Sensitivity,
)
from catalog.datatypes import DATE, DOUBLE, INTEGER, TEXT, TIMESTAMP, decimal
from catalog.loading import ContractResult, load_contract
from trivet.documents import Document, read_yaml

HEADER = "contract: {id: shop, version: 1.0.0}\n"
ORDERS = """\
object_types:
  - name: orders
    view: ontology.orders
    primary_key: [id]
    properties: [{name: id, type: text}, {name: customer, type: text}, {name: amount, type: "decimal(12,2)"}]
"""
CUSTOMERS = """\
object_types:
  - name: customers
    view: ontology.customers
    primary_key: [id]
    properties: [{name: id, type: text}]
"""
LINK = """\
link_types:
  - name: placed_by
    from: {object: orders, keys: [customer]}
    to: {object: customers, keys: [id]}
    cardinality: many_to_one
"""
FULL = """\
contract: {id: payroll, version: 1.2.0-rc.1, status: certified}
identity:
  subject_name: Aruma
  aliases: [Aruma Services, "012"]
  statement: |
    Every row already belongs to Aruma;
    "Aruma staff" means all rows.
calendar:
  fiscal_year_start_month: 7
  fiscal_year_label: start_year
  week_start: sunday
  time_zone: Australia/Sydney
limits: {max_objects: 5, max_rows: 50, timeout: 2m}
object_types:
  - name: pay
    view: ontology.pay
    description: The current pay line.
    grain: one row per employee
    primary_key: [id, paid]
    provenance: {document: _document, table: _table, page: _page, row: _row}
    properties:
      - {name: id, type: text, role: identifier, synonyms: [number], description: Payroll number.}
      - {name: level, type: text, missing: [n/a, "no"]}
      - name: hourly_rate
        type: decimal(12, 4)
        unit: AUD/hour
        additivity: non_additive
        raw: rate_raw
        cause: rate_cause
        censored: {side: rate_side, limit: rate_limit}
        non_negative: true
        display: {scale: 2}
        sensitivity: restricted
      - {name: paid, type: date}
  - name: rate
    view: ontology.rate
    primary_key: [level, starts]
    properties:
      - {name: level, type: text}
      - {name: minimum, type: double}
      - {name: steps, type: integer}
      - {name: starts, type: date}
      - {name: ends, type: date}
      - {name: read_at, type: timestamp}
link_types:
  - name: governed_by
    description: The rate in force.
    from: {object: pay, keys: [level]}
    to: {object: rate, keys: [level]}
    cardinality: many_to_one
    optional: true
    as_of: {date: paid, valid_from: starts, valid_to: ends, restates: all, within: [level]}
"""


def documents(*texts: str, names: list[str] | None = None) -> list[Document]:
    read = []
    for index, text in enumerate(texts):
        document = read_yaml(text, file=names[index] if names else f"contract/{index}.yaml").document
        assert document is not None
        read.append(document)
    return read


def load(*texts: str) -> ContractResult:
    return load_contract(documents(*texts))


def loaded(*texts: str) -> Contract:
    result = load(*texts)
    assert result.contract is not None, [str(finding) for finding in result.findings]
    return result.contract


def lines(*texts: str) -> list[str]:
    result = load(*texts)
    assert result.contract is None
    return [str(finding) for finding in result.findings]


def test_every_key_of_a_full_contract_arrives() -> None:
    contract = loaded(FULL)
    assert (contract.id, contract.version, contract.status) == ("payroll", "1.2.0-rc.1", "certified")
    assert contract.identity == Identity(
        "Aruma",
        ("Aruma Services", "012"),
        'Every row already belongs to Aruma;\n"Aruma staff" means all rows.',
    )
    assert contract.calendar == Calendar(7, "start_year", "sunday", "Australia/Sydney")
    assert contract.limits == Limits(5, 50, timedelta(minutes=2))
    pay, rate = contract.object_types
    assert pay == ObjectType(
        name="pay",
        view="ontology.pay",
        primary_key=("id", "paid"),
        properties=(
            Property("id", TEXT, "Payroll number.", ("number",), role=PropertyRole.IDENTIFIER),
            Property("level", TEXT, missing=("n/a", "no")),
            Property(
                "hourly_rate",
                decimal(12, 4),
                unit="AUD/hour",
                raw="rate_raw",
                cause="rate_cause",
                censored=CensoredColumns("rate_side", "rate_limit"),
                non_negative=True,
                additivity=Additivity.NON_ADDITIVE,
                display_scale=2,
                sensitivity=Sensitivity.RESTRICTED,
            ),
            Property("paid", DATE),
        ),
        description="The current pay line.",
        grain="one row per employee",
        provenance=ProvenanceColumns("_document", "_table", "_page", "_row"),
    )
    assert [item.type for item in rate.properties] == [TEXT, DOUBLE, INTEGER, DATE, DATE, TIMESTAMP]
    assert contract.link_types == (
        LinkType(
            name="governed_by",
            source="pay",
            source_keys=("level",),
            target="rate",
            target_keys=("level",),
            cardinality=Cardinality.MANY_TO_ONE,
            optional=True,
            as_of=EffectiveDates("paid", "starts", Restates.ALL, "ends", ("level",)),
            description="The rate in force.",
        ),
    )


def test_every_default_of_a_smallest_contract() -> None:
    contract = loaded(HEADER + ORDERS)
    assert contract.status == "draft"
    assert contract.identity is None
    assert contract.calendar == Calendar(1, "end_year", "monday", "UTC")
    assert contract.limits == Limits(3, 1000, timedelta(seconds=60))
    assert contract.link_types == ()
    (orders,) = contract.object_types
    assert (orders.description, orders.grain, orders.provenance) == ("", "", ProvenanceColumns())
    assert orders.properties[0] == Property("id", TEXT)
    assert orders.properties[0].sensitivity is Sensitivity.NONE


def test_a_link_is_not_optional_and_has_no_dates_unless_it_says_so() -> None:
    (link,) = loaded(HEADER + ORDERS, CUSTOMERS, LINK).link_types
    assert (link.optional, link.as_of, link.description) == (False, None, "")


def test_a_link_with_dates_may_leave_out_their_end_and_what_tells_schedules_apart() -> None:
    (link,) = loaded(FULL.replace("valid_to: ends, restates: all, within: [level]", "restates: changes")).link_types
    assert link.as_of == EffectiveDates("paid", "starts", Restates.CHANGES)


def test_a_contract_finds_its_parts_by_name() -> None:
    contract = loaded(FULL)
    assert contract.object_type("rate") is contract.object_types[1]
    assert contract.object_type("Rate") is None
    assert contract.link("pay", "governed_by") is contract.link_types[0]
    assert contract.link("rate", "governed_by") is None
    assert (contract.links_from("pay"), contract.links_from("rate")) == (contract.link_types, ())
    pay = contract.object_types[0]
    assert pay.find_property("paid") is pay.properties[3]
    assert pay.find_property("nothing") is None
    assert contract.reference() == {"id": "payroll", "version": "1.2.0-rc.1", "hash": contract.hash}


def test_an_object_type_needs_each_column_once() -> None:
    pay = loaded(FULL).object_types[0]
    assert pay.columns == (
        "id", "level", "hourly_rate", "rate_raw", "rate_cause", "rate_side", "rate_limit", "paid",
        "_document", "_table", "_page", "_row",
    )  # fmt: skip


def test_several_files_make_one_contract_whatever_refers_to_what() -> None:
    contract = loaded(LINK, CUSTOMERS, HEADER, "calendar: {time_zone: Australia/Sydney}\n", ORDERS)
    assert [item.name for item in contract.object_types] == ["customers", "orders"]
    assert [item.name for item in contract.link_types] == ["placed_by"]
    assert contract.calendar.time_zone == "Australia/Sydney"


@pytest.mark.parametrize(
    "section",
    ["contract: {id: other, version: 1.0.0}", "identity: {subject_name: A}", "calendar: {}", "limits: {}"],
)
def test_a_section_with_one_value_stands_in_one_file(section: str) -> None:
    name = section.partition(":")[0]
    first = f"{section}\n{'' if name == 'contract' else HEADER}{ORDERS}"
    assert lines(first, f"{section}\n", f"# a comment\n{section}\n") == [
        f"contract/1.yaml:1:1: {name}: already stands in contract/0.yaml; keep one",
        f"contract/2.yaml:2:1: {name}: already stands in contract/0.yaml; keep one",
    ]


def test_names_are_distinct_across_files() -> None:
    assert lines(HEADER + ORDERS + CUSTOMERS.removeprefix("object_types:\n"), ORDERS, LINK, LINK) == [
        "contract/1.yaml:2:11: object_types[0].name: 'orders' stands here twice; names must be distinct",
        "contract/1.yaml:3:11: object_types[0].view: 'ontology.orders' stands here twice; names must be distinct",
        "contract/3.yaml:2:11: link_types[0].name: 'placed_by' stands here twice; names must be distinct",
    ]


def test_links_of_two_object_types_may_share_a_name() -> None:
    back = LINK.replace("orders, keys: [customer]", "customers, keys: [id]").replace(
        "to: {object: customers", "to: {object: orders"
    )
    contract = loaded(HEADER + ORDERS, CUSTOMERS, LINK, back)
    assert [link.source for link in contract.link_types] == ["orders", "customers"]


def test_findings_of_several_files_come_file_by_file() -> None:
    wrong = ORDERS.replace("[id]", "[idd]")
    assert lines(LINK, wrong, CUSTOMERS.replace("text}", "txt}"), HEADER + "limit: 3\n") == [
        "contract/2.yaml:5:35: object_types[0].properties[0].type: expected a type (text, integer, double, boolean, "
        "date, timestamp, duration, decimal(precision,scale)); found 'txt'",
        "contract/3.yaml:2:1: limit: unknown key 'limit'; did you mean 'limits'?",
    ]
    assert lines(LINK, wrong, HEADER) == [
        "contract/0.yaml:4:18: link_types[0].to.object: there is no object type 'customers'; known: orders",
        "contract/1.yaml:4:19: object_types[0].primary_key[0]: orders has no property 'idd'; did you mean 'id'?",
    ]


def test_the_hash_does_not_see_comments_layout_quotes_or_the_order_of_keys() -> None:
    rewritten = """\
# Another hand wrote this.
object_types:
- properties:
  - {type: 'text', name: "id"}   # the key
  - type: text
    name: customer
  - {name: amount, type: 'decimal(12,2)'}

  primary_key:
    - id
  view: "ontology.orders"
  name: orders
contract:
  version: 1.0.0
  id: shop
"""
    assert loaded(rewritten).hash == loaded(HEADER + ORDERS).hash


def test_the_hash_does_not_see_the_order_in_which_files_are_read() -> None:
    texts = [HEADER, ORDERS, CUSTOMERS, LINK]
    names = ["a.yaml", "b.yaml", "c.yaml", "d.yaml"]
    read = documents(*texts, names=names)
    first = load_contract(read).contract
    assert first is not None
    for seed in range(5):
        again = load_contract(random.Random(seed).sample(read, k=4)).contract  # noqa: S311
        assert again is not None
        assert again.hash == first.hash


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("id: payroll", "id: payrolls"),
        ("1.2.0-rc.1", "1.2.0"),
        ("status: certified", "status: draft"),
        ("Aruma Services", "Aruma services"),
        ("all rows.", "all rows!"),
        ("fiscal_year_start_month: 7", "fiscal_year_start_month: 6"),
        ("time_zone: Australia/Sydney", "time_zone: Australia/Perth"),
        ("timeout: 2m", "timeout: 3m"),
        ("max_rows: 50", "max_rows: 51"),
        ("view: ontology.pay\n", "view: ontology.pays\n"),
        ("The current pay line.", "The pay line."),
        ("primary_key: [id, paid]", "primary_key: [paid, id]"),
        ("missing: [n/a, ", "missing: ["),
        ("unit: AUD/hour", "unit: USD/hour"),
        ("non_negative: true", "non_negative: false"),
        ("display: {scale: 2}", "display: {scale: 3}"),
        ("synonyms: [number]", "synonyms: [numbers]"),
        ("restates: all, within: [level]", "restates: all"),
        ("valid_to: ends, ", ""),
        ("optional: true", "optional: false"),
        ("many_to_one", "many_to_many"),
        ("{name: steps, type: integer}", "{name: steps, type: double}"),
    ],
)
def test_the_hash_sees_every_change_of_content(old: str, new: str) -> None:
    assert FULL.count(old) >= 1
    assert loaded(FULL.replace(old, new, 1)).hash != loaded(FULL).hash


@given(st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=10))
def test_any_text_can_be_hashed(text: str) -> None:
    description = text.replace("\\", "/").replace('"', "'")
    document = read_yaml(
        f'{HEADER}identity: {{subject_name: "{description}"}}\n{ORDERS}', file="contract.yaml"
    ).document
    assert document is not None
    contract = load_contract([document]).contract
    assert contract is None or len(contract.hash) == 64


def test_the_shape_of_a_file_is_judged_before_its_meaning() -> None:
    text = HEADER + textwrap.dedent(
        """\
        object_types:
          - {name: orders, view: ontology.orders, primary_key: [nothing], properties: [{name: id, type: txt}]}
        """
    )
    assert [line.partition(": expected")[0] for line in lines(text)] == [
        "contract/0.yaml:3:97: object_types[0].properties[0].type"
    ]
