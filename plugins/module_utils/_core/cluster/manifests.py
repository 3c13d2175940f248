# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bcd's manifests: Namespace, ConfigMap, DaemonSet. Pure.

The contract with the container (agent/bcd reads exactly this): `bcd join` runs first and ends with 0 once the machine
has joined, `bcd run` serves. Both get the settings as environment from the ConfigMap (an empty value means "not set"),
the Node's name as BCD_NODE_NAME, their state in BCD_STATE_DIR on the host, and, once there is one, the join token as
the file BCD_JOIN_TOKEN_FILE: the Secret is mounted as optional, and the kubelet puts the file there and
replaces it while the container waits. `run` has it too: a machine that the gateway no longer knows joins again there.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from ..model import labels
from ..model.agent import AgentSettings
from ..model.ids import PoolId
from .names import AGENT, AGENT_NAMESPACE, JOIN_SECRET, JOIN_SECRET_KEY
from .objects import Manifest, identity

STATE_DIRECTORY = "/var/lib/bcd"
"""On the host and in the container: bcd's identity outlives its pods."""

JOIN_TOKEN_DIRECTORY = "/var/run/bcd/join"  # noqa: S105 -- where the token's file is mounted

DEVICE_PLUGIN_DIRECTORY = "/var/lib/kubelet/device-plugins"
"""Where the kubelet looks for device plugins: fixed in its API, v1beta1."""

DRIVER_DIRECTORY = "/usr/local/nvidia"
"""Where a container finds the driver of a Node whose runtime brings none: bcd's and CUDA's images look there."""

CONFIG_HASH = "better-compute.dev/config-hash"
"""On the pod template: environment is read at start, so changed settings must roll the pods."""

_APP = {"app.kubernetes.io/name": AGENT}
_MAX_UNAVAILABLE = "10%"
"""A node without bcd for a moment keeps its bookings; ten per cent at a time keeps the harm of a bad image small."""


def agent_manifests(*, pool_id: PoolId, agent: AgentSettings, driver_folder: str | None = None) -> tuple[Manifest, ...]:
    """Everything of bcd that is applied, in the order in which it has to be.

    Arguments:
        driver_folder: where NVIDIA's driver lies on the Nodes, when no container runtime brings it into containers.
    """
    settings = _settings(agent)
    namespace = identity("Namespace", AGENT_NAMESPACE, pool_id=pool_id)
    # Clusters may enforce a stricter Pod Security level by default; bcd's pods are privileged.
    namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] = "privileged"
    config = identity("ConfigMap", AGENT, pool_id=pool_id, namespace=AGENT_NAMESPACE) | {"data": settings}
    daemon_set = identity("DaemonSet", AGENT, pool_id=pool_id, namespace=AGENT_NAMESPACE) | {
        "spec": {
            "selector": {"matchLabels": _APP | {labels.SUBSTRATE_POOL: str(pool_id)}},
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": _MAX_UNAVAILABLE}},
            "template": {
                "metadata": {
                    "labels": _APP | {labels.SUBSTRATE_POOL: str(pool_id)},
                    "annotations": {CONFIG_HASH: _hash(settings)},
                },
                "spec": _pod(pool_id=pool_id, agent=agent, keys=sorted(settings), driver_folder=driver_folder),
            },
        }
    }
    return namespace, config, daemon_set


def _settings(agent: AgentSettings) -> dict[str, str]:
    """The ConfigMap's data. Every key is always there, so that an unset one is overwritten and not left behind."""
    return {
        "BCD_CONTROL_PLANE_URL": agent.control_plane_url or "",
        "BCD_GATEWAY_URL": agent.gateway_url,
        "BCD_PINS": ",".join(agent.pins),
        "BCD_RESOURCE_NAME": agent.resource_name,
    }


def _hash(settings: dict[str, str]) -> str:
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()


def _pod(*, pool_id: PoolId, agent: AgentSettings, keys: list[str], driver_folder: str | None) -> dict[str, Any]:
    environment: list[dict[str, Any]] = [
        {"name": key, "valueFrom": {"configMapKeyRef": {"name": AGENT, "key": key}}} for key in keys
    ]
    environment += [
        {"name": "BCD_NODE_NAME", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "spec.nodeName"}}},
        {"name": "BCD_STATE_DIR", "value": STATE_DIRECTORY},
        {"name": "BCD_JOIN_TOKEN_FILE", "value": f"{JOIN_TOKEN_DIRECTORY}/{JOIN_SECRET_KEY}"},
    ]
    devices, device_volumes = _devices(driver_folder)
    if driver_folder:
        environment.append({"name": "BCD_DRIVER_DIR", "value": driver_folder})
    state = {"name": "state", "mountPath": STATE_DIRECTORY}
    join = {"name": "join", "mountPath": JOIN_TOKEN_DIRECTORY, "readOnly": True}
    plugins = {"name": "device-plugins", "mountPath": DEVICE_PLUGIN_DIRECTORY}
    return {
        "nodeSelector": {labels.SUBSTRATE_POOL: str(pool_id)},
        "tolerations": [{"operator": "Exists"}],
        "runtimeClassName": agent.runtime_class,
        # bcd never calls the Kubernetes API: no credential for it on the machines.
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "initContainers": [_container("join", agent.image, environment, [state, join, *devices])],
        "containers": [_container("run", agent.image, environment, [state, join, plugins, *devices])],
        "volumes": [
            {"name": "state", "hostPath": {"path": STATE_DIRECTORY, "type": "DirectoryOrCreate"}},
            {"name": "device-plugins", "hostPath": {"path": DEVICE_PLUGIN_DIRECTORY, "type": "DirectoryOrCreate"}},
            {"name": "join", "secret": {"secretName": JOIN_SECRET, "optional": True, "defaultMode": 0o400}},
            *device_volumes,
        ],
    }


def _devices(driver_folder: str | None) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Mounts and volumes with which bcd sees the GPUs without help of the runtime.

    The device files too: the driver may be installed after bcd's container was made, and that has those from before.
    """
    if not driver_folder:
        return [], []
    return [
        {"name": "driver", "mountPath": DRIVER_DIRECTORY, "readOnly": True},
        {"name": "dev", "mountPath": "/dev"},
    ], [
        {"name": "driver", "hostPath": {"path": driver_folder, "type": "DirectoryOrCreate"}},
        {"name": "dev", "hostPath": {"path": "/dev", "type": "Directory"}},
    ]


def _container(
    command: str, image: str, environment: list[dict[str, Any]], mounts: list[dict[str, Any]]
) -> dict[str, Any]:
    """One container. Both see the GPUs: the join already carries the inventory, and NVML wants the host's devices."""
    return {
        "name": command,
        "image": image,
        "command": ["bcd", command],
        "env": environment,
        "volumeMounts": mounts,
        "resources": {"requests": {"cpu": "10m", "memory": "64Mi"}, "limits": {"memory": "256Mi"}},
        "securityContext": {"privileged": True, "runAsUser": 0, "readOnlyRootFilesystem": True},
    }
