"""Why keys that look alike never meet."""

from __future__ import annotations

import pytest

from worker.key_meeting import NearMiss, near_miss


@pytest.mark.parametrize(
    ("near", "far", "expected"),
    [
        (["a"], ["A"], NearMiss("upper and lower case", 1, "a", "A")),
        (["A "], ["A"], NearMiss("blanks at their ends", 1, "A ", "A")),
        (["\u00a0A"], ["A"], NearMiss("blanks at their ends", 1, "\u00a0A", "A")),
        ([" a"], ["A"], NearMiss("case, and blanks at their ends", 1, " a", "A")),
        (["7"], ["007"], NearMiss("zeros in front", 1, "7", "007")),
        (["L07"], ["L7"], NearMiss("zeros in front", 1, "L07", "L7")),
        (["DDSO-1"], ["ddso 01"], NearMiss("case, blanks, punctuation and zeros in front", 1, "DDSO-1", "ddso 01")),
        (["2025/07"], ["2025-07"], NearMiss("case, blanks, punctuation and zeros in front", 1, "2025/07", "2025-07")),
        (["No. 7"], ["no 07."], NearMiss("case, blanks, punctuation and zeros in front", 1, "No. 7", "no 07.")),
        (["Straße"], ["STRASSE"], NearMiss("upper and lower case", 1, "Straße", "STRASSE")),
        (["a", "b", "c"], ["A", "B", "c"], NearMiss("upper and lower case", 2, "a", "A")),
        # The narrowest way counts, and what meets already counts nowhere.
        (["A", "B "], ["A", "a", "B"], NearMiss("blanks at their ends", 1, "B ", "B")),
    ],
)
def test_the_narrowest_difference_is_told_with_a_pair(near: list[str], far: list[str], expected: NearMiss) -> None:
    assert near_miss(near, far) == expected


@pytest.mark.parametrize(
    ("near", "far"),
    [
        ([], ["A"]),
        (["A"], []),
        (["A"], ["A", "a"]),
        (["A"], ["B"]),
        (["10"], ["100"]),
        (["1.0"], ["10"]),
        (["1-2"], ["12"]),
        # Texts of punctuation alone say nothing once it is left out.
        (["--"], ["??"]),
    ],
)
def test_texts_that_differ_in_more_are_not_told(near: list[str], far: list[str]) -> None:
    assert near_miss(near, far) is None
