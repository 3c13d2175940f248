# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which clusters wait for their first node pool."""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.capabilities import CAPABILITIES
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.first_nodes import awaits_nodes
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import (
    ClusterMode,
    ClusterState,
    NodePoolState,
)
from ansible_collections.better_compute.fleet.tests.support import rows

GKE, EKS = CAPABILITIES["gcp"], CAPABILITIES["aws"]
CLUSTER = rows.cluster(None)
NODE_POOL = rows.node_pool(CLUSTER.id)


def test_a_new_standard_cluster_without_node_pools_waits_where_the_provider_needs_nodes() -> None:
    assert awaits_nodes(CLUSTER, (), GKE)
    assert not awaits_nodes(CLUSTER, (), EKS)
    assert not awaits_nodes(replace(CLUSTER, mode=ClusterMode.AUTOPILOT), (), GKE)


def test_one_that_stands_already_waits_for_none() -> None:
    assert not awaits_nodes(replace(CLUSTER, adopted=True), (), GKE)


def test_a_node_pool_that_stays_ends_the_wait_and_one_that_goes_does_not() -> None:
    assert not awaits_nodes(CLUSTER, (NODE_POOL,), GKE)
    assert awaits_nodes(CLUSTER, (replace(NODE_POOL, state=NodePoolState.DELETING),), GKE)


def test_what_was_once_asked_for_waits_no_more() -> None:
    others = set(ClusterState) - {ClusterState.PENDING}
    assert not any(awaits_nodes(replace(CLUSTER, state=state), (), GKE) for state in others)
