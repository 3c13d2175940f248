# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a plan refuses whole: what no provider, no driver and no cluster can hold. Every case at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..model.capabilities import CAPABILITIES, MAX_NODE_POOLS
from ..model.declared import FleetConfig
from ..model.errors import Code, InvalidInput, OperationError, Problem
from ..model.provider_fit import names_too_long, unsupported
from .changes import FlavorSize
from .naming import Declared, key, titled
from .recorded import Index


def check_providers(config: FleetConfig) -> None:
    """Refuse what the accounts' providers, or this version's drivers, cannot do.

    Raises:
        OperationError: UNSUPPORTED, naming every pool, account and provider.
        InvalidInput: names that are too long at the provider.
    """
    _refuse(Code.UNSUPPORTED, unsupported(config))
    if problems := list(names_too_long(config)):
        raise InvalidInput(problems)


def check_sizes(config: FleetConfig, declared: Declared, recorded: Index, flavor_sizes: Sequence[FlavorSize]) -> None:
    """Refuse what is more than a cluster or a node pool can hold.

    A node pool that is kept, or on its way out, counts until it is deleted (spec: "not deleted").

    Raises:
        OperationError: QUOTA_EXCEEDED, naming every pool and flavor that is too large.
    """
    _refuse(Code.QUOTA_EXCEEDED, _too_large(config, declared, recorded, flavor_sizes))


def _refuse(code: Code, problems: Iterator[Problem]) -> None:
    told = "\n".join(str(problem) for problem in problems)
    if told:
        raise OperationError(code, told)


def _too_large(
    config: FleetConfig, declared: Declared, recorded: Index, flavor_sizes: Sequence[FlavorSize]
) -> Iterator[Problem]:
    sizes = iter(flavor_sizes)
    for index, pool in enumerate(config.pools):
        if pool.substrate is None:
            continue
        path = f"pools[{index}].policy.substrate.flavors"
        facts = recorded.pools.get(key(pool))
        standing = {*facts.flavors, *facts.other_node_pools} if facts and facts.backed else set()
        names = standing | {flavor.name for flavor in pool.substrate.flavors}
        if len(names) > MAX_NODE_POOLS:
            leaving = ", those that are kept or still to be deleted included" if standing else ""
            yield Problem(
                path=path,
                message=f"pool {titled(key(pool))}: {len(names)} node pools{leaving}; a cluster has at most "
                f"{MAX_NODE_POOLS}",
            )
        limit = CAPABILITIES[declared.account_of(pool, pool.substrate).provider].max_nodes_per_pool
        # Takes as many of the sizes as there are flavors; the next pool's are left.
        for number, (flavor, size) in enumerate(zip(pool.substrate.flavors, sizes, strict=False)):
            if size.largest is not None and size.largest > limit:
                nodes = size.bounds.max_nodes if size.bounds else size.nodes
                yield Problem(
                    path=f"{path}[{number}]",
                    message=f"pool {titled(key(pool))}, flavor {flavor.name}: {nodes} nodes x {size.zones or 1} zones "
                    f"= {size.largest}; a node pool has at most {limit} nodes at this provider",
                )
