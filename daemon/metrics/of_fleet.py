# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the records say of the fleet, read anew for each scrape.

Of several daemons on one database each tells the same: take `max`, not `sum`, over them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.census import Census
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import StoreUnavailable
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import (
    ClusterState,
    NodePoolState,
    SubstrateState,
)

_LOG = logging.getLogger(__name__)


class FleetCollector(Collector):
    """Counts the fleet when it is asked."""

    def __init__(self, count: Callable[[], Census]) -> None:
        """Nothing is counted yet.

        Arguments:
            count: counts; raises StoreUnavailable when the records cannot be read.
        """
        self._count = count

    def describe(self) -> list[Metric]:
        """Nothing: what is described here need not be counted to be registered."""
        return []

    def collect(self) -> Iterator[Metric]:
        """All families; without the database only that it is away: a gap in a graph, and not a fleet of none."""
        try:
            census = self._count()
        except StoreUnavailable as error:
            _LOG.warning("the fleet is not counted for a scrape: %s", error)
            census = None
        up = "Whether the records could be read for this scrape: 0 leaves out everything that is read from them"
        yield GaugeMetricFamily("bc_fleetd_store_up", up, value=0 if census is None else 1)
        if census is not None:
            yield from _of_pools(census)
            yield from _of_states(census)
            yield from _of_work(census)


def _of_pools(census: Census) -> Iterator[Metric]:
    info = GaugeMetricFamily(
        "bc_fleetd_pool_info",
        "Always 1: a pool's name and tenant, to be joined on pool",
        labels=("pool", "name", "tenant"),
    )
    state = GaugeMetricFamily(
        "bc_fleetd_substrate_state", "1 for the state that each pool's substrate is in", labels=("pool", "state")
    )
    listed = GaugeMetricFamily(
        "bc_fleetd_nodes_listed", "Nodes that Kubernetes listed in the last pass", labels=("pool",)
    )
    joined = GaugeMetricFamily("bc_fleetd_nodes_joined", "Of those, whose bcd has joined", labels=("pool",))
    waiting = GaugeMetricFamily("bc_fleetd_nodes_waiting", "Of those, whose bcd has yet to join", labels=("pool",))
    connected = GaugeMetricFamily(
        "bc_fleetd_nodes_connected", "Nodes whose bcd was heard of within three heartbeats", labels=("pool",)
    )
    for pool in census.pools:
        info.add_metric((pool.pool_id, pool.name, pool.tenant_id), 1)
        state.add_metric((pool.pool_id, pool.state.value), 1)
        listed.add_metric((pool.pool_id,), pool.nodes_listed)
        joined.add_metric((pool.pool_id,), pool.nodes_joined)
        waiting.add_metric((pool.pool_id,), pool.nodes_waiting)
        connected.add_metric((pool.pool_id,), pool.nodes_connected)
    yield from (info, state, listed, joined, waiting, connected)


def _of_states(census: Census) -> Iterator[Metric]:
    substrates = GaugeMetricFamily("bc_fleetd_substrates", "Pools' substrates by state", labels=("state",))
    for state in SubstrateState:
        if state != SubstrateState.DELETED:
            substrates.add_metric((state.value,), sum(pool.state == state for pool in census.pools))
    clusters = GaugeMetricFamily("bc_fleetd_clusters", "Clusters by state, tenants' own too", labels=("state",))
    for cluster_state in ClusterState:
        if cluster_state != ClusterState.DELETED:
            clusters.add_metric((cluster_state.value,), census.clusters.get(cluster_state, 0))
    node_pools = GaugeMetricFamily(
        "bc_fleetd_node_pools", "Node pools by state, all clusters together", labels=("state",)
    )
    for node_pool_state in NodePoolState:
        if node_pool_state != NodePoolState.DELETED:
            node_pools.add_metric((node_pool_state.value,), census.node_pools.get(node_pool_state, 0))
    yield from (substrates, clusters, node_pools)


def _of_work(census: Census) -> Iterator[Metric]:
    lag = (census.now - census.oldest_due).total_seconds() if census.oldest_due is not None else 0.0
    yield GaugeMetricFamily("bc_fleetd_units", "Pools and clusters that want passes", value=census.units)
    yield GaugeMetricFamily("bc_fleetd_units_due", "Of those, whose pass is due and has not begun", value=census.due)
    yield GaugeMetricFamily("bc_fleetd_units_leased", "Of those, that a pass is under way for", value=census.leased)
    yield GaugeMetricFamily(
        "bc_fleetd_due_lag_seconds",
        "How long the pass that is due the longest has waited to begin",
        value=max(lag, 0.0),
    )
