"""Reading YAML: text stays text, every place is known, and nothing makes the reader fail."""

from __future__ import annotations

import copy
import pickle
import time
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from trivet import documents
from trivet.documents import EMPTY, LARGEST_FILE, MOST_FINDINGS, Document, Path, Scalar, read_yaml
from trivet.findings import Position

SURPRISES = """\
norway: no
switch: on
octal: 012
sexagesimal: 12:30
exponent: 1e3
underscores: 1_000
date: 2024-02-30
nothing: null
tilde: ~
hex: 0x10
infinite: .inf
merge: "<<"
equals: =
"""


@pytest.fixture(params=["CSafeLoader", "SafeLoader"], autouse=True)
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything holds with libyaml and without it."""
    monkeypatch.setattr(documents, "_LOADER", getattr(yaml, request.param))


def read(text: str | bytes) -> Document:
    result = read_yaml(text, file="rules.yaml")
    assert result.findings == ()
    assert result.document is not None
    return result.document


def refusals(text: str | bytes) -> list[str]:
    result = read_yaml(text, file="f")
    assert result.document is None
    assert result.findings
    return [str(finding) for finding in result.findings]


def test_no_text_is_taken_for_another_type() -> None:
    root = read(SURPRISES).root
    written = dict(line.split(": ", 1) for line in SURPRISES.splitlines())
    assert root == written | {"merge": "<<"}
    assert all(type(value) is Scalar for value in root.values())


def test_a_scalar_knows_whether_it_was_quoted() -> None:
    root: Any = read("a: 5\nb: \"5\"\nc: '5'\nd: |\n  5\ne: >\n  5\n").root
    assert {key: value.quoted for key, value in root.items()} == {
        "a": False,
        "b": True,
        "c": True,
        "d": True,
        "e": True,
    }


def test_a_copied_scalar_still_knows_it() -> None:
    scalar = Scalar("5", quoted=True)
    for copied in (copy.deepcopy(scalar), pickle.loads(pickle.dumps(scalar))):  # noqa: S301
        assert copied == "5"
        assert copied.quoted is True


def test_nothing_after_a_key_is_neither_none_nor_an_empty_text() -> None:
    root = read("a:\nb: ''\nc: [x, ]\nd: {}\n").root
    assert root == {"a": EMPTY, "b": "", "c": ["x"], "d": {}}


def test_json_is_read_too() -> None:
    assert read('{"a": {"b": [1, "2", true, null]}}').root == {"a": {"b": ["1", "2", "true", "null"]}}


def test_a_byte_order_mark_is_accepted_and_moves_no_column() -> None:
    document = read(b"\xef\xbb\xbfa: 1\n")
    assert document.position(("a",), key=True) == Position(1, 1)
    assert read("\ufeffa: 1\n").root == document.root


PLACES = """\
# comment
rules:
  - id: a
    when: x < 5   # comment
    tags: [p, {q: "r"}]
\t
  - id: 'b'
"""


@pytest.mark.parametrize(
    ("path", "value", "key"),
    [
        ((), (2, 1), (2, 1)),
        (("rules",), (3, 3), (2, 1)),
        (("rules", 0), (3, 5), (3, 5)),
        (("rules", 0, "id"), (3, 9), (3, 5)),
        (("rules", 0, "when"), (4, 11), (4, 5)),
        (("rules", 0, "tags"), (5, 11), (5, 5)),
        (("rules", 0, "tags", 0), (5, 12), (5, 12)),
        (("rules", 0, "tags", 1, "q"), (5, 19), (5, 16)),
        (("rules", 1, "id"), (7, 9), (7, 5)),
    ],
)
def test_every_key_and_value_has_its_place(path: Path, value: tuple[int, int], key: tuple[int, int]) -> None:
    document = read(PLACES.replace("\t", ""))
    assert document.has(path)
    assert document.position(path) == Position(*value)
    assert document.position(path, key=True) == Position(*key)


def test_what_is_absent_stands_where_its_parent_does() -> None:
    document = read("rules:\n  - id: a\n")
    path: Path = ("rules", 0, "object", "name")
    assert not document.has(path)
    assert document.position(path) == document.position(path, key=True) == Position(2, 5)


def test_line_ends_of_windows_and_of_old_macs_count_as_one_line() -> None:
    for end in ("\r\n", "\r", "\n"):
        document = read(end.join(["a: 1", "b: |", "  one", "  two", "c: 3", ""]))
        assert document.position(("c",)) == Position(5, 4)
        assert document.root["b"] == "one\ntwo\n"
        assert document.position_in(("b",), 5) == Position(4, 4)


@pytest.mark.parametrize(
    ("text", "offset", "place"),
    [
        ("w: x < floor", 4, (1, 8)),
        ("w:\n  x < floor", 4, (2, 7)),
        ("w: 'x < floor'", 4, (1, 9)),
        ("w: 'it''s < x'", 5, (1, 11)),
        ('w: "x < floor"', 4, (1, 9)),
        (r'w: "\"\u00e9\x41\U0001F600\\z"', 5, (1, 29)),
        ("w: é😀 < floor", 5, (1, 9)),
        ("w: |\n  x\n    < floor\n", 4, (3, 5)),
        ("w: |\n  x\n    < floor\n", 2, (3, 3)),
        ("w: |\n\n  x\n\n  y\n", 1, (3, 3)),
        ("w: |\n\n  x\n\n  y\n", 4, (5, 3)),
        ("w: |+2  # comment\n    x\n", 0, (2, 3)),
        ("w: |\n  x\n", 2, (2, 4)),
        ("- w", 0, None),
        ("w: >\n  x\n  < floor\n", 4, (1, 4)),
        ("w: x\n  < floor\n", 4, (1, 4)),
        ('w: "x\n  < floor"\n', 4, (1, 4)),
        ("w: [x]", 4, (1, 4)),
        ("w:", 0, (1, 3)),
        ("v: 1", 0, (1, 1)),
    ],
)
def test_a_place_inside_a_scalar_is_exact_where_it_can_be(
    text: str, offset: int, place: tuple[int, int] | None
) -> None:
    if place is None:
        assert refusals(text)
    else:
        assert read(text).position_in(("w",), offset) == Position(*place)


def test_a_finding_names_file_place_and_key() -> None:
    document = read("rules:\n  - when: x <\n")
    path: Path = ("rules", 0, "when")
    assert str(document.finding(path, "no")) == "rules.yaml:2:11: rules[0].when: no"
    assert str(document.finding(path, "no", key=True)) == "rules.yaml:2:5: rules[0].when: no"
    assert str(document.finding(path, "no", offset=2)) == "rules.yaml:2:13: rules[0].when: no"


def test_all_refused_features_of_a_file_are_found_at_once() -> None:
    assert refusals("a: &x 1\nb: *x\nc: !t 1\nb: 2\n<<: {}\n---\n- second\n") == [
        "f:1:4: a: anchors are not accepted; remove '&x'",
        "f:2:4: b: aliases are not accepted; write out what '*x' stands for",
        "f:3:4: c: tags are not accepted; remove '!t', or quote the text",
        "f:4:1: b: duplicate key 'b'; the first is on line 2",
        "f:5:1: merge keys ('<<') are not accepted; write the keys out",
        "f:6:1: a second document ('---') begins here; move it to a file of its own",
    ]


def test_a_fault_of_grammar_does_not_hide_those_before_it() -> None:
    assert refusals("a: 1\na: 2\nb: [\n") == [
        "f:2:1: a: duplicate key 'a'; the first is on line 1",
        "f:4:1: expected a value, or the closing ']' or '}'",
    ]


def test_findings_end_after_a_hundred() -> None:
    exactly, more = (refusals("a: 1\n" * (MOST_FINDINGS + count)) for count in (1, 2))
    assert len(exactly) == MOST_FINDINGS
    assert more == [*exactly, "f: only the first 100 faults are shown"]


def test_a_fault_of_grammar_after_a_hundred_findings_is_only_counted() -> None:
    lines = refusals("a: 1\n" * (MOST_FINDINGS + 1) + "b: [")
    assert len(lines) == MOST_FINDINGS + 1
    assert lines[-1] == "f: only the first 100 faults are shown"


def test_a_file_of_the_largest_size_is_read_and_a_larger_one_is_not() -> None:
    largest = "a: " + "x" * (LARGEST_FILE - 3)
    assert len(read(largest.encode()).root["a"]) == LARGEST_FILE - 3  # type: ignore[arg-type]
    assert refusals(largest + "x") == ["f: the file has 262145 bytes, more than 262144; split it into several"]


def test_size_is_counted_in_bytes() -> None:
    assert "bytes, more than" in refusals("a: " + "é" * (LARGEST_FILE // 2))[0]


def test_twenty_levels_are_read_and_twenty_one_are_not() -> None:
    assert read("a: " + "[" * 19 + "]" * 19).has(("a", *[0] * 18))
    assert "nested more than 20 deep" in refusals("a: " + "[" * 20 + "]" * 20)[0]


@pytest.mark.parametrize(
    "text",
    [
        "[" * 200_000,
        "{" * 200_000,
        "a: " + "[" * 200_000,
        "? " * 100_000,
        "- " * 100_000,
        "a: &a [x]\n" + "".join(f"b{n}: &b{n} [*a, *a, *a, *a, *a, *a, *a, *a, *a]\n" for n in range(3_000)),
        "--- a\n" * 30_000,
        "x" * 250_000 + ": 1",
        "? " + "x" * 250_000 + "\n: [",
        '"' + "\\x41" * 60_000,
        "&" * 200_000,
        "!" * 200_000,
        "a: !<" + "x" * 200_000,
        "%TAG ! " + "x" * 200_000,
    ],
)
def test_hostile_files_are_refused_quickly_and_in_few_words(text: str) -> None:
    begun = time.perf_counter()
    lines = refusals(text)
    assert time.perf_counter() - begun < 10
    assert len(lines) <= MOST_FINDINGS + 1
    assert all(len(line) < 400 for line in lines)


def test_control_characters_of_keys_do_not_reach_messages() -> None:
    lines = refusals('"\\e[31mred": 1\na: 1\na: 2\n')
    assert all(line.isprintable() for line in lines)


scalars = st.text(st.characters(codec="utf-8"), max_size=30)
keys = scalars.filter(lambda key: key != "" and key.isprintable() and len(key) < 60)
trees = st.dictionaries(
    keys,
    st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
        max_leaves=8,
    ),
    min_size=1,
    max_size=4,
)


@given(trees, st.booleans(), st.sampled_from([None, "'", '"', "|", ">"]), st.booleans())
@example({"a": "\u2028x\x85\ufeff"}, False, "|", True)
def test_what_a_yaml_writer_dumps_reads_back_as_the_same_text(
    tree: dict[str, Any], flow: bool, style: str | None, unicode: bool
) -> None:
    text = yaml.safe_dump(tree, default_flow_style=flow, default_style=style, allow_unicode=unicode)
    result = read_yaml(text, file="f")
    if result.document is None:
        # The writer leaves some characters bare (U+2028, U+0085) that a file may not hold bare.
        assert all("is not accepted; remove it" in finding.message for finding in result.findings)
    else:
        assert result.document.root == tree


@given(trees)
def test_an_ascii_dump_is_always_read(tree: dict[str, Any]) -> None:
    document = read(yaml.safe_dump(tree, default_style='"'))
    assert document.root == tree


@given(st.text("abc:-?[]{}&*!|>'\"%@`#,\n\t \\x0é\ufeff\u2028\ud800<~=", max_size=60) | st.text(max_size=60))
def test_no_text_makes_the_reader_fail(text: str) -> None:
    result = read_yaml(text, file="f")
    assert (result.document is None) == bool(result.findings)
    for finding in result.findings:
        assert str(finding).isprintable()


@given(st.binary(max_size=60))
def test_no_bytes_make_the_reader_fail(data: bytes) -> None:
    result = read_yaml(data, file="f")
    assert (result.document is None) == bool(result.findings)


def _paths(value: Any, path: Path = ()) -> list[Path]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(inner for part, child in items for inner in _paths(child, (*path, part)))]


@given(trees, st.booleans(), st.sampled_from([None, "'", '"', "|"]))
def test_every_place_lies_inside_the_file(tree: dict[str, Any], flow: bool, style: str | None) -> None:
    text = yaml.safe_dump(tree, default_flow_style=flow, default_style=style)
    result = read_yaml(text, file="f")
    document = result.document
    if document is None:
        return
    for path in _paths(document.root):
        for place in (
            document.position(path),
            document.position(path, key=True),
            document.position_in(path, 3),
        ):
            assert 1 <= place.line <= len(document.lines)
            assert 1 <= place.column <= max(len(line) for line in document.lines) + 12


@given(st.text("ab'\"\\é😀\x07 ", min_size=1, max_size=12), st.sampled_from(["'", '"']), st.data())
def test_an_offset_in_a_quoted_text_points_at_its_character(text: str, style: str, data: st.DataObject) -> None:
    document = read("w: " + yaml.safe_dump(text, default_style=style, width=10**6, allow_unicode=True).strip())
    assert document.root == {"w": text}
    offset = data.draw(st.integers(0, len(text) - 1))
    place = document.position_in(("w",), offset)
    rest = document.lines[0][place.column - 1 :]
    opening = document.lines[0][3]
    assert read("w: " + opening + rest).root == {"w": text[offset:]}
