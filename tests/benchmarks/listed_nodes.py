# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes as an EKS cluster lists them, whole or their metadata only, with what kubelets and controllers write there."""

from __future__ import annotations

import json
from typing import Any, Final

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model import labels
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import PoolId

PAGE_NODES: Final = 500
"""As many as the product asks for at once."""

_IMAGES: Final = 20
_CONDITIONS: Final = ("MemoryPressure", "DiskPressure", "PIDPressure", "Ready")
_AT: Final = "2026-11-01T12:00:00Z"


class ListedNodes:
    """The pages of one pool's Nodes, made once; each call gives the same bytes."""

    def __init__(self, pool_id: PoolId, node_pools: dict[str, int]) -> None:
        """Make them. Arguments: node_pools: how many Nodes each node pool has."""
        self.names = [f"ip-10-0-{n // 250}-{n % 250}.ec2.internal" for n in range(sum(node_pools.values()))]
        of = [name for name, count in node_pools.items() for _node in range(count)]
        nodes = [_node(name, pool_id, node_pool) for name, node_pool in zip(self.names, of, strict=True)]
        self._pages = {
            whole: [_page(nodes, first, whole=whole) for first in range(0, len(nodes), PAGE_NODES)]
            for whole in (True, False)
        }

    def page(self, accept: str, more: str) -> bytes:
        """One page: for the Accept header, and the continuation."""
        return self._pages["PartialObjectMetadataList" not in accept][int(more or 0)]


def _page(nodes: list[dict[str, Any]], first: int, *, whole: bool) -> bytes:
    here = nodes[first : first + PAGE_NODES]
    more = {"continue": str(first // PAGE_NODES + 1)} if first + PAGE_NODES < len(nodes) else {}
    kind = {"kind": "NodeList", "apiVersion": "v1"}
    if not whole:
        partial = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1"}
        kind = {"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1"}
        here = [{**partial, "metadata": node["metadata"]} for node in here]
    return json.dumps({**kind, "metadata": {"resourceVersion": "1234567", **more}, "items": here}).encode()


def _node(name: str, pool_id: PoolId, node_pool: str) -> dict[str, Any]:
    amounts = {"cpu": "192", "memory": "2097152Mi", "pods": "110", "nvidia.com/gpu": "8", "ephemeral-storage": "500Gi"}
    return {
        "metadata": {
            "name": name,
            "uid": f"uid-of-{name}",
            "resourceVersion": "1234567",
            "creationTimestamp": _AT,
            "labels": {
                "beta.kubernetes.io/arch": "amd64",
                "beta.kubernetes.io/os": "linux",
                "eks.amazonaws.com/capacityType": "ON_DEMAND",
                "eks.amazonaws.com/nodegroup": node_pool,
                "eks.amazonaws.com/nodegroup-image": "ami-00000000000000000",
                "kubernetes.io/arch": "amd64",
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
                "node.kubernetes.io/instance-type": "p5.48xlarge",
                "topology.kubernetes.io/region": "us-east-1",
                "topology.kubernetes.io/zone": "us-east-1a",
                labels.SUBSTRATE_POOL: str(pool_id),
            },
            "annotations": {
                "alpha.kubernetes.io/provided-node-ip": "10.0.0.1",
                "csi.volume.kubernetes.io/nodeid": '{"ebs.csi.aws.com":"i-00000000000000000"}',
                "node.alpha.kubernetes.io/ttl": "0",
                "volumes.kubernetes.io/controller-managed-attach-detach": "true",
            },
            "managedFields": [_managed(manager) for manager in ("kubelet", "kube-controller-manager", "aws-cloud")],
        },
        "spec": {"providerID": f"aws:///us-east-1a/{name}", "taints": [{"key": "gpu", "effect": "NoSchedule"}]},
        "status": {
            "capacity": amounts,
            "allocatable": amounts,
            "conditions": [
                {
                    "type": kind,
                    "status": "True" if kind == "Ready" else "False",
                    "reason": "KubeletReady",
                    "message": "kubelet is posting ready status",
                    "lastHeartbeatTime": _AT,
                    "lastTransitionTime": _AT,
                }
                for kind in _CONDITIONS
            ],
            "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}, {"type": "Hostname", "address": name}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
            "nodeInfo": {
                "machineID": "ec2",
                "systemUUID": "ec2",
                "bootID": "b",
                "kernelVersion": "6.12",
                "osImage": "Amazon Linux 2023",
                "containerRuntimeVersion": "containerd://2.1",
                "kubeletVersion": "v1.34.1",
                "kubeProxyVersion": "v1.34.1",
                "operatingSystem": "linux",
                "architecture": "amd64",
            },
            "images": [
                {"names": [f"registry.example/image-{number}:1"], "sizeBytes": 123456789} for number in range(_IMAGES)
            ],
        },
    }


def _managed(manager: str) -> dict[str, Any]:
    fields: dict[str, Any] = {f"f:{manager}.example/field-{number}": {} for number in range(15)}
    return {
        "manager": manager,
        "operation": "Update",
        "apiVersion": "v1",
        "time": _AT,
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:metadata": {"f:labels": {".": {}, **fields}}},
    }
