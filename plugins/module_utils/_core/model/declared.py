# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A FleetConfig document as plain values: what documents parses, what planning compares. Already known to be valid.

Field meanings (the spec leaves some open, so they are decided here):

- ``site.kind``: `shared` (machines of many tenants may stand there), the only kind there is yet. Mutable.
- ``site.region``: a label for people and placement; identity, because pools are placed by it.
- ``pool.class_``: `metal-host` (whole machines with their GPUs), the only class there is yet. Identity.
- ``pool.gpu_model``: what reservations ask for, e.g. `H100`. Identity.
- ``pool.platform_operated``: the platform, not the tenant, looks after the nodes. Mutable.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .ids import PLATFORM_TENANT, TenantId


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A place that pools stand in."""

    name: str
    kind: str
    region: str
    tenant_id: TenantId = PLATFORM_TENANT


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A provider account.

    Attributes:
        provider: `aws` (`gcp` and `digitalocean` come with their drivers).
        config: the provider's closed model as plain JSON values with the document's camelCase keys, e.g. for aws
            region, zones, eksClusterRoleArn, eksNodeRoleArn, eksSubnetIds, endpointUrl, caFile, credential
            (`"ambient"`, `{"env": PREFIX}` or `{"file": PATH}`: where a credential is, never the credential).
    """

    name: str
    provider: str
    config: Mapping[str, Any]
    tenant_id: TenantId = PLATFORM_TENANT


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpus:
    """The GPUs of one machine of a flavor.

    Attributes:
        type: the account's name for the accelerator, e.g. `nvidia-h100`.
        count: GPUs per node, 1 to 16.
    """

    type: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Flavor:
    """A node shape that a substrate wants.

    Attributes:
        nodes: nodes per zone (EKS: per Availability Zone of the account's subnets, or of `zones`), 0 to 1000.
        disk_gib: the nodes' disk in GiB; None leaves it to the provider.
        zones: the zones to use; empty means all of the account's.
    """

    name: str
    machine_type: str
    nodes: int
    gpus: Gpus | None = None
    spot: bool = False
    disk_gib: int | None = None
    zones: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateCluster:
    """A cluster to be made for the pool. All of it is the substrate's identity.

    Attributes:
        location: the account's name for the place; on EKS a region.
        private_nodes: on EKS: the API server's private endpoint is opened to the VPC and nodes use it; the subnets
            decide whether nodes have public addresses.
    """

    location: str
    private_nodes: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Substrate:
    """What backs a pool: an account, a cluster there, and the node shapes."""

    account: str
    cluster: CreateCluster
    flavors: tuple[Flavor, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """A pool of GPUs."""

    name: str
    site: str
    class_: str
    gpu_model: str
    platform_operated: bool = False
    substrate: Substrate | None = None
    tenant_id: TenantId = PLATFORM_TENANT


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """How many GPUs of a pool a tenant may hold at once. No quota means none.

    Attributes:
        pool: the pool's name.
        gpus: GPUs, 0 and up.
        tenant_id: whose quota it is.
    """

    pool: str
    gpus: int
    tenant_id: TenantId = PLATFORM_TENANT


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetConfig:
    """One reviewed document. Names are unique within each kind."""

    sites: tuple[Site, ...] = ()
    accounts: tuple[Account, ...] = ()
    pools: tuple[Pool, ...] = ()
    quotas: tuple[Quota, ...] = ()
    version: int = field(default=1)
