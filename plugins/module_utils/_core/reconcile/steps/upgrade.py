# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""With `upgrades: drain`, flavors follow the control plane's version: one at a time, once nothing is booked on it.

Its nodes are cordoned by our own mark, so that no new booking comes; those that stand end by themselves. Then the
provider is asked to replace its machines. A flavor that the provider refuses to upgrade halts those after it: what
fails for one is not tried on the next before somebody has seen it. Nothing but the cordons and what substrates show is
kept: each pass sees anew whose turn it is, from the versions that stand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...model.declared import DRAIN_UPGRADES
from ...model.ids import NodePoolId
from ...model.observed import ObservedNodePool
from ...model.records import NodePoolRecord
from ...model.states import NodePoolState, NodeState, ProviderStatus
from ...model.versions import is_older
from ...nodes.cordon import cordon_node_pool
from ...store import pool_nodes, substrates
from ..context import PassContext

_UPGRADABLE = (ProviderStatus.ACTIVE, ProviderStatus.UPDATING)
"""A degraded one is refused by its provider, and would stand cordoned for nothing."""


def follow_control_plane(ctx: PassContext, observed: Mapping[str, ObservedNodePool]) -> Mapping[NodePoolId, str]:
    """Close the flavor whose turn it is to new bookings; say what its machines are to be brought to, once it is empty.

    Returns:
        The version by node pool; empty while none is to be brought to one now.
    """
    if ctx.observed is None or ctx.observed.outputs is None or ctx.observed.status != ProviderStatus.ACTIVE:
        return {}  # a control plane that is on its way itself: what is closed stays closed
    with ctx.store.read() as tx:
        closed = pool_nodes.node_pools_in(tx, ctx.pool.id, NodeState.CORDONED)
    drains = ctx.pool.substrate is not None and ctx.pool.substrate.upgrades == DRAIN_UPGRADES
    version = ctx.observed.outputs.version
    turn = whose_turn(ctx.node_pools, observed, version=version if drains else "", closed=closed)
    ctx.closed = frozenset({turn.name}) if turn is not None else frozenset()
    booked = _close(ctx, turn.name, version) if turn is not None else 0
    if not booked:
        _no_longer_waits(ctx)
    if turn is None or not drains or (booked and turn.update_id is None):
        return {}
    return {turn.id: version}


def whose_turn(
    node_pools: Sequence[NodePoolRecord],
    observed: Mapping[str, ObservedNodePool],
    *,
    version: str,
    closed: frozenset[str],
) -> NodePoolRecord | None:
    """The flavor that is being brought to a newer version, or else the first that is older. Pure.

    Arguments:
        observed: by name.
        version: the control plane's; empty when flavors are not to follow it: then only one that is being replaced.
        closed: names of node pools with cordoned nodes. One that the provider is changing stays closed to the end,
            whatever version it shows meanwhile: machines of it that still run are about to end.
    """

    def is_being_replaced(name: str) -> bool:
        return observed[name].status == ProviderStatus.UPDATING and name in closed

    def is_behind(name: str) -> bool:
        return observed[name].status in _UPGRADABLE and is_older(observed[name].version, version)

    standing = [
        record
        for record in node_pools
        if record.of_flavor
        and record.state != NodePoolState.DELETING
        and record.name in observed
        and (is_being_replaced(record.name) or is_behind(record.name))
    ]
    return min(standing, key=lambda record: (not is_being_replaced(record.name), record.name), default=None)


def _close(ctx: PassContext, node_pool: str, version: str) -> int:
    """Cordon the flavor's nodes and count what is booked on them; while something is, the substrate shows it."""
    with ctx.write() as tx:
        booked = cordon_node_pool(tx, ctx.pool.id, node_pool)
        if booked:
            since = ctx.substrate.upgrade_since if ctx.substrate.upgrade_version == version else None
            ctx.substrate = replace(ctx.substrate, upgrade_version=version, upgrade_since=since or tx.now)
            substrates.set_upgrade(tx, ctx.pool.id, version=version, since=ctx.substrate.upgrade_since)
    return booked


def _no_longer_waits(ctx: PassContext) -> None:
    if ctx.substrate.upgrade_version is not None:
        ctx.substrate = replace(ctx.substrate, upgrade_version=None, upgrade_since=None)
        with ctx.write() as tx:
            substrates.set_upgrade(tx, ctx.pool.id, version=None, since=None)
