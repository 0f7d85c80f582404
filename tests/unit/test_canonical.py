"""Canonical JSON: the bytes of RFC 8785 inside the profile, and a refusal outside it."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from trivet.canonical import Json, canonical_json, content_hash, normal_text, sha256_hex

LARGEST_EXACT = 2**53 - 1

texts = st.text(st.characters(exclude_categories=["Cs"])).map(lambda text: unicodedata.normalize("NFC", text))
keys = st.text(st.characters(max_codepoint=127))
scalars = st.none() | st.booleans() | st.integers(-LARGEST_EXACT, LARGEST_EXACT) | texts
documents = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(keys, inner, max_size=5),
    max_leaves=20,
)


@given(documents)
def test_inside_the_profile_the_bytes_are_those_of_rfc_8785(document: Json) -> None:
    assert canonical_json(document) == rfc8785.dumps(document)


@given(documents)
def test_reading_canonical_json_back_and_writing_it_again_changes_nothing(document: Json) -> None:
    written = canonical_json(document)
    assert canonical_json(json.loads(written)) == written


@given(st.dictionaries(keys, scalars, max_size=6))
def test_the_order_in_which_keys_were_set_does_not_matter(document: dict[str, Json]) -> None:
    turned = dict(reversed(document.items()))
    assert canonical_json(turned) == canonical_json(document)


@pytest.mark.parametrize(
    ("document", "place"),
    [
        pytest.param(1.0, r"\$: float", id="a float"),
        pytest.param({"a": [0, float("nan")]}, r"\$\.a\[1\]: float", id="NaN"),
        pytest.param(2**53, r"\$: integer beyond", id="an integer too large"),
        pytest.param(-(2**53), r"\$: integer beyond", id="an integer too small"),
        pytest.param({"é": 1}, r"\$: keys must be ASCII", id="a key that is not ASCII"),
        pytest.param({1: 1}, r"\$: keys must be ASCII", id="a key that is not text"),
        pytest.param(["cafe\u0301"], r"\$\[0\]: text must be NFC", id="text that is not NFC"),
        pytest.param("\ud800", r"\$: text must be NFC", id="a lone surrogate"),
        pytest.param({"a": b"x"}, r"\$\.a: bytes", id="bytes"),
    ],
)
def test_what_lies_outside_the_profile_is_refused_with_its_place(document: Json, place: str) -> None:
    with pytest.raises(ValueError, match=place):
        canonical_json(document)


@given(st.text())
def test_normal_text_always_fits_the_profile(text: str) -> None:
    assert canonical_json(normal_text(text))


@given(texts)
def test_normal_text_leaves_fitting_text_alone(text: str) -> None:
    assert normal_text(text) == text


@pytest.mark.parametrize("same", [lambda d: dict(reversed(d.items())), lambda d: {**d, "b": [1, (2,)]}])
def test_equal_documents_have_one_content_hash(same: Callable[[dict[str, Json]], dict[str, Json]]) -> None:
    document: dict[str, Json] = {"a": None, "b": (1, [2])}
    expected = sha256_hex(b'{"a":null,"b":[1,[2]]}')
    assert content_hash(document) == content_hash(same(document)) == expected
