# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The states that clusters, node pools, substrates, pool nodes and reservations go through."""

from __future__ import annotations

from enum import StrEnum


class ClusterState(StrEnum):
    """A cluster's state (spec: kubernetesClusters)."""

    PENDING = "pending"
    PROVISIONING = "provisioning"
    READY = "ready"
    UPDATING = "updating"
    DELETING = "deleting"
    DELETED = "deleted"
    ERROR = "error"

    @property
    def after_a_change(self) -> ClusterState:
        """The state once something else is wanted: one that never was there in full is on its way as before."""
        return self if self in (ClusterState.PENDING, ClusterState.PROVISIONING) else ClusterState.UPDATING


class ClusterMode(StrEnum):
    """How a cluster's nodes are run (spec: kubernetesClusters): by us in node pools, or by the provider (GKE)."""

    STANDARD = "standard"
    AUTOPILOT = "autopilot"


class NodePoolState(StrEnum):
    """A node pool's state (spec: kubernetesNodePools)."""

    PENDING = "pending"
    READY = "ready"
    UPDATING = "updating"
    DELETING = "deleting"
    DELETED = "deleted"
    ERROR = "error"


class SubstrateState(StrEnum):
    """A substrate's state (spec: kubernetesSubstrates.get)."""

    PENDING = "pending"
    PROVISIONING = "provisioning"
    READY = "ready"
    UPDATING = "updating"
    ERROR = "error"
    DELETING = "deleting"
    DELETED = "deleted"


class Intent(StrEnum):
    """What a pool's substrate is meant to do: chooses the tail of the substrate machine."""

    RUN = "run"
    TEAR_DOWN = "tear_down"


class NodeState(StrEnum):
    """A pool node's state. Bookings are placed on `matched` only; `cordoned` is our own mark, never Kubernetes'."""

    JOINED = "joined"
    MATCHED = "matched"
    CORDONED = "cordoned"
    RETIRED = "retired"


class ReservationState(StrEnum):
    """A reservation's state. `pending` holds no devices; `released` was given back; `preempted` was taken away."""

    PENDING = "pending"
    BOUND = "bound"
    RELEASED = "released"
    PREEMPTED = "preempted"


class ProviderStatus(StrEnum):
    """Where a provider says that a cluster or a node pool is, in one word for all providers."""

    CREATING = "creating"
    ACTIVE = "active"
    UPDATING = "updating"
    DELETING = "deleting"
    DEGRADED = "degraded"
    FAILED = "failed"
