# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Our tags as Google's resource labels."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import InvalidRequest
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import ClusterId, PoolId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.labels import owner_tags
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.gke.resource_labels import (
    from_resource_labels,
    to_resource_labels,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.ownership import is_ours

TAGS = owner_tags(cluster_id=ClusterId("kcl_0aB9"), pool_id=PoolId("ksp_1"))


def test_the_owners_tags_become_labels_that_google_allows_and_come_back() -> None:
    labels = to_resource_labels(TAGS)

    assert all(re.fullmatch(r"[a-z][a-z0-9_-]{0,62}", key) for key in labels)
    assert all(re.fullmatch(r"[a-z0-9_-]{0,63}", value) for value in labels.values())
    assert from_resource_labels(labels) == TAGS


@given(st.text(max_size=5))
def test_any_short_value_comes_back_as_it_was(value: str) -> None:
    assert from_resource_labels(to_resource_labels({"a": value})) == {"a": value}


def test_a_resource_is_ours_only_with_all_the_tags() -> None:
    labels = to_resource_labels(TAGS)

    assert is_ours(tags=from_resource_labels({**labels, "goog-x": "y"}), wanted=TAGS)
    assert not is_ours(tags=from_resource_labels(dict(list(labels.items())[:1])), wanted=TAGS)
    assert not is_ours(tags=TAGS, wanted={})


def test_a_tag_that_does_not_fit_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="does not fit"):
        to_resource_labels({"a": "x" * 64})
