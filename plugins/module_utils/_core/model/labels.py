# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The labels, names and marks that stand at the providers, in clusters and on pool nodes."""

from __future__ import annotations

from .ids import ClusterId, PoolId

SUBSTRATE_POOL = "better-compute.dev/substrate-pool"
"""On every flavor's node pool, its Nodes, our objects in the cluster and our cluster's tags: the pool's id."""

CLUSTER = "better-compute.dev/cluster"
"""On a cluster's and node pool's provider-side tags: the `kcl_…` id of its row, which makes it ours."""

CAPACITY = "better-compute.dev/capacity"
"""On a Spot flavor's node pool and its Nodes: `spot`."""

SPOT = "spot"

TENANTS = "better-compute.dev/tenants"
"""On the namespaces of tenants in a cluster: `true`. Subjects write nowhere else (cluster/access_guard)."""

SUBJECT = "better-compute.dev/subject"
"""On a subject's service account: an annotation with its name. On its bindings: a label with the account's name."""

NODE_CAPACITY = "bc.dev/capacity"
"""System label on a matched pool node of a Spot flavor: `spot`."""


def node_labels(*, pool_id: PoolId | None, spot: bool) -> dict[str, str]:
    """The Kubernetes labels of a node pool: which pool it backs (if any) and whether it is Spot."""
    labels = {SUBSTRATE_POOL: str(pool_id)} if pool_id else {}
    if spot:
        labels[CAPACITY] = SPOT
    return labels


def owner_tags(*, cluster_id: ClusterId, pool_id: PoolId | None) -> dict[str, str]:
    """The provider-side tags by which a cluster or node pool is known to be ours."""
    tags = {CLUSTER: str(cluster_id)}
    if pool_id:
        tags[SUBSTRATE_POOL] = str(pool_id)
    return tags
