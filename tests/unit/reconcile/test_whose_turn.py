# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which flavor is brought to the control plane's version next."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model import ids
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import ObservedNodePool
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import (
    NodePoolState,
    ProviderStatus,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.versions import is_older
from ansible_collections.better_compute.fleet.plugins.module_utils._core.reconcile.steps.upgrade import whose_turn
from ansible_collections.better_compute.fleet.tests.support import rows
from ansible_collections.better_compute.fleet.tests.support.rows import START

from .test_node_pool_rules import seen


def turn(groups: dict[str, ObservedNodePool], *, version: str = "1.34", closed: str = "", **fields: Any) -> str | None:
    """The name of the flavor whose turn it is, of those that stand so at the provider."""
    cluster_id = ids.new_cluster_id(START)
    records = [rows.node_pool(cluster_id, **{"name": name, "state": NodePoolState.READY, **fields}) for name in groups]
    found = whose_turn(records, groups, version=version, closed=frozenset(closed.split()))
    return found.name if found else None


def group(version: str, status: ProviderStatus = ProviderStatus.ACTIVE) -> ObservedNodePool:
    """A node group of a version."""
    return seen(status, version=version)


def test_the_first_by_name_that_is_older() -> None:
    assert turn({"b": group("1.33"), "a": group("1.33"), "c": group("1.32")}) == "a"
    assert turn({"b": group("1.33"), "a": group("1.34")}) == "b"


def test_nobodys_while_all_have_it_or_nobody_says() -> None:
    assert turn({"a": group("1.34"), "b": group("")}) is None
    assert turn({"a": group("1.33")}, version="") is None


def test_one_that_is_being_replaced_keeps_its_turn_to_the_end() -> None:
    replacing = group("1.33", ProviderStatus.UPDATING)
    assert turn({"a": group("1.33"), "b": replacing}, closed="b") == "b"
    shown_early = group("1.34", ProviderStatus.UPDATING)
    assert turn({"a": group("1.33"), "b": shown_early}, closed="b") == "b"
    assert turn({"a": group("1.33"), "b": shown_early}, closed="b", version="") == "b", "also when flavors stay behind"


def test_one_that_its_provider_would_refuse_is_not_drained_for_nothing() -> None:
    assert turn({"a": group("1.33", ProviderStatus.DEGRADED), "b": group("1.33")}) == "b"
    assert turn({"a": group("1.33", ProviderStatus.FAILED)}) is None


def test_neither_a_callers_own_node_pool_nor_one_that_goes() -> None:
    assert turn({"a": group("1.33")}, of_flavor=False) is None
    assert turn({"a": group("1.33")}, state=NodePoolState.DELETING) is None


@pytest.mark.parametrize(
    ("held", "wanted", "older"),
    [
        ("1.33", "1.34", True),
        ("1.9", "1.10", True),
        ("1.34.9-gke.100", "1.34", False),
        ("v1.33.1", "1.34.9-gke.1", True),
        ("1.34", "1.33", False),
        ("", "1.34", False),
        ("1.33", "", False),
        ("latest", "1.34", False),
    ],
)
def test_versions_are_compared_by_their_minor(held: str, wanted: str, older: bool) -> None:
    assert is_older(held, wanted) is older
