"""Means, medians and deviations of recorded values against plain fractions."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.expressions.baselines import Statistic
from evals.oracle.baselines import comes_to
from monitors.baselines import statistic_of

_DECIMALS = st.decimals(allow_nan=False, allow_infinity=False, places=4, min_value=-(10**20), max_value=10**20)
_DOUBLES = st.floats(allow_nan=False, allow_infinity=False).map(lambda value: Decimal(repr(value)))
_SMALL = st.integers(-3, 3).map(Decimal)


@given(
    values=st.lists(st.one_of(_SMALL, _DECIMALS, _DOUBLES), min_size=2, max_size=9),
    statistic=st.sampled_from(Statistic),
    exact=st.booleans(),
)
def test_a_statistic_is_what_fractions_come_to(values: list[Decimal], statistic: Statistic, exact: bool) -> None:
    found = statistic_of(statistic, values, exact=exact)
    assert (None if found is None else Fraction(found)) == comes_to(statistic.value, values, exact=exact)


@pytest.mark.parametrize("statistic", [Statistic.MEAN, Statistic.MEDIAN])
def test_of_one_value_a_mean_and_a_median_are_that_value(statistic: Statistic) -> None:
    assert statistic_of(statistic, [Decimal("7.25")], exact=True) == Decimal("7.25")


@pytest.mark.parametrize(
    ("statistic", "values", "text"),
    [
        (Statistic.MEAN, ["1", "2", "2"], "1.66666666667"),
        (Statistic.MEAN, ["1000000000005", "1000000000000"], "1000000000000"),
        (Statistic.MEAN, ["1000000000015", "1000000000016"], "1000000000020"),
        (Statistic.MEDIAN, ["1.01", "1.02"], "1.015"),
        (Statistic.MEDIAN, ["-0.0", "0"], "0"),
        (Statistic.DEVIATION, ["1", "2", "4", "7.25"], "2.75662081784"),
        (Statistic.DEVIATION, ["5", "5", "5"], "0"),
    ],
)
def test_a_statistic_is_written_exactly_and_rounded_once(statistic: Statistic, values: list[str], text: str) -> None:
    found = statistic_of(statistic, [Decimal(value) for value in values], exact=True)
    assert found is not None
    assert f"{found:f}" == text


def test_the_order_of_the_values_does_not_show() -> None:
    values = [Decimal(text) for text in ("1e16", "1", "-1e16", "1e-8")]
    forth = [statistic_of(statistic, values, exact=False) for statistic in Statistic]
    assert forth == [statistic_of(statistic, values[::-1], exact=False) for statistic in Statistic]
