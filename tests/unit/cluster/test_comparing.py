# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Comparing what is wanted with what stands: what the API or others added does not count, the rest does."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.objects import stands_in

VALUES = st.recursive(
    st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)


@given(VALUES)
def test_whatever_was_written_stands(value: Any) -> None:
    assert stands_in(value, value)


@given(st.dictionaries(st.text(max_size=3), VALUES, max_size=3), VALUES)
def test_what_others_added_to_a_map_does_not_count(wanted: dict[str, Any], added: Any) -> None:
    assert stands_in(wanted, wanted | {"added": added})


@pytest.mark.parametrize(
    ("wanted", "live"),
    [
        ({"a": 1}, {}),
        ({"a": 1}, {"a": 2}),
        ({"a": {"b": 1}}, {"a": {}}),
        ({"a": {"b": 1}}, {"a": None}),
        ([1], [1, 2]),
        ([1, 2], [2, 1]),
        ([{"a": 1}], [{"a": 2, "b": 3}]),
        ({"gone": None}, {"gone": 1}),
        ({"nodeSelector": {"a": "1"}}, {"nodeSelector": {"a": "1", "theirs": "2"}}),
        ([{"matchLabels": {"a": "1"}}], [{"matchLabels": {"a": "1", "theirs": "2"}}]),
    ],
)
def test_a_difference_is_seen(wanted: Any, live: Any) -> None:
    assert not stands_in(wanted, live)


def test_what_must_not_be_there_is_not_there() -> None:
    assert stands_in({"gone": None}, {"other": 1})
