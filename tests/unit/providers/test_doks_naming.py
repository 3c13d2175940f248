# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which of several resources of a name is ours."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    AlreadyExists,
    PermissionDenied,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.doks.naming import find_ours
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.doks.tags import to_tags
from ansible_collections.better_compute.fleet.tests.support.emulated_subject import TAGS


def cluster(id: str, *, made: str = "2026-11-01T00:00:00Z", state: str = "running", **more: Any) -> dict[str, Any]:  # noqa: A002 -- the API's name
    own = {"name": "bc-x", "tags": ["k8s", *to_tags(TAGS)], "created_at": made, "status": {"state": state}}
    return {"id": id, **own, **more}


def ids(*items: dict[str, Any]) -> tuple[str, list[str]]:
    found = find_ours(items, name="bc-x", marks=TAGS, kind="cluster")
    assert found is not None
    return found.first["id"], sorted(item["id"] for item in found.spare)


def test_nothing_of_the_name_is_none() -> None:
    assert find_ours([cluster("a", name="bc-y")], name="bc-x", marks=TAGS, kind="cluster") is None


def test_of_several_the_oldest_is_ours_and_of_those_the_one_with_the_lowest_id() -> None:
    old, same, young = cluster("b"), cluster("c"), cluster("a", made="2026-11-01T00:00:01Z")
    assert ids(young, same, old) == ids(old, young, same) == ("b", ["a", "c"])


def test_one_that_is_being_deleted_is_the_last_choice_and_not_spare() -> None:
    assert ids(cluster("a", state="deleting"), cluster("b", made="2026-11-02T00:00:00Z")) == ("b", [])
    assert ids(cluster("a", state="deleting")) == ("a", [])


def test_a_strangers_is_neither_ours_nor_spare() -> None:
    marks = [*to_tags(TAGS)]
    for tags in (["k8s"], ["k8s", marks[0]], ["k8s", marks[0], f"{marks[1]}x"]):
        stranger = cluster("a", tags=tags)
        assert ids(stranger, cluster("b")) == ("b", [])
        with pytest.raises(AlreadyExists):
            ids(stranger)


@pytest.mark.parametrize("tags", [None, []])
def test_without_tags_whose_it_is_cannot_be_told(tags: Any) -> None:
    with pytest.raises(PermissionDenied, match="tag:read"):
        ids(cluster("a", tags=tags))


def test_a_node_pool_is_as_old_as_its_oldest_node() -> None:
    def pool(id: str, *made: str) -> dict[str, Any]:  # noqa: A002 -- the API's name
        nodes = [{"created_at": moment, "status": {"state": "running"}} for moment in made]
        return {"id": id, "name": "bc-x", "tags": ["k8s", *to_tags(TAGS)], "count": len(nodes), "nodes": nodes}

    assert ids(pool("a", "2026-11-03"), pool("b", "2026-11-04", "2026-11-02"), pool("c")) == ("b", ["a", "c"])
