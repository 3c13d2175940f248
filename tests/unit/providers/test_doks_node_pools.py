# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What state a DOKS node pool is in: it has none of its own."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    ProviderQuotaExceeded,
    StockedOut,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import ProviderStatus
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.doks.node_pools import observe
from ansible_collections.better_compute.fleet.tests.support.doks_descriptions import cluster, node, pool

HERE = 'node pool "h100": insufficient capacity for size gpu-h100x8-640gb in region nyc2'


@pytest.mark.parametrize(
    ("states", "count", "status"),
    [
        (["running", "running"], 2, ProviderStatus.ACTIVE),
        ([], 0, ProviderStatus.ACTIVE),
        ([], 2, ProviderStatus.CREATING),
        (["provisioning", "provisioning"], 2, ProviderStatus.CREATING),
        (["running"], 2, ProviderStatus.UPDATING),
        (["running", "provisioning"], 2, ProviderStatus.UPDATING),
        (["running", "running", "draining"], 2, ProviderStatus.UPDATING),
        (["running", "a state of next year"], 2, ProviderStatus.UPDATING),
        (["draining", "deleting"], 2, ProviderStatus.DELETING),
    ],
)
def test_ready_is_as_many_nodes_as_wanted_and_all_of_them_running(
    states: list[str], count: int, status: ProviderStatus
) -> None:
    found = observe(pool(count=count, nodes=[node(state) for state in states]), cluster())
    assert found.status is status


def test_one_that_the_autoscaler_empties_is_not_being_deleted() -> None:
    emptied = pool(count=0, auto_scale=True, min_nodes=0, max_nodes=2, nodes=[node("draining")])
    assert observe(emptied, cluster()).status is not ProviderStatus.DELETING


@pytest.mark.parametrize(
    ("state", "status"),
    [
        ("provisioning", ProviderStatus.CREATING),
        ("upgrading", ProviderStatus.UPDATING),
        ("deleting", ProviderStatus.DELETING),
        ("degraded", ProviderStatus.ACTIVE),
    ],
)
def test_a_cluster_that_is_busy_makes_its_node_pools_busy(state: str, status: ProviderStatus) -> None:
    assert observe(pool(), cluster(state=state)).status is status


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        (HERE, StockedOut),
        ("insufficient capacity", StockedOut),
        (f'node pool "other": insufficient capacity; {HERE}', StockedOut),
        ("3 additional nodes but not enough available droplet limit", ProviderQuotaExceeded),
        ("", None),
        ("the etcd of the control plane is slow", None),
        ('node pool "other": insufficient capacity', None),
    ],
)
def test_why_nodes_are_missing_is_what_the_clusters_message_says_of_this_node_pool(
    message: str, kind: type[Exception] | None
) -> None:
    short: Any = pool(nodes=[node()])
    found = observe(short, cluster(short, pool(name="other"), state="degraded", message=message))
    assert type(found.failure) is (kind or type(None))


def test_a_node_pool_with_all_its_nodes_has_no_failure() -> None:
    assert observe(pool(), cluster(pool(), state="degraded", message="insufficient capacity")).failure is None
