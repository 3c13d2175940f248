# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a declared fleet fits the providers of its accounts. Told by a plan, and by who looks at a document alone."""

from __future__ import annotations

from collections.abc import Iterator

from .capabilities import CAPABILITIES, MAX_NODE_POOLS
from .declared import AdoptCluster, CreateCluster, FleetConfig, Pool, Substrate
from .errors import Problem
from .ids import PoolId, flavor_node_pool_name

_ANY_POOL = PoolId("pool_??????")
"""In the place of an id that is not made yet: as much of it as stands in the name of a node pool."""


def unsupported(config: FleetConfig) -> Iterator[Problem]:
    """Pools that their provider can do nothing for: UNSUPPORTED."""
    for path, pool, substrate, provider in _substrates(config):
        can = CAPABILITIES[provider]
        made = substrate.cluster if isinstance(substrate.cluster, CreateCluster) else None
        if made and made.private_nodes and not can.private_nodes:
            yield Problem(
                path=f"{path}.cluster.create.privateNodes",
                message=f"pool {pool.name}: {can.title} ({provider}, account {substrate.account}) has no private nodes",
            )


def names_too_long(config: FleetConfig) -> Iterator[Problem]:
    """Flavors whose node pool could not have its name at the provider: INVALID_INPUT.

    It is the flavor's own name; on an adopted cluster one with the last of the pool's id before it.
    """
    for path, _pool, substrate, provider in _substrates(config):
        can = CAPABILITIES[provider]
        adopted = isinstance(substrate.cluster, AdoptCluster)
        for index, flavor in enumerate(substrate.flavors):
            name = flavor_node_pool_name(_ANY_POOL, flavor.name, adopted=adopted)
            if len(name) > can.max_node_pool_name:
                yield Problem(
                    path=f"{path}.flavors[{index}].name",
                    message=f"the node pool's name at the provider, {name}, has {len(name)} characters; "
                    f"{can.title} takes at most {can.max_node_pool_name}",
                )


def too_many_flavors(config: FleetConfig) -> Iterator[Problem]:
    """Pools with more flavors than a cluster can have node pools: QUOTA_EXCEEDED, whatever stands already."""
    for path, pool, substrate, _provider in _substrates(config):
        if len(substrate.flavors) > MAX_NODE_POOLS:
            yield Problem(
                path=f"{path}.flavors",
                message=f"pool {pool.name}: {len(substrate.flavors)} flavors; a cluster has at most {MAX_NODE_POOLS} "
                "node pools",
            )


def _substrates(config: FleetConfig) -> Iterator[tuple[str, Pool, Substrate, str]]:
    """Each declared substrate with its path, its pool and its account's provider."""
    providers = {(account.tenant_id, account.name): account.provider for account in config.accounts}
    for index, pool in enumerate(config.pools):
        if pool.substrate is not None:
            provider = providers[pool.tenant_id, pool.substrate.account]
            yield f"pools[{index}].policy.substrate", pool, pool.substrate, provider
