# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows to fill a store with: each function gives one valid record, and takes what a test wants different."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model import ids
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.declared import (
    CreateCluster,
    Flavor,
    Gpus,
    Substrate,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.permissions import ApiToken, Permission
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import (
    AccountRecord,
    ClusterOutputs,
    ClusterRecord,
    Device,
    JoinToken,
    NodePoolRecord,
    PoolNode,
    PoolRecord,
    Reservation,
    SiteRecord,
    SubstrateRecord,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.secret import Secret
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import (
    ClusterState,
    Intent,
    NodePoolState,
    NodeState,
    ReservationState,
    SubstrateState,
)

START = datetime(2026, 11, 1, 12, 0, tzinfo=UTC)

H100 = Flavor(name="h100", machine_type="p5.48xlarge", nodes=2, gpus=Gpus(type="nvidia-h100", count=8))

OUTPUTS = ClusterOutputs(
    endpoint="https://127.0.0.1:6443",
    ca_pem="a certificate",
    version="1.34",
    location="eu-west-1",
    node_version="1.34",
    global_id="arn:aws:eks:eu-west-1:111122223333:cluster/bc-x",
)


class HandClock:
    """A clock that a test moves by hand."""

    def __init__(self, start: datetime = START) -> None:
        """Stand at `start`."""
        self._now = start

    def now(self) -> datetime:
        """The moment at which the clock stands."""
        return self._now

    def advance(self, **interval: float) -> None:
        """Move forward, as in ``advance(minutes=5)``."""
        self._now += timedelta(**interval)


def site(**different: Any) -> SiteRecord:
    """A site."""
    made = SiteRecord(
        id=ids.new_site_id(START), tenant_id=ids.PLATFORM_TENANT, name="ireland", kind="shared", region="eu-west"
    )
    return replace(made, **different)


def account(**different: Any) -> AccountRecord:
    """A provider account."""
    made = AccountRecord(
        id=ids.new_account_id(START),
        tenant_id=ids.PLATFORM_TENANT,
        name="aws-main",
        provider="aws",
        config={"region": "eu-west-1", "eksSubnetIds": ["subnet-1", "subnet-2"]},
    )
    return replace(made, **different)


def pool(**different: Any) -> PoolRecord:
    """A pool whose substrate has one flavor."""
    made = PoolRecord(
        id=ids.new_pool_id(START),
        tenant_id=ids.PLATFORM_TENANT,
        name="gpu-fleet",
        site_id=ids.new_site_id(START),
        class_="metal-host",
        gpu_model="H100",
        platform_operated=True,
        substrate=Substrate(account="aws-main", cluster=CreateCluster(location="eu-west-1"), flavors=(H100,)),
        intent=Intent.RUN,
    )
    return replace(made, **different)


def cluster(pool_id: ids.PoolId | None, **different: Any) -> ClusterRecord:
    """The pending cluster of a pool."""
    made = ClusterRecord(
        id=ids.new_cluster_id(START),
        tenant_id=ids.PLATFORM_TENANT,
        account_id=ids.new_account_id(START),
        substrate_pool_id=pool_id,
        name="tenants-own" if pool_id is None else ids.cluster_name(pool_id),
        location="eu-west-1",
        private_nodes=False,
        state=ClusterState.PENDING,
    )
    return replace(made, **different)


def node_pool(cluster_id: ids.ClusterId, **different: Any) -> NodePoolRecord:
    """A pending node pool."""
    made = NodePoolRecord(
        id=ids.new_node_pool_id(START), cluster_id=cluster_id, name="h100", shape=H100, state=NodePoolState.PENDING
    )
    return replace(made, **different)


def substrate(pool_id: ids.PoolId, cluster: ClusterRecord, **different: Any) -> SubstrateRecord:
    """A pending substrate."""
    made = SubstrateRecord(
        pool_id=pool_id,
        tenant_id=cluster.tenant_id,
        account_id=cluster.account_id,
        cluster_id=cluster.id,
        mode="create",
        state=SubstrateState.PENDING,
    )
    return replace(made, **different)


def node(pool_id: ids.PoolId, **different: Any) -> PoolNode:
    """A machine that has just joined with two GPUs."""
    node_id = ids.new_node_id(START)
    made = PoolNode(
        id=node_id,
        pool_id=pool_id,
        state=NodeState.JOINED,
        hostname="ip-10-0-0-1",
        reported_node_name="ip-10-0-0-1.eu-west-1.compute.internal",
        identity_hash=Secret(node_id).sha256(),
        devices=(Device(id="GPU-1", model="H100"), Device(id="GPU-2", model="H100")),
        joined_at=START,
        last_seen_at=START,
    )
    return replace(made, **different)


def token(pool_id: ids.PoolId, **different: Any) -> JoinToken:
    """A join token of one use that lives an hour."""
    token_id = ids.new_token_id(START)
    made = JoinToken(
        id=token_id,
        pool_id=pool_id,
        token_hash=Secret(token_id).sha256(),
        max_uses=1,
        uses=0,
        created_at=START,
        expires_at=START + timedelta(hours=1),
    )
    return replace(made, **different)


def api_token(**different: Any) -> ApiToken:
    """A token of the HTTP API that reads, for a day."""
    token_id = ids.new_api_token_id(START)
    made = ApiToken(
        id=token_id,
        tenant_id=ids.PLATFORM_TENANT,
        name="ci",
        permissions=frozenset({Permission.KUBERNETES_READ}),
        token_hash=Secret(token_id).sha256(),
        issued_by="ann",
        created_at=START,
        expires_at=START + timedelta(days=1),
    )
    return replace(made, **different)


def reservation(pool_id: ids.PoolId, **different: Any) -> Reservation:
    """A pending reservation of two GPUs."""
    made = Reservation(
        id=ids.new_reservation_id(START),
        tenant_id=ids.PLATFORM_TENANT,
        pool_id=pool_id,
        gpus=2,
        spot=False,
        binding="exclusive",
        state=ReservationState.PENDING,
        created_at=START,
    )
    return replace(made, **different)
