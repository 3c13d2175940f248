# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a call for clusters changes: reads what stands, and decides. Writes nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ...model.errors import Code, InvalidInput, OperationError, Problem
from ...model.ids import PLATFORM_TENANT, AccountId, ClusterId, TenantId
from ...model.limits import EXPECTED, TENANT
from ...model.records import AccountRecord, ClusterRecord
from ...store import Tx, clusters, fleet, idempotency
from ..node_pools.constraints import shown
from ..node_pools.deciding import Refusals, Wish
from ..session import Session
from .constraints import input_problems
from .deciding import ClustersPlan, Place, decide
from .wanted import WantedCluster


def plan_clusters(
    session: Session, *, tenant_id: TenantId, wanted: Sequence[WantedCluster], wish: Wish
) -> ClustersPlan:
    """What bringing these clusters about (or taking them away) changes. Writes nothing.

    Raises:
        InvalidInput: every problem of the call.
        OperationError: NOT_FOUND (a cluster's id, or an account), INVALID_STATE (a pool's cluster, one that is being
            deleted, node pools on an autopilot one), CONFLICT (with an idempotency key: its name is taken, or the key
            came with another request; without: another cluster has the name there), UNSUPPORTED (the provider has no
            such cluster, or this version no driver for it), QUOTA_EXCEEDED.
    """
    with session.store.read() as tx:
        return plan_within(tx, session, tenant_id=tenant_id, wanted=wanted, wish=wish)


def plan_within(
    tx: Tx, session: Session, *, tenant_id: TenantId, wanted: Sequence[WantedCluster], wish: Wish
) -> ClustersPlan:
    """The plan, in a transaction of the caller's. Raises as :func:`plan_clusters`."""
    check_tenant(tenant_id)
    records = _records(tx, tenant_id)
    refusals = Refusals()
    found: list[tuple[WantedCluster, Place]] = []
    repeated: dict[int, ClusterRecord] = {}
    for one in wanted:
        try:
            made = None if wish == Wish.ABSENT else _made_before(tx, one, scope=key_scope(session, tenant_id))
            found.append(_placed(tx, one, records, wish=wish))
        except OperationError as error:
            refusals.problems += [] if wish == Wish.ABSENT else input_problems(one)
            refusals.add(error)
            continue
        if made is not None:
            repeated[len(found) - 1] = made
    return decide(found, tenant_id=tenant_id, wish=wish, repeated=repeated, refusals=refusals, now=tx.now)


def check_tenant(tenant_id: TenantId) -> None:
    """Check a tenant's name before it is asked for or recorded: not every database takes any text.

    Raises:
        InvalidInput: it is none.
    """
    if not re.fullmatch(TENANT, tenant_id, re.ASCII):
        raise InvalidInput([Problem(path="tenant", message=f"expected {EXPECTED[TENANT]}, found {shown(tenant_id)}")])


def key_scope(session: Session, tenant_id: TenantId) -> str:
    """Within what an idempotency key is unique: the tenant and the caller."""
    return f"cluster/{tenant_id}/{session.caller}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Records:
    """What is recorded that a tenant's clusters can be, or stand on.

    Attributes:
        by_name, by_id: the tenant's clusters that are not deleted. What its own are called is its own to say, also
            where one that a pool adopted has the same name elsewhere.
        offered: by name, the tenant's own accounts and the platform's others.
        accounts: all of them.
    """

    by_name: Mapping[str, ClusterRecord]
    by_id: Mapping[ClusterId, ClusterRecord]
    offered: Mapping[str, AccountRecord]
    accounts: Mapping[AccountId, AccountRecord]


def _records(tx: Tx, tenant_id: TenantId) -> _Records:
    own, accounts = clusters.clusters_of(tx, tenant_id), fleet.accounts(tx)
    offered = {
        account.name: account
        for owner in (PLATFORM_TENANT, tenant_id)
        for account in accounts
        if account.tenant_id == owner
    }
    return _Records(
        by_name={cluster.name: cluster for cluster in sorted(own, key=lambda one: not one.adopted)},
        by_id={cluster.id: cluster for cluster in own},
        offered=offered,
        accounts={account.id: account for account in accounts},
    )


def _placed(tx: Tx, one: WantedCluster, records: _Records, *, wish: Wish) -> tuple[WantedCluster, Place]:
    """The wanted cluster, by its name, with what stands for it.

    Raises:
        OperationError: NOT_FOUND.
    """
    cluster = records.by_name.get(one.name) if one.cluster_id is None else records.by_id.get(one.cluster_id)
    if cluster is not None:
        pool = fleet.pool(tx, cluster.substrate_pool_id) if cluster.substrate_pool_id else None
        return replace(one, name=cluster.name), Place(
            cluster=cluster,
            pool=pool,
            account=records.accounts.get(cluster.account_id),
            node_pools={record.name: record for record in clusters.node_pools(tx, cluster.id)},
            taken=False,
        )
    if one.cluster_id is not None:
        raise OperationError(Code.NOT_FOUND, f"there is no cluster {one.cluster_id[:60]!r}")
    account = None
    if one.account is not None and wish != Wish.ABSENT:
        account = records.offered.get(one.account)
        if account is None:
            raise OperationError(
                Code.NOT_FOUND,
                f"there is no provider account {one.account[:60]!r}, of the tenant or of the platform: a document "
                "declares accounts (bc_fleet)",
            )
    taken = False
    if account is not None and one.location is not None and not input_problems(one):
        taken = clusters.is_taken(tx, account_id=account.id, location=one.location, name=one.name)
    return one, Place(cluster=None, pool=None, account=account, node_pools={}, taken=taken)


def _made_before(tx: Tx, one: WantedCluster, *, scope: str) -> ClusterRecord | None:
    """What the same request led to before, by its idempotency key: the cluster as it stands now.

    Raises:
        OperationError: CONFLICT when the key came with another request.
    """
    if one.idempotency_key is None or input_problems(one):
        return None  # what is wrong is told later, and not every database takes any text as a key
    made = idempotency.remembered(tx, scope=scope, key=one.idempotency_key, request_digest=one.digest())
    return None if made is None else clusters.cluster(tx, ClusterId(made))
