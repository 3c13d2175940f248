# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster that a tenant runs already, on any of the emulated clouds: with node pools of its own, for pools to adopt.

It is made through the drivers, with marks that are not ours: to passes it is what somebody made by hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import boto3

from ansible_collections.better_compute.fleet.emulators.aws.account import REGION, Credentials
from ansible_collections.better_compute.fleet.emulators.kubernetes.cluster import EmulatedCluster
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.access import bootstrap_api
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.api import ClusterApi
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.load import parse_document
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import AccountId, TenantId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import ObservedCluster
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import AccountRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.contract import (
    ClusterSpec,
    Driver,
    NodePoolSpec,
)

from .clouds import AWS, DOKS, Cloud, Place
from .fleet_at_hand import Fleet

NAME: Final = "prod"
MARKS: Final = {"team": "research"}
OWN_NODE_POOLS: Final = ("h100", "web")
"""One of them is called like our flavor."""

_ADMIN_POLICY: Final = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"
_SETTLED_SECONDS: Final = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantsCluster:
    """A tenant's cluster, and what is looked at of it.

    Attributes:
        driver: the tenant's own way to its provider.
        spec: as the tenant asks for it: adopted, so that it is read whoever made it.
    """

    cloud: Cloud
    fleet: Fleet
    driver: Driver
    spec: ClusterSpec

    @property
    def observed(self) -> ObservedCluster:
        """As its provider describes it."""
        found = self.driver.get_cluster(self.spec)
        assert found is not None
        return found

    @property
    def id(self) -> str:
        """What a document names it by (spec: adopt id)."""
        if self.cloud is DOKS:
            outputs = self.observed.outputs
            assert outputs is not None
            assert outputs.global_id is not None
            return outputs.global_id
        return f"{self.spec.location}/{self.spec.name}"

    @property
    def node_pools(self) -> dict[str, Any]:
        """Its own node pools by name, as their provider describes them."""
        self.driver.get_cluster(self.spec)
        found = {pool.name: pool for pool in self.driver.get_node_pools(self.spec)}
        return {name: pool for name, pool in found.items() if not name.startswith("bc-")}

    @property
    def inside(self) -> EmulatedCluster:
        """What its API holds."""
        apis = self.fleet.scene.world.apis
        ids = (item.id for item in self.fleet.scene.engine.inventory.items(kind="cluster"))
        found = next(
            (one for one in map(apis.cluster, ids) if one is not None and one.name == self.observed.name), None
        )
        assert found is not None
        return found

    def api(self) -> ClusterApi:
        """Its API, in the hands of whoever our account is."""
        return bootstrap_api(self.driver.bootstrap_access(self.observed))

    def add_node_pool(self, name: str, marks: Mapping[str, str] | None = None) -> None:
        """The tenant adds a node pool."""
        spec = _node_pool(self.cloud, self.driver, name, MARKS if marks is None else marks)
        self.driver.ensure_node_pool(self.spec, spec, None)
        self.fleet.scene.clock.advance(_SETTLED_SECONDS)

    def delete(self) -> None:
        """The tenant deletes it, with all its node pools."""
        own = ClusterSpec(name=self.spec.name, location=self.spec.location, private_nodes=False, tags=MARKS)
        for pool in self.driver.get_node_pools(own):
            if self.cloud is AWS:
                self.driver.delete_node_pool(own, pool.name, pool.tags)
        self.fleet.scene.clock.advance(_SETTLED_SECONDS)
        self.driver.delete_cluster(own)
        self.fleet.scene.clock.advance(_SETTLED_SECONDS)

    def admit(self, principal: str | None = None) -> None:
        """EKS: the tenant makes somebody an administrator, by itself the fleet's principal."""
        if self.cloud is not AWS:
            return
        arn = principal or self.fleet.scene.world.aws.operator.principal_arn
        eks = eks_client(self.fleet)
        eks.create_access_entry(clusterName=self.spec.name, principalArn=arn)
        eks.associate_access_policy(
            clusterName=self.spec.name, principalArn=arn, policyArn=_ADMIN_POLICY, accessScope={"type": "cluster"}
        )
        self.fleet.scene.clock.advance(_SETTLED_SECONDS)

    def shut_out(self) -> None:
        """EKS: the tenant takes the fleet's principal away again."""
        arn = self.fleet.scene.world.aws.operator.principal_arn
        eks_client(self.fleet).delete_access_entry(clusterName=self.spec.name, principalArn=arn)
        self.fleet.scene.clock.advance(_SETTLED_SECONDS)


def eks_client(fleet: Fleet, key: Credentials | None = None) -> Any:
    """The EKS API in the hands of whoever owns the account."""
    aws = fleet.scene.world.aws
    whose = key or aws.operator
    return boto3.client(
        "eks",
        region_name=REGION,
        endpoint_url=aws.url,
        aws_access_key_id=whose.access_key_id,
        aws_secret_access_key=whose.secret_access_key,
    )


def made_by_a_tenant(fleet: Fleet, place: Place, cloud: Cloud, *, name: str = NAME) -> TenantsCluster:
    """A cluster with two node pools of its own, all settled. On EKS our principal is not let in yet."""
    driver = fleet.session.open_driver(account_of(place, cloud))
    own = ClusterSpec(name=name, location=cloud.location, private_nodes=False, tags=MARKS)
    first = tuple(_node_pool(cloud, driver, one, MARKS) for one in OWN_NODE_POOLS)
    driver.ensure_cluster(own, first)
    fleet.scene.clock.advance(_SETTLED_SECONDS)
    if not driver.capabilities.cluster_needs_nodes:
        for spec in first:
            driver.ensure_node_pool(own, spec, None)
    fleet.scene.clock.advance(_SETTLED_SECONDS)
    adopted = ClusterSpec(name=name, location=cloud.location, private_nodes=False, tags={}, adopted=True)
    return TenantsCluster(cloud=cloud, fleet=fleet, driver=driver, spec=adopted)


def account_of(place: Place, cloud: Cloud) -> AccountRecord:
    """The account that a document names, for opening a driver."""
    [account] = parse_document(place.document({cloud: [cloud.flavor("any")]})).accounts
    return AccountRecord(
        id=AccountId("acct_00000000000000000000000000"),
        tenant_id=TenantId("research"),
        name=account.name,
        provider=account.provider,
        config=account.config,
    )


def adopting(place: Place, cluster: TenantsCluster, *flavors: Mapping[str, Any], name: str | None = None) -> Any:
    """A document with one pool that adopts the cluster."""
    cloud = cluster.cloud
    made = place.document({cloud: flavors}, names=None if name is None else {cloud: name})
    made["pools"][0]["policy"]["substrate"]["cluster"] = {"adopt": cluster.id}
    return made


def _node_pool(cloud: Cloud, driver: Driver, name: str, marks: Mapping[str, str]) -> NodePoolSpec:
    places = sorted(place for place, zone in driver.node_places().items() if zone == cloud.zone)
    return NodePoolSpec(
        name=name,
        machine_type=cloud.machine_type,
        nodes=1,
        places=tuple(places),
        spot=False,
        disk_gib=None,
        gpus_per_node=8,
        gpu_type=cloud.gpu_type,
        labels={"team": "research"},
        tags=marks,
    )
