# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records as the driver is asked for them. Passes ask with these, and plans compare with the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..model.capabilities import Capabilities
from ..model.declared import Autoscaling
from ..model.labels import node_labels, owner_tags
from ..model.observed import NodeBounds, ObservedNodePool
from ..model.records import AccountRecord, ClusterRecord, NodePoolRecord
from ..providers.contract import ClusterSpec, NodePoolSpec


def cluster_spec(cluster: ClusterRecord) -> ClusterSpec:
    """The cluster as it should be."""
    return ClusterSpec(
        name=cluster.name,
        location=cluster.location,
        private_nodes=cluster.private_nodes,
        version=cluster.version,
        mode=cluster.mode,
        adopted=cluster.adopted,
        tags=owner_tags(cluster_id=cluster.id, pool_id=cluster.substrate_pool_id),
    )


def node_pool_spec(
    record: NodePoolRecord, *, cluster: ClusterRecord, account: AccountRecord, capabilities: Capabilities
) -> NodePoolSpec:
    """A node pool as it should be. A flavor's Nodes carry the pool's label, a caller's do not.

    Arguments:
        account: with its places read, where the provider counts nodes per zone. One that has none leaves the zones to
            its provider: the totals are then those of one zone, and the driver knows in how many the node pool stands.
            So does an adopted cluster where clusters have zones of their own (`capabilities.cluster_zones`).
    """
    shape = record.shape
    zone_of = account.places or {}
    wanted = set(shape.zones) or _zones_of_account(cluster, account, capabilities)
    times = max(1, len(wanted)) if capabilities.per_zone_counts else 1
    pool_id = cluster.substrate_pool_id if record.of_flavor else None
    return NodePoolSpec(
        name=record.name,
        machine_type=shape.machine_type,
        nodes=shape.nodes * times,
        bounds=_bounds(shape.autoscaling, times=times),
        keep_count=shape.autoscaling is not None and record.observed_version >= record.sized_version,
        places=_places(zone_of, wanted),
        spot=shape.spot,
        disk_gib=shape.disk_gib,
        disk_type=shape.disk_type,
        gpus_per_node=shape.gpus.count if shape.gpus else 0,
        gpu_type=shape.gpus.type if shape.gpus else None,
        labels={**(shape.labels or {}), **node_labels(pool_id=pool_id, spot=shape.spot)},
        labels_declared=shape.labels is not None,
        taints=shape.taints,
        tags=owner_tags(cluster_id=cluster.id, pool_id=pool_id),
        update_id=record.update_id,
        attempt=record.create_attempts,
    )


def zones_without_places(record: NodePoolRecord, account: AccountRecord) -> tuple[str, ...]:
    """Zones that a node pool is to be spread over and in which the account has nothing to put machines into.

    An account that was read and names no places has its nodes in any zone (GKE).
    """
    if account.places is not None and not account.places:
        return ()
    return tuple(sorted(set(record.shape.zones) - set((account.places or {}).values())))


def node_pool_totals(
    record: NodePoolRecord,
    *,
    cluster: ClusterRecord,
    account: AccountRecord,
    capabilities: Capabilities,
    found: ObservedNodePool | None,
) -> NodeBounds | None:
    """Between which totals a node pool's count is to be once it stands; of a fixed size, both are that.

    Unlike those of its spec they are of all its zones: those that it stands in, or else those that it will be put into.

    Arguments:
        found: as its provider just described it; None where it did not.

    Returns:
        None while only the provider knows the zones.
    """
    shape, times = record.shape, 1
    if capabilities.per_zone_counts:
        zone_of = account.places or {}
        zones = {zone_of.get(place, place) for place in found.places} if found else set()
        times = len(zones or _expected_zones(record, cluster=cluster, account=account, capabilities=capabilities))
    if not times:
        return None
    return _bounds(shape.autoscaling, times=times) or NodeBounds(least=shape.nodes * times, most=shape.nodes * times)


def declared_total(totals: Iterable[NodeBounds | None]) -> int | None:
    """How many nodes these node pools stand for at most; None where that of one is not known."""
    known = list(totals)
    return None if None in known else sum(one.most for one in known if one is not None)


def standing_total(totals: Iterable[NodeBounds | None]) -> int:
    """How many nodes these node pools stand for at least: one of which that is not known may have none."""
    return sum(one.least for one in totals if one is not None)


def _expected_zones(
    record: NodePoolRecord, *, cluster: ClusterRecord, account: AccountRecord, capabilities: Capabilities
) -> set[str]:
    """The zones that a node pool will be put into; none while they are not known."""
    if record.shape.zones:
        return set(record.shape.zones)
    if capabilities.cluster_zones and cluster.outputs is not None and cluster.outputs.zones:
        return set(cluster.outputs.zones)
    return _zones_of_account(cluster, account, capabilities)


def _zones_of_account(cluster: ClusterRecord, account: AccountRecord, capabilities: Capabilities) -> set[str]:
    """The zones of the account that node pools without their own are asked for in."""
    return set() if cluster.adopted and capabilities.cluster_zones else set((account.places or {}).values())


def _places(zone_of: Mapping[str, str], wanted: set[str]) -> tuple[str, ...]:
    """The account's places in the wanted zones; the zones themselves where it names no places of its own."""
    return tuple(sorted(place for place, zone in zone_of.items() if zone in wanted) if zone_of else sorted(wanted))


def _bounds(autoscaling: Autoscaling | None, *, times: int) -> NodeBounds | None:
    if autoscaling is None:
        return None
    return NodeBounds(least=autoscaling.min_nodes * times, most=autoscaling.max_nodes * times)
