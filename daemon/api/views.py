# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the API gives back: operations' plain values in camelCase, null where there is none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.spelling import camel
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import (
    ClusterMode,
    ClusterState,
    NodePoolState,
    SubstrateState,
)

from .parts import Accelerators, Autoscaling, Taint

Message = Annotated[
    str | None,
    BeforeValidator(lambda text: text or None),
    Field(description="What to fix or wait for; null for nothing."),
]


class View(BaseModel):
    """How every answer is. An error of its making does not repeat what it is made of: it may be a secret."""

    model_config = ConfigDict(extra="ignore", frozen=True, alias_generator=camel, hide_input_in_errors=True)

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Self:
        """An answer from operations' data, which is in snake_case and may have more."""
        return cls.model_validate(data, by_alias=False, by_name=True)


class NodePool(View):
    """A node pool."""

    id: str
    cluster_id: str
    name: Annotated[str, Field(description="Also its name at the provider.")]
    machine_type: str
    node_count: Annotated[int, Field(description="Nodes per zone; at DigitalOcean in all.")]
    autoscaling: Autoscaling | None
    spot: bool
    disk_gib: Annotated[int | None, Field(alias="diskGiB")]
    disk_type: str | None
    accelerators: Accelerators | None
    zones: list[str]
    labels: dict[str, str]
    taints: list[Taint]
    flavor: Annotated[bool, Field(description="Whether it is a flavor of a pool: then the document alone changes it.")]
    state: NodePoolState
    message: Message
    version: Annotated[int, Field(description="Raised by every accepted change; begins at 1.")]


class NodePools(View):
    """Node pools."""

    node_pools: list[NodePool]


class Cluster(View):
    """A cluster."""

    id: str
    tenant_id: str
    name: Annotated[str, Field(description="Also its name at the provider.")]
    substrate_pool_id: Annotated[str | None, Field(description="The pool that it backs; null for a tenant's own.")]
    pool: Annotated[str | None, Field(description="That pool's name.")]
    provider_account_id: str
    account: Annotated[str, Field(description="The provider account's name.")]
    provider: str
    location: str
    mode: ClusterMode
    adopted: bool
    private_nodes: Annotated[bool | None, Field(description="Null for an adopted one: its owner knows.")]
    version: Annotated[str | None, Field(description="The Kubernetes version that is wanted; null for any.")]
    running_version: str | None
    endpoint: Annotated[str | None, Field(description="Of its Kubernetes API.")]
    global_id: Annotated[str | None, Field(description="What the provider calls it, whichever account asks.")]
    state: ClusterState
    message: Message
    node_pools: list[NodePool]


class Clusters(View):
    """Clusters."""

    clusters: list[Cluster]


class Credentials(View):
    """A way into a cluster."""

    cluster_id: str
    subject: str
    account: Annotated[str, Field(description="The subject's service account in the cluster.")]
    namespaces: list[str]
    endpoint: Annotated[str, Field(description="Of the cluster's Kubernetes API.")]
    ca_pem: Annotated[str, Field(description="The certificate that signs it, PEM.")]
    token: Annotated[str, Field(repr=False, description="A secret. It is told here and recorded nowhere.")]
    expires_at: Annotated[str, Field(json_schema_extra={"format": "date-time"})]


class Revoked(View):
    """What became of a subject's access."""

    cluster_id: str
    subject: str
    revoked: Annotated[bool, Field(description="Whether it had any.")]


class Waiting(View):
    """Nodes that have not joined."""

    nodes: int
    since: Annotated[str | None, Field(json_schema_extra={"format": "date-time"})]


class Upgrade(View):
    """An upgrade that waits for bookings to end."""

    version: str
    since: Annotated[str | None, Field(json_schema_extra={"format": "date-time"})]


class Substrate(View):
    """What stands behind a pool."""

    pool_id: str
    tenant_id: str
    provider_account_id: str
    mode: Annotated[str, Field(json_schema_extra={"enum": ["create", "adopt"]})]
    cluster_id: str
    state: SubstrateState
    message: Message
    nodes_listed: int
    nodes_joined: int
    waiting_to_join: Waiting | None
    upgrade: Upgrade | None


class Problem(View):
    """One thing that is wrong with a request."""

    path: Annotated[str, Field(description="Where, e.g. `taints[0].effect`; empty for the whole.")]
    message: str
