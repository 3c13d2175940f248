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

MANUAL_UPGRADES = "manual"
DRAIN_UPGRADES = "drain"


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
        provider: `aws`, `gcp` or `digitalocean`; which of them have a driver is in model.capabilities.
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
class Autoscaling:
    """The bounds within which the cluster's own autoscaler moves a node pool's size; per zone like `Flavor.nodes`.

    Attributes:
        min_nodes: 0 to 1000, not above max_nodes.
        max_nodes: 1 to 1000.
    """

    min_nodes: int
    max_nodes: int


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Taint:
    """A Kubernetes taint.

    Attributes:
        effect: `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
        value: empty for none.
    """

    key: str
    effect: str
    value: str = ""

    def to_data(self) -> dict[str, str]:
        """Plain values, as Kubernetes and documents spell them."""
        return {"key": self.key, "value": self.value, "effect": self.effect}


@dataclass(frozen=True, slots=True, kw_only=True)
class Flavor:
    """A node shape that a substrate wants.

    Attributes:
        nodes: nodes per zone (EKS: per Availability Zone of the account's subnets, or of `zones`), 0 to 1000. With
            `autoscaling` it is the size to begin with, and the one that a change of it sets once.
        disk_gib: the nodes' disk in GiB; None leaves it to the provider.
        disk_type: the provider's name of a disk's kind; None leaves it to the provider.
        zones: the zones to use; empty means all of the account's.
        autoscaling: None for a fixed size.
        labels: the Kubernetes labels beside our own; None leaves alone what stands there.
        taints: sorted; None leaves alone what stands there.
    """

    name: str
    machine_type: str
    nodes: int
    gpus: Gpus | None = None
    spot: bool = False
    disk_gib: int | None = None
    disk_type: str | None = None
    zones: tuple[str, ...] = ()
    autoscaling: Autoscaling | None = None
    labels: Mapping[str, str] | None = None
    taints: tuple[Taint, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateCluster:
    """A cluster to be made for the pool. Its place is the substrate's identity.

    Attributes:
        location: the account's name for the place; on EKS a region.
        private_nodes: on EKS: the API server's private endpoint is opened to the VPC and nodes use it; the subnets
            decide whether nodes have public addresses.
        version: the Kubernetes version of the control plane, e.g. `1.34`: raised in place, never lowered. None takes
            the provider's and leaves it alone.
    """

    location: str
    private_nodes: bool = False
    version: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AdoptCluster:
    """A cluster that stands already and that the pool's node pools are added to. Its id is the substrate's identity.

    Attributes:
        id: the provider's, normalised: GKE `<location>/<name>`, EKS `<region>/<name>`, DOKS a UUID.
    """

    id: str

    @property
    def name(self) -> str:
        """What a driver finds it by: its name, at DOKS its UUID."""
        return self.id.rpartition("/")[2]

    @property
    def location(self) -> str | None:
        """Where it is; None where the id does not say (DOKS)."""
        return self.id.rpartition("/")[0] or None


@dataclass(frozen=True, slots=True, kw_only=True)
class Substrate:
    """What backs a pool: an account, a cluster there, and the node shapes.

    Attributes:
        upgrades: `manual`: nobody replaces running machines; `drain`: flavors follow the control plane's version, each
            once the bookings on its machines have ended (spec: kubernetesSubstrates, `upgrade`). Mutable.
    """

    account: str
    cluster: CreateCluster | AdoptCluster
    flavors: tuple[Flavor, ...]
    upgrades: str = MANUAL_UPGRADES


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """A pool of GPUs.

    Attributes:
        site: the name of the site that it stands at.
        site_owner: whose site that is; None for the one that a document means: the pool's owner's of that name, else
            the platform's, else whose it is.
    """

    name: str
    site: str
    class_: str
    gpu_model: str
    platform_operated: bool = False
    substrate: Substrate | None = None
    tenant_id: TenantId = PLATFORM_TENANT
    site_owner: TenantId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """How many GPUs of a pool a tenant may hold at once. No quota means none.

    Attributes:
        pool: the pool's name.
        pool_owner: whose pool that is; None for the one that a document means, found as a pool's site is.
        gpus: GPUs, 0 and up.
        tenant_id: whose quota it is.
    """

    pool: str
    gpus: int
    tenant_id: TenantId = PLATFORM_TENANT
    pool_owner: TenantId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetConfig:
    """One reviewed document, its names unique within each kind; or records declared again, unique for each owner."""

    sites: tuple[Site, ...] = ()
    accounts: tuple[Account, ...] = ()
    pools: tuple[Pool, ...] = ()
    quotas: tuple[Quota, ...] = ()
    version: int = field(default=1)
