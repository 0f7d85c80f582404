"""Hypothesis strategies over the cell pools of `evals/proving/pools.py`."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from catalog.datatypes import DataType
from evals.proving import pools


def physical_types(data_type: DataType) -> st.SearchStrategy[str]:
    """The type of the column that holds a property: mostly text, as raw tables have it."""
    return st.sampled_from(
        ["VARCHAR"] * 3 * len(pools.OTHER_PHYSICAL[data_type.kind]) + [*pools.OTHER_PHYSICAL[data_type.kind]]
    )


def cells(data_type: DataType, physical: str) -> st.SearchStrategy[object]:
    """Cells of a column that holds values of a declared type, a quarter of them odd."""
    if physical != "VARCHAR":
        return st.sampled_from(pools.TYPED[physical])
    return _mostly(pools.ORDINARY[data_type.kind], (*pools.BLANKS, *pools.ODD[data_type.kind]), share=3)


def keys(data_type: DataType, physical: str) -> st.SearchStrategy[object]:
    """Cells of a link key: two ordinary values, so that rows meet often."""
    if physical != "VARCHAR":
        return st.sampled_from(pools.TYPED[physical][:3])
    return _mostly(pools.KEYS[data_type.kind], (*pools.BLANKS, *pools.ODD_KEYS[data_type.kind]), share=5)


def sides() -> st.SearchStrategy[object]:
    """Cells of a side column: mostly blank, since most values are not censored."""
    return _mostly(pools.SIDES, pools.ODD_SIDES, share=3)


def limits(data_type: DataType) -> st.SearchStrategy[object]:
    """Cells of a limit column."""
    return st.sampled_from(pools.LIMITS[data_type.kind])


def causes() -> st.SearchStrategy[object]:
    """Cells of a cause column: mostly blank, a few from the closed list, one that is not."""
    return _mostly(pools.CAUSES, pools.ODD_CAUSES, share=5)


def identifiers() -> st.SearchStrategy[object]:
    """Cells of a member's own key, which should be unique and is not."""
    return st.sampled_from(pools.IDENTIFIERS)


def can_be_censored(data_type: DataType) -> bool:
    """Whether there are limits to draw for the type."""
    return data_type.kind in pools.LIMITS


def starts(data_type: DataType) -> st.SearchStrategy[object]:
    """Text cells of a date from which a row counts, or on which a member is judged."""
    return _mostly(pools.ORDINARY[data_type.kind], pools.ODD_STARTS, share=4)


def ends(data_type: DataType) -> st.SearchStrategy[object]:
    """Text cells of an end date: mostly open."""
    return _mostly((*pools.OPEN_ENDS, *pools.ORDINARY[data_type.kind]), pools.ODD_ENDS, share=3)


def _mostly(ordinary: Sequence[object], odd: Sequence[object], share: int) -> st.SearchStrategy[object]:
    """An ordinary cell, about `share` times as often as an odd one."""
    times = -(-share * len(odd) // len(ordinary))
    return st.sampled_from([*ordinary] * times + [*odd])
