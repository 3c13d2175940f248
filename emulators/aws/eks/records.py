# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What EKS knows of clusters, node groups, access entries and updates, and how it describes them."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from ...neighbours import Machine
from ..account import ACCOUNT_ID, REGION

ADMIN_POLICY: Final = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"

CREATING: Final = "CREATING"
ACTIVE: Final = "ACTIVE"
UPDATING: Final = "UPDATING"
DELETING: Final = "DELETING"
CREATE_FAILED: Final = "CREATE_FAILED"
DELETE_FAILED: Final = "DELETE_FAILED"
DEGRADED: Final = "DEGRADED"
FAILED: Final = "FAILED"

IN_PROGRESS: Final = "InProgress"
SUCCESSFUL: Final = "Successful"

Document = dict[str, Any]
"""A JSON object as the API's model has it."""


@dataclass(slots=True, kw_only=True)
class Update:
    """An update of a cluster or a node group."""

    id: str
    type: str
    params: list[dict[str, str]]
    created_at: datetime
    status: str = IN_PROGRESS
    errors: list[Document] = field(default_factory=list)

    def describe(self) -> Document:
        """As the API's model has it."""
        return {
            "id": self.id,
            "status": self.status,
            "type": self.type,
            "params": self.params,
            "createdAt": self.created_at.timestamp(),
            "errors": self.errors,
        }


@dataclass(slots=True, kw_only=True)
class Instance:
    """An EC2 instance of a node group, made from the image of a release; `ready` once its Node is."""

    machine: Machine
    release: str
    ready: bool = False


@dataclass(slots=True, kw_only=True)
class NodeGroup:
    """A managed node group, its Auto Scaling group and its instances (by id, oldest first).

    Attributes:
        scaling: minSize, maxSize and desiredSize as EKS shows them.
        desired: the Auto Scaling group's own desired capacity, which EKS's desiredSize follows late.
        surge: how many instances more there are while the machines are being replaced.
        rolling_to: the release that new instances get while the machines are being replaced.
        seeks_capacity: whether a launch that found no capacity is going to be tried again.
    """

    name: str
    cluster: str
    uuid: str
    created_at: datetime
    modified_at: datetime
    version: str
    release: str
    node_role: str
    subnets: list[str]
    zones: tuple[str, ...]
    instance_types: list[str]
    ami_type: str
    capacity_type: str
    disk_gib: int
    scaling: dict[str, int]
    desired: int
    labels: dict[str, str]
    taints: list[dict[str, str]]
    update_config: Document
    tags: dict[str, str]
    surge: int = 0
    rolling_to: str | None = None
    seeks_capacity: bool = False
    status: str = CREATING
    issues: list[Document] = field(default_factory=list)
    instances: dict[str, Instance] = field(default_factory=dict)
    updates: dict[str, Update] = field(default_factory=dict)

    @property
    def arn(self) -> str:
        """Its ARN."""
        return f"arn:aws:eks:{REGION}:{ACCOUNT_ID}:nodegroup/{self.cluster}/{self.name}/{self.uuid}"

    @property
    def auto_scaling_group(self) -> str:
        """The name of its Auto Scaling group."""
        return f"eks-{self.name}-{self.uuid}"

    @property
    def spot(self) -> bool:
        """Whether its instances are Spot instances."""
        return self.capacity_type == "SPOT"

    @property
    def missing(self) -> int:
        """How many instances it wants and has not."""
        return self.desired + self.surge - len(self.instances)

    def check_created(self) -> None:
        """A group that is being created is ACTIVE once all its instances are there and their Nodes Ready."""
        if self.status == CREATING and not self.missing and all(i.ready for i in self.instances.values()):
            self.status = ACTIVE

    def describe(self) -> Document:
        """As the API's model has it."""
        return {
            "nodegroupName": self.name,
            "nodegroupArn": self.arn,
            "clusterName": self.cluster,
            "version": self.version,
            "releaseVersion": self.release,
            "createdAt": self.created_at.timestamp(),
            "modifiedAt": self.modified_at.timestamp(),
            "status": self.status,
            "capacityType": self.capacity_type,
            "scalingConfig": {
                "minSize": self.scaling["minSize"],
                "maxSize": self.scaling["maxSize"] + self.surge,
                "desiredSize": self.scaling["desiredSize"] + self.surge,
            },
            "instanceTypes": self.instance_types,
            "subnets": self.subnets,
            "amiType": self.ami_type,
            "nodeRole": self.node_role,
            "labels": self.labels,
            "taints": self.taints,
            "resources": {"autoScalingGroups": [{"name": self.auto_scaling_group}]},
            "diskSize": self.disk_gib,
            "health": {"issues": self.issues},
            "updateConfig": self.update_config,
            "tags": self.tags,
        }


@dataclass(slots=True, kw_only=True)
class AccessEntry:
    """Who may use a cluster's Kubernetes API, and as what. `policies` maps a policy's ARN to its scope and times."""

    cluster: str
    principal_arn: str
    uuid: str
    created_at: datetime
    modified_at: datetime
    type: str
    username: str
    groups: list[str]
    tags: dict[str, str]
    policies: dict[str, Document] = field(default_factory=dict)

    @property
    def arn(self) -> str:
        """Its ARN: kind and name of the principal are part of it."""
        kind, _slash, name = self.principal_arn.rpartition(":")[2].partition("/")
        return f"arn:aws:eks:{REGION}:{ACCOUNT_ID}:access-entry/{self.cluster}/{kind}/{ACCOUNT_ID}/{name}/{self.uuid}"

    @property
    def is_admin(self) -> bool:
        """Whether a policy makes the principal an administrator of the whole cluster."""
        policy = self.policies.get(ADMIN_POLICY)
        return policy is not None and policy["accessScope"]["type"] == "cluster"

    def describe(self) -> Document:
        """As the API's model has it."""
        return {
            "clusterName": self.cluster,
            "principalArn": self.principal_arn,
            "kubernetesGroups": self.groups,
            "accessEntryArn": self.arn,
            "createdAt": self.created_at.timestamp(),
            "modifiedAt": self.modified_at.timestamp(),
            "tags": self.tags,
            "username": self.username,
            "type": self.type,
        }


@dataclass(slots=True, kw_only=True)
class Cluster:
    """A cluster with everything in it.

    `hidden_admins` are principals with rights that no access entry shows: a creator in authentication mode CONFIG_MAP.
    """

    name: str
    uuid: str
    created_at: datetime
    version: str
    role_arn: str
    network: Document
    authentication_mode: str
    tags: dict[str, str]
    status: str = CREATING
    issues: list[Document] = field(default_factory=list)
    endpoint: str | None = None
    ca_pem: str = ""
    node_groups: dict[str, NodeGroup] = field(default_factory=dict)
    updates: dict[str, Update] = field(default_factory=dict)
    access_entries: dict[str, AccessEntry] = field(default_factory=dict)
    hidden_admins: set[str] = field(default_factory=set)

    @property
    def arn(self) -> str:
        """Its ARN: the global id."""
        return f"arn:aws:eks:{REGION}:{ACCOUNT_ID}:cluster/{self.name}"

    @property
    def running_update(self) -> Update | None:
        """The update that is going on, also while the status does not show it yet."""
        return next((update for update in self.updates.values() if update.status == IN_PROGRESS), None)

    def describe(self) -> Document:
        """As the API's model has it: no endpoint and no CA while it is being created."""
        document: Document = {
            "name": self.name,
            "arn": self.arn,
            "createdAt": self.created_at.timestamp(),
            "version": self.version,
            "roleArn": self.role_arn,
            "resourcesVpcConfig": self.network,
            "kubernetesNetworkConfig": {"serviceIpv4Cidr": "10.100.0.0/16", "ipFamily": "ipv4"},
            "logging": {"clusterLogging": []},
            "status": self.status,
            "certificateAuthority": {},
            "platformVersion": "eks.1",
            "tags": self.tags,
            "health": {"issues": self.issues},
            "accessConfig": {"authenticationMode": self.authentication_mode},
        }
        if self.endpoint is not None:
            document["endpoint"] = self.endpoint
            document["certificateAuthority"] = {"data": base64.b64encode(self.ca_pem.encode()).decode()}
        return document
