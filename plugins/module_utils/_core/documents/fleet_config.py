# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""FleetConfig v1 as pydantic models: the shape of each part by itself, strict and closed.

What concerns two parts (references, duplicates, tenants) is in references.py. Field meanings are with
model.declared. Keys are camelCase; null is never a value: a key that is not wanted is left out. The descriptions go
into the JSON Schema, for editors.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from . import patterns
from .accounts import AwsAccountModel, DigitaloceanAccountModel, GcpAccountModel
from .closed import CLOSED
from .flavor_model import FlavorModel
from .pydantic_shim import BaseModel, ConfigDict, Field

Name = Annotated[str, Field(pattern=patterns.NAME)]
Tenant = Annotated[str, Field(pattern=patterns.TENANT)]
Place = Annotated[str, Field(pattern=patterns.PLACE)]

_MAX_QUOTA_GPUS = 1_000_000
"""No fleet has more; keeps sums far away from what a database's integer holds."""


class SiteModel(BaseModel):
    """A place that pools stand in."""

    model_config = CLOSED
    name: Name = Field(description="What pools refer to; unique among the document's sites.")
    kind: Literal["shared"] = Field(description="shared: machines of many tenants may stand there.")
    region: Place = Field(description="A label for people and for placing pools.")
    tenant_id: Tenant = Field(default="platform", description="The owner.")


class CreateModel(BaseModel):
    """A cluster to be made for the pool."""

    model_config = CLOSED
    location: Place = Field(description="On EKS and DOKS the account's region, on GKE a region or a zone.")
    private_nodes: bool = Field(default=False, description="Whether nodes reach the API server privately; not on DOKS.")
    version: Annotated[str, Field(pattern=patterns.KUBERNETES_VERSION)] | None = Field(
        default=None,
        description='The control plane\'s Kubernetes version, a string such as "1.34": raised in place, never lowered. '
        "Left out, the provider's, left alone.",
    )


_ONE_OF_THE_TWO: dict[str, Any] = {"oneOf": [{"required": ["create"]}, {"required": ["adopt"]}]}
"""For editors: the models alone would take both, or neither."""


class ClusterModel(BaseModel):
    """The cluster that backs the pool: made, or adopted."""

    model_config = CLOSED | ConfigDict(json_schema_extra=_ONE_OF_THE_TWO)
    create: CreateModel | None = Field(default=None, description="A cluster to be made for the pool.")
    adopt: str | None = Field(
        default=None,
        description="The id of a cluster that stands already: on GKE <location>/<name>, on EKS <region>/<name>, on "
        "DOKS its UUID. It is read, and never created, changed or deleted.",
    )


class SubstrateModel(BaseModel):
    """What backs the pool: an account, a cluster there, and its node shapes."""

    model_config = CLOSED
    kind: Literal["kubernetes"] = Field(description="kubernetes: a managed cluster.")
    account: Name = Field(description="A provider account of this document, of the pool's tenant.")
    cluster: ClusterModel = Field(description="The cluster that backs the pool.")
    flavors: Annotated[
        list[FlavorModel],
        Field(min_length=1, description="The node shapes: at most 10 on a cluster, those still to be deleted counted."),
    ]
    upgrades: Literal["manual", "drain"] = Field(
        default="manual",
        description="manual: nobody replaces running machines. drain: flavors follow the control plane's version, each "
        "once the bookings on its machines have ended.",
    )


class KubernetesPolicyModel(BaseModel):
    """Who looks after the nodes."""

    model_config = CLOSED
    platform_operated: bool = Field(
        default=False, description="Whether the platform, and not the tenant, looks after the nodes."
    )


class PolicyModel(BaseModel):
    """How the pool is run."""

    model_config = CLOSED
    kubernetes: KubernetesPolicyModel | None = Field(default=None, description="Who looks after the nodes.")
    substrate: SubstrateModel | None = Field(
        default=None, description="What backs the pool. A pool without it has no machines."
    )


class PoolModel(BaseModel):
    """A pool of GPUs."""

    model_config = CLOSED
    name: Name = Field(description="What reservations and quotas refer to; unique among the document's pools.")
    site: Name = Field(description="A site of this document.")
    class_: Literal["metal-host"] = Field(alias="class", description="metal-host: whole machines with their GPUs.")
    gpu_model: Annotated[str, Field(pattern=patterns.GPU_MODEL)] = Field(description="What tenants ask for: H100.")
    tenant_id: Tenant = Field(default="platform", description="The owner.")
    policy: PolicyModel | None = Field(default=None, description="How the pool is run.")


class QuotaModel(BaseModel):
    """How many GPUs of a pool a tenant may hold at once. No quota is no GPU."""

    model_config = CLOSED
    tenant_id: Tenant = Field(default="platform", description="Whose quota it is.")
    pool: Name = Field(description="A pool of this document.")
    gpus: Annotated[int, Field(ge=0, le=_MAX_QUOTA_GPUS)] = Field(description="GPUs that may be held at once.")


class FrameModel(BaseModel):
    """A document without what is in its sections: for a check of that entry by entry, with each entry's own model.

    Such a check needs no model of the whole document, which takes longer to build than all the others.
    """

    model_config = CLOSED
    schema_: str | None = Field(
        default=None,
        alias="$schema",
        description="Where this JSON Schema is, for editors: a path relative to the document, or a URL. Ignored.",
    )
    # Not Literal[1], which true and 1.0 would equal.
    version: Annotated[int, Field(ge=1, le=1)] = Field(description="The document's format: 1.")
    sites: list[Any] = Field(default=[])
    provider_accounts: list[Any] = Field(default=[])
    pools: list[Any] = Field(default=[])
    quotas: list[Any] = Field(default=[])


class FleetConfigModel(FrameModel):
    """A FleetConfig document, version 1: which GPU pools there are."""

    sites: list[SiteModel] = Field(default_factory=list, description="Places that pools stand in.")
    provider_accounts: list[
        Annotated[AwsAccountModel | GcpAccountModel | DigitaloceanAccountModel, Field(discriminator="provider")]
    ] = Field(default_factory=list, description="Where clusters are made.")
    pools: list[PoolModel] = Field(default_factory=list, description="Pools of GPUs.")
    quotas: list[QuotaModel] = Field(default_factory=list, description="How much of a pool tenants may hold.")


_ELSEWHERE = "belongs to another product of the platform and has no place here: take this section out"

REFUSED = {
    ("FrameModel", "offers"): f"a document's section of offers {_ELSEWHERE}",
    ("FrameModel", "sandboxTemplates"): f"a document's section of sandbox templates {_ELSEWHERE}",
    ("FrameModel", "loadBalancers"): f"a document's section of load balancers {_ELSEWHERE}",
    ("FrameModel", "flavors"): "flavors stand in a pool, under policy.substrate.flavors",
    ("FlavorModel", "nodeCount"): "a flavor's count is called nodes",
    ("FlavorModel", "accelerators"): "a flavor's accelerators are called gpus",
}
"""(model, key) -> why a known word is refused: a better answer than "unknown key"."""
