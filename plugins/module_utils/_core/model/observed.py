# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What providers and clusters are seen to hold, in words that fit all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from .declared import Gpus, Taint
from .errors import ProviderError
from .records import ClusterOutputs
from .secret import Secret
from .states import ProviderStatus

_SERVING = (ProviderStatus.ACTIVE, ProviderStatus.UPDATING, ProviderStatus.DEGRADED)
"""Statuses in which a control plane answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedCluster:
    """A cluster as its provider describes it.

    Attributes:
        message: the provider's own reason, when it gives one.
        outputs: present once the control plane has an endpoint.
        private_nodes: as the provider has it.
    """

    name: str
    status: ProviderStatus
    message: str
    outputs: ClusterOutputs | None
    private_nodes: bool
    tags: Mapping[str, str]

    @property
    def serves(self) -> bool:
        """Whether its control plane can be relied on to answer."""
        return self.status in _SERVING and self.outputs is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeBounds:
    """Between which totals, over all zones, a node pool's size may be moved.

    Attributes:
        least: 0 and up.
        most: at least `least`.
    """

    least: int
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One field in which a node pool at the provider is not as it is wanted.

    Attributes:
        path: as the document spells a flavor's field, e.g. `autoscaling.minNodes`, `labels`, `machineType`; a total
            over all zones is `totalNodes`.
        held, wanted: plain JSON values.
        in_place: whether the provider can change it; else only another node pool has it.
    """

    path: str
    held: Any
    wanted: Any
    in_place: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedNodePool:
    """A node pool as its provider describes it.

    Attributes:
        nodes: the total size that the provider is asked to hold, over all zones.
        bounds: between which it may be moved; None where the provider has none for it.
        places: what its machines are put into (EKS: subnets; else zones).
        disk_type, gpus: of each machine; None for none, and where the provider does not say (EKS).
        image: the provider's name of the kind of machine image.
        version: its nodes' Kubernetes version, empty where the provider does not say.
        update_id: of the change that the driver just sent for it: see NodePoolRecord.update_id.
        failure: the provider's reason, typed (StockedOut, ProviderQuotaExceeded, …), when it failed or is degraded.
        labels: the Kubernetes labels of its Nodes.
        tags: the provider-side tags by which it is known to be ours.
    """

    name: str
    status: ProviderStatus
    machine_type: str
    nodes: int
    spot: bool
    disk_gib: int | None
    labels: Mapping[str, str]
    tags: Mapping[str, str]
    bounds: NodeBounds | None = None
    taints: tuple[Taint, ...] = ()
    places: frozenset[str] = frozenset()
    disk_type: str | None = None
    gpus: Gpus | None = None
    image: str = ""
    version: str = ""
    update_id: str | None = None
    failure: ProviderError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapAccess:
    """The provider's own way into a cluster's Kubernetes API: only the bootstrap, never what a pass works with.

    Attributes:
        endpoint: the API's URL.
        ca_pem: the certificate that signs it, PEM.
        token: the provider's bearer token.
        expires_at: when it ends.
    """

    endpoint: str
    ca_pem: str
    token: Secret = field(repr=False)
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterNode:
    """A Kubernetes Node that carries our label.

    Attributes:
        node_pool: the provider's name of its node pool, None where the Node does not say.
        zone: its topology zone, None where it has none.
        age: for how long it had been registered when it was listed, both by the cluster's clock, which may not be ours;
            None where that is not told.
    """

    name: str
    uid: str
    spot: bool
    node_pool: str | None = None
    zone: str | None = None
    age: timedelta | None = None
