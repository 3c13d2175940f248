# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is recorded: the rows of the store as plain values.

Desired and observed are apart. Desired rows (site, account, pool, cluster, node pool) carry ``generation``, raised by
every accepted change; their status carries ``observed_generation``, the generation that was last seen converged.
Times are UTC with their time zone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from .declared import Flavor, Substrate
from .ids import (
    AccountId,
    ClusterId,
    EventId,
    NodeId,
    NodePoolId,
    PoolId,
    ReservationId,
    SiteId,
    TenantId,
    TokenId,
)
from .states import ClusterMode, ClusterState, Intent, NodePoolState, NodeState, ReservationState, SubstrateState


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteRecord:
    """A recorded site."""

    id: SiteId
    tenant_id: TenantId
    name: str
    kind: str
    region: str
    generation: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountRecord:
    """A recorded provider account.

    Attributes:
        places: what its nodes are put into (EKS: a subnet) -> the zone that it is in, read from the provider once; None
            until then.
    """

    id: AccountId
    tenant_id: TenantId
    name: str
    provider: str
    config: Mapping[str, Any]
    places: Mapping[str, str] | None = None
    generation: int = 1

    @property
    def zones(self) -> tuple[str, ...] | None:
        """The distinct zones its nodes are spread over, sorted: two subnets in one zone count once."""
        return None if self.places is None else tuple(sorted(set(self.places.values())))


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolRecord:
    """A recorded pool.

    Attributes:
        substrate: what the document last said of it. None when it declares none.
        intent: what the substrate machine is to do for this pool.
        archived_at: when the pool left the document with prune. Archived pools stay as rows; their names are free.
    """

    id: PoolId
    tenant_id: TenantId
    name: str
    site_id: SiteId
    class_: str
    gpu_model: str
    platform_operated: bool
    substrate: Substrate | None
    intent: Intent
    generation: int = 1
    archived_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterOutputs:
    """What a ready cluster says of itself.

    Attributes:
        endpoint: the Kubernetes API's URL.
        ca_pem: the certificate that signs it, PEM; empty where it comes with a credential only (DOKS).
        version: the control plane's version, e.g. `1.34`.
        location: where it is.
        node_version: the nodes' version where the provider has one for the cluster, else the control plane's.
        global_id: the provider-global id (EKS: the ARN); the same whichever account reads it.
        zones: those that node pools without their own are spread over, sorted, where the provider keeps such for a
            cluster (GKE); else empty.
    """

    endpoint: str
    ca_pem: str
    version: str
    location: str
    node_version: str
    global_id: str | None
    zones: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterRecord:
    """A recorded cluster: desired and status.

    Attributes:
        substrate_pool_id: the pool it backs; None for a tenant's own.
        name: its provider-side name, recorded before the first call; of an adopted one what its owner calls it (DOKS:
            its UUID).
        version: the control plane's version that is wanted; None leaves it to the provider.
        mode: `autopilot` clusters have no node pools of ours.
        adopted: it is somebody else's: read, and never created, changed or deleted.
        global_id: the provider-global id that this row claims, once it was read: one row that is not deleted has it
            (clusters.claim_global_id). None until then.
        delete_attempts: how often the provider refused to delete it; decides the next retry.
        ready_before: whether its control plane ever answered: one that did and is down now is waited for. Of an adopted
            one: whether its API let us in, so that something of ours may stand there.
    """

    id: ClusterId
    tenant_id: TenantId
    account_id: AccountId
    substrate_pool_id: PoolId | None
    name: str
    location: str
    private_nodes: bool
    version: str | None = None
    mode: ClusterMode = ClusterMode.STANDARD
    adopted: bool = False
    global_id: str | None = None
    state: ClusterState
    message: str = ""
    generation: int = 1
    observed_generation: int = 0
    outputs: ClusterOutputs | None = None
    ready_before: bool = False
    delete_attempts: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePoolRecord:
    """A recorded node pool of a cluster: desired and status.

    Attributes:
        name: its provider-side name.
        shape: machine type, GPUs, Spot, disk, zones, nodes per zone. For a substrate's it is the flavor.
        version: raised by every accepted change (spec); starts at 1.
        observed_version: the version that was last seen ready.
        sized_version: the version that `shape.nodes` was last asked for with: an autoscaler's count is left alone once
            that one was seen ready.
        update_id: the provider's name of the change that was sent last, to ask what became of it; None for none.
        last_update_at: when that was sent: a refused change is tried again at most once in five minutes.
        create_attempts: creates sent for this shape; grows only when a refused create is tried again.
        last_create_at: when the last create was sent: a stockout is retried at most once in five minutes.
        ever_joined: whether a node of it ever joined: then a failed group is never deleted and made again by itself.
        of_flavor: whether it is a flavor of the substrate (then only the document changes it) or was added by a caller.
    """

    id: NodePoolId
    cluster_id: ClusterId
    name: str
    shape: Flavor
    state: NodePoolState
    message: str = ""
    version: int = 1
    observed_version: int = 0
    sized_version: int = 1
    update_id: str | None = None
    last_update_at: datetime | None = None
    create_attempts: int = 0
    last_create_at: datetime | None = None
    ever_joined: bool = False
    of_flavor: bool = True

    @property
    def settled(self) -> bool:
        """Whether it is ready as it was wanted last."""
        return self.state == NodePoolState.READY and self.observed_version == self.version


@dataclass(frozen=True, slots=True, kw_only=True)
class SubstrateRecord:
    """A substrate's status: what kubernetesSubstrates.get returns, and the pass's own marks.

    Attributes:
        claim_held: whether this substrate ever held the cluster's claim. One that never did removes nothing.
        nodes_listed, nodes_joined: of the last complete list.
        waiting_nodes: listed Nodes without a joined bcd.
        waiting_since: since when none has joined; None when nobody waits.
        vanished_at: when a list first missed most Nodes at once: a second pass must confirm.
        upgrade_version, upgrade_since: the version that flavors wait to be brought to while bookings end, and since
            when; None while none waits.
    """

    pool_id: PoolId
    tenant_id: TenantId
    account_id: AccountId
    cluster_id: ClusterId
    mode: str
    state: SubstrateState
    message: str = ""
    observed_generation: int = 0
    claim_held: bool = False
    nodes_listed: int = 0
    nodes_joined: int = 0
    waiting_nodes: int = 0
    waiting_since: datetime | None = None
    vanished_at: datetime | None = None
    upgrade_version: str | None = None
    upgrade_since: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """One GPU that bcd reports.

    Attributes:
        id: the device's own id (an NVML UUID), at most 63 characters.
        model: e.g. `H100`.
    """

    id: str
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolNode:
    """A machine whose bcd joined.

    Attributes:
        identity_hash: SHA-256 of the secret that its bcd shows at each call.
        reported_node_name: `os.kubernetesNodeName` of its inventory; None from a bcd that does not know it.
        node_name, node_uid: the Kubernetes Node it was matched to; None until then.
        node_pool: the provider's name of the node pool that it is of; None until it is matched, or when nobody says.
        spot: whether that Node is of a Spot flavor.
        labels: system labels, e.g. `bc.dev/capacity=spot`.
        last_seen_at: its last heartbeat.
    """

    id: NodeId
    pool_id: PoolId
    state: NodeState
    hostname: str
    reported_node_name: str | None
    identity_hash: str = field(repr=False)
    devices: tuple[Device, ...]
    joined_at: datetime
    last_seen_at: datetime
    node_name: str | None = None
    node_uid: str | None = None
    node_pool: str | None = None
    spot: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeIdentity:
    """As much of a :class:`PoolNode` as says who calls."""

    id: NodeId
    pool_id: PoolId
    identity_hash: str = field(repr=False)
    last_seen_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinToken:
    """A hosted join token. The token itself is only in the cluster's Secret.

    Attributes:
        token_hash: SHA-256 of the token.
        max_uses: how many different machines may join with it, those included that did with the pool's other live ones.
        uses: how many did with it (counted from the use rows, not stored); see also join_tokens.lock_tokens.
    """

    id: TokenId
    pool_id: PoolId
    token_hash: str = field(repr=False)
    max_uses: int
    uses: int
    created_at: datetime
    expires_at: datetime
    revoked_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """A tenant's booking of GPUs in a pool.

    Attributes:
        gpus: how many GPUs, all on one node.
        spot: whether it may (and must) stand on a Spot node.
        node_id, device_ids: where it stands while bound.
    """

    id: ReservationId
    tenant_id: TenantId
    pool_id: PoolId
    gpus: int
    spot: bool
    binding: str
    state: ReservationState
    created_at: datetime
    node_id: NodeId | None = None
    device_ids: tuple[str, ...] = ()
    ended_at: datetime | None = None
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaRecord:
    """A recorded quota and what is used of it."""

    tenant_id: TenantId
    pool_id: PoolId
    gpus: int
    used: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that changed, told once.

    Attributes:
        subject: the id it is about.
        type: e.g. `kubernetes.cluster.ready`.
        data: a few plain values; never a secret.
    """

    id: EventId
    at: datetime
    tenant_id: TenantId
    subject: str
    type: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldEvent:
    """An event as it is read, with the pool that its cluster, node pool or node is in.

    Attributes:
        pool: its name. Empty, and `pool_id` None, where it is about a cluster that backs no pool.
    """

    event: Event
    pool_id: PoolId | None
    pool: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """A held lease on one unit (a pool, or a tenant's cluster without a pool).

    Attributes:
        unit: the pool's or cluster's id.
        fence: the fencing number: every write of the pass is guarded by it.
        until: when it lapses, on the store's clock.
    """

    unit: str
    holder: str
    fence: int
    until: datetime
