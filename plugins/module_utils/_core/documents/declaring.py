# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From the models of a valid document to the plain values that planning takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..model.declared import (
    Account,
    AdoptCluster,
    Autoscaling,
    CreateCluster,
    Flavor,
    FleetConfig,
    Gpus,
    Pool,
    Quota,
    Site,
    Substrate,
    Taint,
)
from ..model.ids import TenantId
from .adopt_ids import parse_adopt_id
from .flavor_model import FlavorModel
from .fleet_config import ClusterModel, FleetConfigModel, PoolModel, SubstrateModel


def declared(document: FleetConfigModel) -> FleetConfig:
    """A document as it is planned with: what is left out has its default, and order that means nothing is settled."""
    providers = {account.name: account.provider for account in document.provider_accounts}
    return FleetConfig(
        version=document.version,
        sites=tuple(
            Site(name=site.name, kind=site.kind, region=site.region, tenant_id=TenantId(site.tenant_id))
            for site in document.sites
        ),
        accounts=tuple(
            Account(
                name=account.name,
                provider=account.provider,
                config=_config(account.config.model_dump(by_alias=True, exclude_none=True)),
                tenant_id=TenantId(account.tenant_id),
            )
            for account in document.provider_accounts
        ),
        pools=tuple(_pool(pool, providers) for pool in document.pools),
        quotas=tuple(
            Quota(pool=quota.pool, gpus=quota.gpus, tenant_id=TenantId(quota.tenant_id)) for quota in document.quotas
        ),
    )


def _config(config: dict[str, Any]) -> dict[str, Any]:
    """An ambient credential is the same as none: one spelling in the records."""
    if config.get("credential") == "ambient":
        del config["credential"]
    return config


def _pool(pool: PoolModel, providers: Mapping[str, str]) -> Pool:
    policy = pool.policy
    kubernetes = policy.kubernetes if policy else None
    return Pool(
        name=pool.name,
        site=pool.site,
        class_=pool.class_,
        gpu_model=pool.gpu_model,
        platform_operated=kubernetes.platform_operated if kubernetes else False,
        substrate=_substrate(policy.substrate, providers) if policy and policy.substrate else None,
        tenant_id=TenantId(pool.tenant_id),
    )


def _substrate(substrate: SubstrateModel, providers: Mapping[str, str]) -> Substrate:
    return Substrate(
        account=substrate.account,
        cluster=_cluster(substrate.cluster, providers[substrate.account]),
        flavors=tuple(_flavor(flavor) for flavor in substrate.flavors),
        upgrades=substrate.upgrades,
    )


def _cluster(cluster: ClusterModel, provider: str) -> CreateCluster | AdoptCluster:
    create = cluster.create
    if create is not None:
        return CreateCluster(location=create.location, private_nodes=create.private_nodes, version=create.version)
    adopted = parse_adopt_id(provider, cluster.adopt or "")
    if adopted is None:
        raise AssertionError("a cluster is created or adopted by an id of its provider's kind: references.py")
    return AdoptCluster(id=adopted.id)


def _flavor(flavor: FlavorModel) -> Flavor:
    scaling, taints = flavor.autoscaling, flavor.taints
    return Flavor(
        name=flavor.name,
        machine_type=flavor.machine_type,
        nodes=flavor.nodes,
        gpus=Gpus(type=flavor.gpus.type, count=flavor.gpus.count) if flavor.gpus else None,
        spot=flavor.spot,
        disk_gib=flavor.disk_gib,
        disk_type=flavor.disk_type,
        zones=tuple(flavor.zones or ()),
        autoscaling=Autoscaling(min_nodes=scaling.min_nodes, max_nodes=scaling.max_nodes) if scaling else None,
        labels=None if flavor.labels is None else dict(sorted(flavor.labels.items())),
        taints=None
        if taints is None
        else tuple(sorted(Taint(key=taint.key, effect=taint.effect, value=taint.value) for taint in taints)),
    )
