# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A daemon's metrics after something of each kind has happened."""

from __future__ import annotations

from datetime import timedelta

from ansible_collections.better_compute.fleet.daemon.metrics import Metrics
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.census import Census, PoolCount
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import PLATFORM_TENANT, PoolId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.pass_end import PassEnd, PassOutcome
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import Lease
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import (
    ClusterState,
    NodePoolState,
    SubstrateState,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.telemetry import (
    CurrentPass,
    current_pass_of,
)

from .rows import START

POOL = PoolId("pool_01k9zzzzzzzzzzzzzzzzzzzzzz")
CLUSTER = "kcl_01k9zzzzzzzzzzzzzzzzzzzzzz"


def census() -> Census:
    """One pool that is ready, with a pass that is due."""
    return Census(
        now=START,
        pools=(
            PoolCount(
                pool_id=POOL,
                tenant_id=PLATFORM_TENANT,
                name='a "pool"',
                state=SubstrateState.READY,
                nodes_listed=5,
                nodes_joined=4,
                nodes_waiting=1,
                nodes_connected=3,
            ),
        ),
        clusters={ClusterState.READY: 2},
        node_pools={NodePoolState.ERROR: 1},
        units=3,
        due=2,
        oldest_due=START - timedelta(seconds=90),
        leased=1,
    )


def the_pass(unit: str = POOL) -> CurrentPass:
    """A pass over the pool, or over what else is named."""
    return current_pass_of(Lease(unit=unit, holder="test", fence=7, until=START))


def everything_told() -> Metrics:
    """Metrics of which each has a sample."""
    made = Metrics(count=census, workers=4)
    made.passes.pass_began(the_pass())
    made.passes.pass_ended(the_pass(), PassEnd(outcome=PassOutcome.SETTLED), seconds=0.1)
    made.passes.provider_called(provider="aws", call="describe_cluster", error="Throttled", seconds=0.2)
    made.passes.cluster_called(method="GET", error="ClusterUnreachable", seconds=0.1)
    made.gateway.answered("heartbeat", 200, seconds=0.002)
    made.gateway.joined(POOL)
    made.gateway.join_refused("expired_token")
    return made
