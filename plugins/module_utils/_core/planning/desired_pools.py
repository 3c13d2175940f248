# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One pool's rows: itself, its substrate's status, its cluster and node pools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from ..model import ids
from ..model.declared import AdoptCluster, CreateCluster, Flavor, Pool, Substrate
from ..model.ids import AccountId, PoolId, SiteId
from ..model.records import ClusterRecord, NodePoolRecord, PoolRecord, SubstrateRecord
from ..model.states import ClusterState, Intent, NodePoolState, SubstrateState
from .changes import GOING, Change, ChangeKind, Resource
from .pools import merged, merged_cluster
from .recorded import PoolFacts
from .writes import ClusterRaise, NodePoolChange

_MODE_CREATE, _MODE_ADOPT = "create", "adopt"
"""A substrate's mode (spec: kubernetesSubstrates.get): its cluster is made for it, or was there before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolWrites:
    """One pool's share of DesiredWrites."""

    pools: tuple[PoolRecord, ...]
    clusters: tuple[ClusterRecord, ...] = ()
    cluster_raises: tuple[ClusterRaise, ...] = ()
    node_pools: tuple[NodePoolRecord, ...] = ()
    node_pool_changes: tuple[NodePoolChange, ...] = ()
    substrates: tuple[SubstrateRecord, ...] = ()
    due: tuple[PoolId, ...] = ()


def pool_writes(
    declared: Pool | None,
    facts: PoolFacts | None,
    changes: Sequence[Change],
    *,
    kept_flavors: frozenset[str],
    site_id: SiteId | None,
    account_id: AccountId | None,
    region: str,
    now: datetime,
) -> PoolWrites:
    """The rows of one pool that has at least one change to itself, its cluster or its node pools.

    Arguments:
        declared: None when the pool leaves the document.
        facts: None when it is new.
        kept_flavors: flavors that stay though they are not declared.
        site_id: where a declared pool stands.
        account_id: what a declared substrate stands on.
        region: of that account; empty where it has none (GKE).
    """
    kinds = {(change.resource, change.part): change.kind for change in changes}
    if facts is not None and (declared is None or kinds.get((Resource.CLUSTER, "")) in GOING):
        return _going(declared, facts, torn_down=(Resource.CLUSTER, "") in kinds, now=now)
    if declared is None or site_id is None:
        raise AssertionError("a pool that is neither declared nor recorded has no change")
    pool = _pool_row(declared, facts, kept_flavors=kept_flavors, site_id=site_id, now=now)
    if pool.substrate is None:
        return PoolWrites(pools=(pool,))
    if facts is None or not facts.backed:
        if account_id is None:
            raise AssertionError("a substrate stands on an account")
        return _new_substrate(pool, pool.substrate, account_id=account_id, region=region, now=now)
    return _changed_substrate(pool, facts, kinds, now=now)


def _pool_row(
    declared: Pool,
    facts: PoolFacts | None,
    *,
    kept_flavors: frozenset[str],
    site_id: SiteId,
    now: datetime,
) -> PoolRecord:
    return PoolRecord(
        id=facts.record.id if facts else ids.new_pool_id(now),
        tenant_id=declared.tenant_id,
        name=declared.name,
        site_id=site_id,
        class_=declared.class_,
        gpu_model=declared.gpu_model,
        platform_operated=declared.platform_operated,
        substrate=_substrate(declared, facts, kept_flavors=kept_flavors),
        intent=Intent.RUN if declared.substrate or facts is None or facts.backed else facts.record.intent,
        generation=facts.record.generation + 1 if facts else 1,
    )


def _substrate(declared: Pool, facts: PoolFacts | None, *, kept_flavors: frozenset[str]) -> Substrate | None:
    """The substrate to record: as declared, with what is kept of the recorded one."""
    if facts is None or not facts.backed:
        return declared.substrate
    standing = facts.record.substrate
    if declared.substrate is None or standing is None:
        return standing
    rows = facts.staying
    flavors = [
        merged(flavor, rows[flavor.name]) if flavor.name in rows else flavor for flavor in declared.substrate.flavors
    ]
    flavors += [row.shape for name, row in sorted(rows.items()) if name in kept_flavors]
    cluster = merged_cluster(declared.substrate.cluster, standing.cluster)
    return replace(declared.substrate, cluster=cluster, flavors=tuple(flavors))


def _going(declared: Pool | None, facts: PoolFacts, *, torn_down: bool, now: datetime) -> PoolWrites:
    """The pool is archived, or stays without its substrate. The pass does the rest, in the spec's order."""
    pool = replace(
        facts.record,
        substrate=None,
        intent=Intent.TEAR_DOWN,
        generation=facts.record.generation + 1,
        archived_at=now if declared is None else None,
        platform_operated=declared.platform_operated if declared else facts.record.platform_operated,
    )
    if facts.substrate is None:
        return PoolWrites(pools=(pool,))
    if not torn_down:
        return PoolWrites(pools=(pool,), due=(pool.id,))
    substrate = replace(facts.substrate, state=SubstrateState.DELETING, message="")
    return PoolWrites(pools=(pool,), substrates=(substrate,), due=(pool.id,))


def _new_substrate(
    pool: PoolRecord, substrate: Substrate, *, account_id: AccountId, region: str, now: datetime
) -> PoolWrites:
    declared = substrate.cluster
    adopted = declared if isinstance(declared, AdoptCluster) else None
    made = declared if isinstance(declared, CreateCluster) else None
    cluster = ClusterRecord(
        id=ids.new_cluster_id(now),
        tenant_id=pool.tenant_id,
        account_id=account_id,
        substrate_pool_id=pool.id,
        name=adopted.name if adopted else ids.cluster_name(pool.id),
        location=declared.location or region,
        private_nodes=made.private_nodes if made else False,
        version=made.version if made else None,
        adopted=adopted is not None,
        state=ClusterState.PENDING,
    )
    status = SubstrateRecord(
        pool_id=pool.id,
        tenant_id=pool.tenant_id,
        account_id=cluster.account_id,
        cluster_id=cluster.id,
        mode=_MODE_ADOPT if adopted else _MODE_CREATE,
        state=SubstrateState.PENDING,
    )
    return PoolWrites(
        pools=(pool,),
        clusters=(cluster,),
        node_pools=tuple(_new_node_pool(cluster, pool, flavor, now=now) for flavor in substrate.flavors),
        substrates=(status,),
        due=(pool.id,),
    )


def _new_node_pool(cluster: ClusterRecord, pool: PoolRecord, flavor: Flavor, *, now: datetime) -> NodePoolRecord:
    return NodePoolRecord(
        id=ids.new_node_pool_id(now),
        cluster_id=cluster.id,
        name=ids.flavor_node_pool_name(pool.id, flavor.name, adopted=cluster.adopted),
        shape=flavor,
        state=NodePoolState.PENDING,
    )


def _changed_substrate(
    pool: PoolRecord, facts: PoolFacts, kinds: Mapping[tuple[Resource, str], ChangeKind], *, now: datetime
) -> PoolWrites:
    """Node pools of a running substrate that are new, changed, deleted, or drifted and so to be looked at again."""
    if facts.cluster is None:
        raise AssertionError("a substrate that runs has a cluster")
    shapes = {flavor.name: flavor for flavor in pool.substrate.flavors} if pool.substrate else {}
    new: list[NodePoolRecord] = []
    changed: list[NodePoolChange] = []
    for (resource, name), kind in kinds.items():
        if resource != Resource.NODE_POOL:
            continue
        row = facts.flavors.get(name)
        if row is None:
            new.append(_new_node_pool(facts.cluster, pool, shapes[name], now=now))
            continue
        state = {
            ChangeKind.CREATE: NodePoolState.PENDING,  # it is recorded and was there: drift
            ChangeKind.DELETE: NodePoolState.DELETING,
        }.get(kind, NodePoolState.UPDATING)
        shape = shapes.get(name, row.shape)
        sized = kind == ChangeKind.CREATE or shape.nodes != row.shape.nodes
        changed.append(NodePoolChange(id=row.id, shape=shape, state=state, sized=sized))
    raised: tuple[ClusterRaise, ...] = ()
    lost = kinds.get((Resource.CLUSTER, "")) == ChangeKind.CREATE  # recorded and was there: drift
    made = pool.substrate.cluster if pool.substrate else None
    wish = made.version if isinstance(made, CreateCluster) else None
    version = wish if wish != facts.cluster.version else None
    if new or changed or lost or version:
        after = facts.cluster.state.after_a_change
        if lost and after == ClusterState.UPDATING:
            after = ClusterState.PENDING
        raised = (ClusterRaise(id=facts.cluster.id, state=after, version=version),)
    return PoolWrites(
        pools=(pool,),
        cluster_raises=raised,
        node_pools=tuple(new),
        node_pool_changes=tuple(changed),
        substrates=_updating(facts.substrate),
        due=(pool.id,),
    )


def _updating(substrate: SubstrateRecord | None) -> tuple[SubstrateRecord, ...]:
    """The status of a substrate whose pool changed: no longer ready; one that never was stays as it is."""
    if substrate is None or substrate.state in (SubstrateState.PENDING, SubstrateState.PROVISIONING):
        return ()
    return (replace(substrate, state=SubstrateState.UPDATING, message=""),)
