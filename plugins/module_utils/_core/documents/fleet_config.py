# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""FleetConfig v1 as pydantic models: the shape of each part by itself, strict and closed.

What concerns two parts (references, duplicates, tenants) is in references.py. Field meanings are with
model.declared. Keys are camelCase; null is never a value: a key that is not wanted is left out.
"""

from __future__ import annotations

from typing import Annotated, Literal

from . import patterns
from .aws_account import AwsConfig
from .pydantic_shim import BaseModel, ConfigDict, Field
from .spelling import camel

_CLOSED = ConfigDict(extra="forbid", strict=True, frozen=True, alias_generator=camel, hide_input_in_errors=True)

Name = Annotated[str, Field(pattern=patterns.NAME)]
FlavorName = Annotated[str, Field(pattern=patterns.FLAVOR_NAME)]
Tenant = Annotated[str, Field(pattern=patterns.TENANT)]
Place = Annotated[str, Field(pattern=patterns.PLACE)]
Zones = Annotated[list[Place], Field(min_length=1, max_length=10)]
"""At most 10 (spec: node-pools API). None at all is said by leaving the key out."""

_MAX_QUOTA_GPUS = 1_000_000
"""No fleet has more; keeps sums far away from what a database's integer holds."""


class SiteModel(BaseModel):
    """sites[]"""

    model_config = _CLOSED
    name: Name
    kind: Literal["shared"]
    region: Place
    tenant_id: Tenant = "platform"


class AwsAccountModel(BaseModel):
    """providerAccounts[] of AWS."""

    model_config = _CLOSED
    name: Name
    provider: Literal["aws"]
    config: AwsConfig
    tenant_id: Tenant = "platform"


class GpusModel(BaseModel):
    """flavors[].gpus"""

    model_config = _CLOSED
    type: Annotated[str, Field(pattern=patterns.ACCELERATOR)]
    count: Annotated[int, Field(ge=1, le=16)]


class FlavorModel(BaseModel):
    """pools[].policy.substrate.flavors[]"""

    model_config = _CLOSED
    name: FlavorName
    machine_type: Annotated[str, Field(pattern=patterns.MACHINE_TYPE)]
    nodes: Annotated[int, Field(ge=0, le=1000)]
    gpus: GpusModel | None = None
    spot: bool = False
    disk_gib: Annotated[int, Field(ge=10, le=65536)] | None = Field(default=None, alias="diskGiB")
    zones: Zones | None = None


class CreateModel(BaseModel):
    """cluster.create"""

    model_config = _CLOSED
    location: Place
    private_nodes: bool = False


class ClusterModel(BaseModel):
    """pools[].policy.substrate.cluster"""

    model_config = _CLOSED
    create: CreateModel


class SubstrateModel(BaseModel):
    """pools[].policy.substrate"""

    model_config = _CLOSED
    kind: Literal["kubernetes"]
    account: Name
    cluster: ClusterModel
    flavors: Annotated[list[FlavorModel], Field(min_length=1)]


class KubernetesPolicyModel(BaseModel):
    """pools[].policy.kubernetes"""

    model_config = _CLOSED
    platform_operated: bool = False


class PolicyModel(BaseModel):
    """pools[].policy"""

    model_config = _CLOSED
    kubernetes: KubernetesPolicyModel | None = None
    substrate: SubstrateModel | None = None


class PoolModel(BaseModel):
    """pools[]"""

    model_config = _CLOSED
    name: Name
    site: Name
    class_: Literal["metal-host"] = Field(alias="class")
    gpu_model: Annotated[str, Field(pattern=patterns.GPU_MODEL)]
    tenant_id: Tenant = "platform"
    policy: PolicyModel | None = None


class QuotaModel(BaseModel):
    """quotas[]"""

    model_config = _CLOSED
    tenant_id: Tenant = "platform"
    pool: Name
    gpus: Annotated[int, Field(ge=0, le=_MAX_QUOTA_GPUS)]


class FleetConfigModel(BaseModel):
    """A FleetConfig document, version 1."""

    model_config = _CLOSED
    schema_: str | None = Field(
        default=None,
        alias="$schema",
        description="Where this JSON Schema is, for editors: a path relative to the document, or a URL. Ignored.",
    )
    version: Annotated[int, Field(ge=1, le=1)]  # not Literal[1], which true and 1.0 would equal
    sites: list[SiteModel] = Field(default_factory=list)
    provider_accounts: list[AwsAccountModel] = Field(default_factory=list)
    pools: list[PoolModel] = Field(default_factory=list)
    quotas: list[QuotaModel] = Field(default_factory=list)


ENTRIES: dict[str, tuple[str, type[BaseModel]]] = {
    "sites": ("sites", SiteModel),
    "providerAccounts": ("provider_accounts", AwsAccountModel),
    "pools": ("pools", PoolModel),
    "quotas": ("quotas", QuotaModel),
}
"""A document's sections: key -> FleetConfigModel's field, and the model of one entry."""

_ELSEWHERE = "belongs to another product of the platform and has no place here: take this section out"
_LATER = "is not in this version of the collection"

REFUSED = {
    ("FleetConfigModel", "offers"): f"a document's section of offers {_ELSEWHERE}",
    ("FleetConfigModel", "sandboxTemplates"): f"a document's section of sandbox templates {_ELSEWHERE}",
    ("FleetConfigModel", "loadBalancers"): f"a document's section of load balancers {_ELSEWHERE}",
    ("FleetConfigModel", "flavors"): "flavors stand in a pool, under policy.substrate.flavors",
    ("ClusterModel", "adopt"): f"adopting a cluster {_LATER}: give cluster.create, or leave the pool out",
    ("FlavorModel", "diskType"): "EKS node groups have no disk type: leave diskType out (diskGiB can be chosen)",
    ("FlavorModel", "autoscaling"): f"autoscaling {_LATER}: give nodes alone",
    ("FlavorModel", "nodeCount"): "a flavor's count is called nodes",
    ("FlavorModel", "accelerators"): "a flavor's accelerators are called gpus",
}
"""(model, key) -> why a known word is refused: a better answer than "unknown key"."""
