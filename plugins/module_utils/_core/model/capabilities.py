# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What each provider can and cannot do, as plain tables without an SDK, for planning and for refusals."""

from __future__ import annotations

from dataclasses import dataclass

MAX_NODE_POOLS = 10
"""Of one cluster, at every provider, those that are not deleted yet (spec: node-pools API, QUOTA_EXCEEDED)."""

_KUBERNETES_KEY_CHARACTERS = 253 + 1 + 63
"""Of a label's or taint's key: a DNS name, '/', and a name (Kubernetes, "Labels and Selectors")."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """One provider's abilities.

    Attributes:
        title: what people call its managed Kubernetes.
        spot: Spot node pools.
        cluster_needs_nodes: a cluster is created together with its first node pools, and never without one.
        zero_nodes: a fixed-size node pool may have no nodes.
        zones: node pools can be pinned to zones.
        private_nodes: `privateNodes` has a meaning.
        autopilot: clusters whose nodes the provider runs, without node pools.
        disk_size: the nodes' disk size can be chosen.
        disk_type: the nodes' disk type can be chosen.
        per_zone_counts: `nodes` counts per zone; else it is the total.
        cluster_zones: a cluster has zones of its own for node pools that name none, whatever zones its account names.
        empty_label_values: a Kubernetes label may have no value.
        max_mark_key: characters of a label's or taint's key.
        max_node_pool_name: characters of a node pool's name.
        max_nodes_per_pool: nodes of one node pool over all its zones.
        driver_folder: where NVIDIA's driver lies on a Node whose container runtime does not bring it into containers;
            None where that does.
    """

    title: str
    spot: bool
    cluster_needs_nodes: bool
    zero_nodes: bool
    zones: bool
    private_nodes: bool
    autopilot: bool
    disk_size: bool
    disk_type: bool
    per_zone_counts: bool
    cluster_zones: bool
    empty_label_values: bool
    max_mark_key: int
    max_node_pool_name: int
    max_nodes_per_pool: int
    driver_folder: str | None = None


CAPABILITIES: dict[str, Capabilities] = {
    # EKS: node group names at most 63 characters, 450 nodes a group (provider-behaviours: quotas); keys of labels and
    # taints at most 63 characters and no empty label value (the API's model: labelKey, taintKey, labelValue).
    "aws": Capabilities(
        title="EKS",
        spot=True,
        cluster_needs_nodes=False,
        zero_nodes=True,
        zones=True,
        private_nodes=True,
        autopilot=False,
        disk_size=True,
        disk_type=False,
        per_zone_counts=True,
        cluster_zones=False,
        empty_label_values=False,
        max_mark_key=63,
        max_node_pool_name=63,
        max_nodes_per_pool=450,
    ),
    # GKE: names at most 40 characters (provider-behaviours), 15,000 nodes a cluster (its quotas). The driver's folder
    # is the one that its own device plugin mounts (GoogleCloudPlatform/container-engine-accelerators, cmd/nvidia_gpu).
    "gcp": Capabilities(
        title="GKE",
        spot=True,
        cluster_needs_nodes=True,
        zero_nodes=True,
        zones=True,
        private_nodes=True,
        autopilot=True,
        disk_size=True,
        disk_type=True,
        per_zone_counts=True,
        cluster_zones=True,
        empty_label_values=True,
        max_mark_key=_KUBERNETES_KEY_CHARACTERS,
        max_node_pool_name=40,
        max_nodes_per_pool=15_000,
        driver_folder="/home/kubernetes/bin/nvidia",
    ),
    # DOKS: node pools are regional and take their size's disk, Spot is a preview (spec: provider differences). Its
    # longest name and largest node pool are not known: the node-pools API's own limits.
    "digitalocean": Capabilities(
        title="DOKS",
        spot=True,
        cluster_needs_nodes=True,
        zero_nodes=False,
        zones=False,
        private_nodes=False,
        autopilot=False,
        disk_size=False,
        disk_type=False,
        per_zone_counts=False,
        cluster_zones=False,
        empty_label_values=True,
        max_mark_key=_KUBERNETES_KEY_CHARACTERS,
        max_node_pool_name=40,
        max_nodes_per_pool=1000,
    ),
}
"""By the document's `provider`."""
