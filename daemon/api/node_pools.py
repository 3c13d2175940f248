# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubernetesNodePools: create, list, update and delete (spec)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents import patterns
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.closed import CLOSED
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.flavor_model import LABELS_SCHEMA
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model import declared, limits
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import Code, Problem
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import (
    ClusterId,
    NodePoolId,
    TenantId,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.node_pools import calls
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.node_pools.constraints import (
    input_problems,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.node_pools.telling import to_data
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.node_pools.wanted import (
    FIXED_SIZE,
    WantedNodePool,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import Session

from .bodies import Body, ClusterIdText, Key, NodePoolIdText, text
from .call import READ, UPDATE, Call
from .parts import Accelerators, Autoscaling, Taint
from .views import NodePool, NodePools, View

Count = Annotated[int, Field(ge=0, le=limits.MOST_NODES, description="Nodes per zone; at DigitalOcean in all.")]
Zone = Annotated[str, Field(pattern=patterns.PLACE)]


class NodePoolFields(BaseModel):
    """A node pool as it is to be."""

    model_config = CLOSED
    name: Annotated[
        str,
        text(
            limits.NODE_POOL_NAME,
            "Unique among the cluster's node pools that are not deleted; also its name at the provider.",
            most=40,
        ),
    ]
    machine_type: Annotated[
        str, text(limits.MACHINE_TYPE, "The provider's name of the machine: e2-standard-4.", most=63)
    ]
    node_count: Count
    autoscaling: Autoscaling | None = Field(default=None, description="Bounds that nodeCount lies in; left out, fixed.")
    disk_gib: Annotated[int, Field(ge=limits.LEAST_DISK_GIB, le=limits.MOST_DISK_GIB)] | None = Field(
        default=None, alias="diskGiB", description="Each node's disk in GiB; left out, the provider's choice."
    )
    disk_type: Annotated[str, Field(pattern=limits.DISK_TYPE)] | None = Field(
        default=None, description="GKE alone: the kind of disk, e.g. pd-balanced."
    )
    spot: bool = Field(default=False, description="Spot machines: the provider may take them back at any time.")
    accelerators: Accelerators | None = None
    zones: Annotated[list[Zone], Field(max_length=limits.MOST_ZONES)] | None = Field(
        default=None, description="Of the cluster's region and of the account; left out, all of them."
    )
    labels: dict[str, str] | None = Field(
        default=None, description="Kubernetes labels of the nodes.", json_schema_extra=LABELS_SCHEMA
    )
    taints: list[Taint] | None = Field(
        default=None,
        description="Kubernetes taints of the nodes.",
        json_schema_extra={"maxItems": limits.MOST_TAINTS},
    )

    def wanted(self, **where: Any) -> WantedNodePool:
        """The same, for operations."""
        taints = None if self.taints is None else tuple(declared.Taint(**one.model_dump()) for one in self.taints)
        return WantedNodePool(
            name=self.name,
            machine_type=self.machine_type,
            node_count=self.node_count,
            autoscaling=_bounds(self.autoscaling),
            spot=self.spot,
            disk_gib=self.disk_gib,
            disk_type=self.disk_type,
            accelerators=None if self.accelerators is None else declared.Gpus(**self.accelerators.model_dump()),
            zones=None if self.zones is None else tuple(self.zones),
            labels=self.labels,
            taints=taints,
            **where,
        )


class OfCluster(Body):
    """What names a cluster."""

    cluster_id: ClusterIdText

    @property
    def cluster(self) -> ClusterId:
        """The cluster's id; of a body that has none, an empty one."""
        return ClusterId(self.cluster_id or "")


class CreateNodePool(NodePoolFields, OfCluster):
    """A node pool to add."""

    idempotency_key: Key | None = None

    @property
    def asked(self) -> WantedNodePool:
        """What operations are asked for."""
        return self.wanted(cluster_id=self.cluster, idempotency_key=self.idempotency_key)

    def problems(self) -> Iterable[Problem]:
        """As operations find them."""
        return input_problems(self.asked)


class ListNodePools(OfCluster):
    """Whose node pools."""


class OneNodePool(OfCluster):
    """Which node pool."""

    node_pool_id: NodePoolIdText


def _bounds(given: Autoscaling | None) -> declared.Autoscaling | None:
    return None if given is None else declared.Autoscaling(**given.model_dump())


def _or_null(schema: dict[str, Any]) -> None:
    schema["oneOf"] = schema.pop("anyOf")


class UpdateNodePool(OneNodePool):
    """A resize: at least one of nodeCount and autoscaling."""

    model_config = ConfigDict(
        **CLOSED, json_schema_extra={"anyOf": [{"required": ["nodeCount"]}, {"required": ["autoscaling"]}]}
    )
    takes_null: ClassVar[frozenset[str]] = frozenset({"autoscaling"})

    node_count: Count | None = None
    autoscaling: Autoscaling | None = Field(
        default=None, description="Null turns it off; left out, it stays.", json_schema_extra=_or_null
    )

    @property
    def asked(self) -> WantedNodePool:
        """What operations are asked for."""
        turned_off = self.autoscaling is None and "autoscaling" in self.model_fields_set
        return WantedNodePool(
            node_pool_id=NodePoolId(self.node_pool_id or ""),
            cluster_id=self.cluster,
            node_count=self.node_count,
            autoscaling=FIXED_SIZE if turned_off else _bounds(self.autoscaling),
        )

    def problems(self) -> Iterable[Problem]:
        """As operations find them."""
        asked = self.asked
        return [
            *calls.resize_problems(node_count=asked.node_count, autoscaling=asked.autoscaling),
            *input_problems(asked),
        ]


def _create(session: Session, body: CreateNodePool) -> View:
    record = calls.create_node_pool(session, tenant_id=TenantId(body.tenant_id), wanted=body.asked)
    return NodePool.of(to_data(record))


def _list(session: Session, body: ListNodePools) -> View:
    records = calls.list_node_pools(session, tenant_id=TenantId(body.tenant_id), cluster_id=body.cluster)
    return NodePools.of({"node_pools": [to_data(record) for record in records]})


def _update(session: Session, body: UpdateNodePool) -> View:
    asked = body.asked
    record = calls.update_node_pool(
        session,
        tenant_id=TenantId(body.tenant_id),
        cluster_id=body.cluster,
        node_pool_id=NodePoolId(body.node_pool_id),
        node_count=asked.node_count,
        autoscaling=asked.autoscaling,
    )
    return NodePool.of(to_data(record))


def _delete(session: Session, body: OneNodePool) -> View:
    record = calls.delete_node_pool(
        session,
        tenant_id=TenantId(body.tenant_id),
        cluster_id=body.cluster,
        node_pool_id=NodePoolId(body.node_pool_id),
    )
    return NodePool.of(to_data(record))


_WHERE = {"tenantId": "platform", "clusterId": "kcl_01kbb6z6h7aam2zqmyq60b4qdt"}
_WHICH = {**_WHERE, "nodePoolId": "knp_01kbb6z6h7t3pq8xrd41h1jv0e"}

CALLS = (
    Call(
        resource="kubernetesNodePools",
        method="create",
        summary="Add a node pool to a standard cluster that is not being deleted. It is returned pending.",
        permission=UPDATE,
        takes=CreateNodePool,
        gives=NodePool,
        does=_create,
        codes=(Code.NOT_FOUND, Code.CONFLICT, Code.INVALID_STATE, Code.QUOTA_EXCEEDED),
        example={
            **_WHERE,
            "name": "system",
            "machineType": "m7i.large",
            "nodeCount": 2,
            "autoscaling": {"minNodes": 1, "maxNodes": 4},
            "labels": {"team": "ml"},
            "idempotencyKey": "system-1",
        },
    ),
    Call(
        resource="kubernetesNodePools",
        method="list",
        summary="The cluster's node pools that are not deleted, by name.",
        permission=READ,
        takes=ListNodePools,
        gives=NodePools,
        does=_list,
        codes=(Code.NOT_FOUND,),
        example=_WHERE,
    ),
    Call(
        resource="kubernetesNodePools",
        method="update",
        summary="Resize a node pool in place. It is returned updating, its version raised.",
        permission=UPDATE,
        takes=UpdateNodePool,
        gives=NodePool,
        does=_update,
        codes=(Code.NOT_FOUND, Code.INVALID_STATE, Code.QUOTA_EXCEEDED),
        example={**_WHICH, "nodeCount": 3, "autoscaling": None},
    ),
    Call(
        resource="kubernetesNodePools",
        method="delete",
        summary="Mark a node pool for deletion. It is returned deleting; one that is being deleted, unchanged.",
        permission=UPDATE,
        takes=OneNodePool,
        gives=NodePool,
        does=_delete,
        codes=(Code.NOT_FOUND, Code.INVALID_STATE),
        example=_WHICH,
    ),
)
