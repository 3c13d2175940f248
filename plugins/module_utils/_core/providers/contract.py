# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a provider's driver promises: the public door for the author of a fourth driver.

Rules for every method:

- One thing a call, and no sleeping: waiting is the pass's business. An operation in progress is a status, not an error,
  where the method can return one; a call that cannot be made because of it raises OperationInProgress.
- Safe to repeat, at any time, by several processes at once, and after a reply that was lost: the driver finds what it
  made by the recorded name and our tags, and makes nothing twice.
- A resource of the wanted name without our tags is a stranger's: AlreadyExists, and it is never changed or deleted.
- A cluster's location is where the account can make one; any other is InvalidRequest, and nothing is sent.
- Errors are ProviderErrors, typed by what the caller should do, each with the provider's own message. Throttling is
  retried inside with jitter and within a budget of a few seconds, then becomes Throttled. A time-out or a broken
  connection is Unavailable: the effect may have happened.
- A status or a kind of failure that the driver does not know yet means: wait, or tell the owner; never: gone.
- No secret in an error's text, in a repr or in a log.
- Safe to share between threads, and cheap to keep: opening a driver may look for credentials.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from ..model.capabilities import Capabilities
from ..model.declared import Taint
from ..model.observed import BootstrapAccess, Difference, NodeBounds, ObservedCluster, ObservedNodePool
from ..model.states import ClusterMode


class Deletion(StrEnum):
    """How far a deletion is. `GONE` only when the provider itself said that there is no such resource."""

    UNDER_WAY = "under_way"
    GONE = "gone"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSpec:
    """The cluster as it should be.

    Attributes:
        name: its provider-side name, recorded before the first call.
        location: the provider's name of the place.
        private_nodes, version: see declared.CreateCluster.
        tags: the owner's marks (labels.owner_tags): what carries them all is ours.
        mode: AUTOPILOT only where `capabilities.autopilot`; it never changes, and such a cluster needs no `first`.
        adopted: it is somebody else's, and `name` is what they call it (DOKS: its UUID will do). It is read whatever
            marks it carries, and node pools of ours are made in it; it is never created, changed or deleted:
            ensure_cluster, delete_cluster and grant_access raise AlreadyExists, and send nothing.
    """

    name: str
    location: str
    private_nodes: bool
    tags: Mapping[str, str]
    version: str | None = None
    mode: ClusterMode = ClusterMode.STANDARD
    adopted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePoolSpec:
    """A node pool as it should be.

    Attributes:
        nodes: the total size over all its zones.
        bounds: within which the cluster's autoscaler moves the size, totals too; None for a fixed size.
        keep_count: with `bounds`: the size is left where it stands within them. False brings it to `nodes` once.
        places: what it is spread over, sorted: all or some of what node_places gives. Empty where that gives none: the
            cluster's own zones, and `nodes` and `bounds` count for each of them.
        disk_gib: GiB, or None to leave it to the provider.
        disk_type: None to leave it to the provider.
        gpus_per_node: 0 for a node pool without GPUs: decides the machine image where a provider wants one.
        gpu_type: the account's name for the accelerator, where its machine type does not say it (GKE wants it always).
        labels: the Kubernetes labels of its Nodes: our own and the declared ones.
        labels_declared: whether `labels` are all there are to be; else others are left alone.
        taints: all there are to be, sorted; None leaves them alone.
        tags: the owner's marks.
        version: its nodes' Kubernetes version, to which those of an older one are replaced; None leaves it alone. A new
            node pool begins with the control plane's.
        update_id: what the driver gave for the change that it sent last: a change that is still not there is asked
            about before it is sent again. None to send it whatever became of the last one.
        attempt: the number of the create, from 0: part of the provider's idempotency token, so that a create whose
            reply was lost is recognised and a create that was refused can be tried anew.
    """

    name: str
    machine_type: str
    nodes: int
    places: tuple[str, ...]
    spot: bool
    disk_gib: int | None
    gpus_per_node: int
    labels: Mapping[str, str]
    tags: Mapping[str, str]
    gpu_type: str | None = None
    bounds: NodeBounds | None = None
    keep_count: bool = False
    disk_type: str | None = None
    labels_declared: bool = False
    taints: tuple[Taint, ...] | None = None
    version: str | None = None
    update_id: str | None = None
    attempt: int = 0


class Driver(Protocol):
    """Managed Kubernetes at one provider, through one account."""

    @property
    def capabilities(self) -> Capabilities:
        """What the provider can do, from model.capabilities."""

    def node_places(self) -> Mapping[str, str]:
        """What a node pool without zones of its own is spread over (EKS: the account's subnets) -> its zone. One read.

        Raises:
            InvalidRequest: what the account names (e.g. a subnet) does not exist; the text says which.
        """

    def ensure_cluster(self, spec: ClusterSpec, first: tuple[NodePoolSpec, ...] = ()) -> ObservedCluster:
        """Read the cluster, and create it if there is none. Returns at once, usually with status CREATING.

        One read where it is as wanted. A cluster that exists is returned as it is, whatever its status: failed ones
        too. One that could take a change and is older than `spec.version` is upgraded, by one step that the provider
        allows, and returned as UPDATING; the next call takes the next step. It is never made older (planning refuses
        that; a version that the provider raised by itself stays), and nothing else of it changes.

        Arguments:
            first: node pools that are created in the same call where the provider makes no cluster without nodes
                (`capabilities.cluster_needs_nodes`). Of no effect elsewhere, and on a cluster that is there: what is
                missing then is ensure_node_pool's. One of them that gets no machines does not lose the cluster. A
                create that is refused because of one of them makes nothing: the pass tries each alone.

        Raises:
            AlreadyExists: a cluster of that name is not ours.
            NeedsNodes: there is no cluster, the provider makes none without nodes, and `first` is empty; nothing was
                sent.
            OperationInProgress: the provider still holds the name of a cluster that it no longer shows.
            ProviderQuotaExceeded, PermissionDenied, InvalidRequest, …: the create or the upgrade was refused, or the
                provider gave the upgrade up a while ago. The cluster serves as before: get_cluster reads it.
        """

    def get_cluster(self, spec: ClusterSpec) -> ObservedCluster | None:
        """Read the cluster: None when the provider says there is none.

        Raises:
            AlreadyExists: a cluster of that name is not ours.
        """

    def delete_cluster(self, spec: ClusterSpec) -> Deletion:
        """Read, then delete if it is there and ours. Deleting what is being deleted is UNDER_WAY.

        Raises:
            InUse: the provider still wants something else gone first.
            OperationInProgress: the provider is busy with it.
            AlreadyExists: a cluster of that name is not ours: it is left alone.
        """

    def get_node_pools(self, cluster: ClusterSpec) -> tuple[ObservedNodePool, ...]:
        """All node pools of the cluster, ours and others', paged through to the end; one read for each.

        The list is complete or an error. A node pool that goes while the others are read may be missing.

        Raises:
            NotFound: there is no such cluster.
        """

    def compare(self, spec: NodePoolSpec, observed: ObservedNodePool) -> tuple[Difference, ...]:
        """In what a node pool is not as it is wanted: what ensure_node_pool would change, or refuse. No call.

        Every field that `spec` gives is compared, as a set where order means nothing; what it leaves open is not. Of
        sets only what differs is in the difference. Labels that are ours or reserved are never too many. The version is
        none of it: ensure_node_pool sees to that.
        """

    def ensure_node_pool(
        self, cluster: ClusterSpec, spec: NodePoolSpec, observed: ObservedNodePool | None
    ) -> ObservedNodePool:
        """Create the node pool, or change what compare() finds and can be changed, sending only what differs.

        One change a call: its size, bounds, labels and taints, else one step towards `spec.version`, never beyond the
        control plane's. The shape never changes. Nothing is sent, and `observed` returned, where the provider would not
        take a change now: while it is being created, changed or deleted, and when it has failed. The pass decides what
        to do about a failed one. A change that was sent before (`spec.update_id`) and is under way means UPDATING; one
        that the provider gave up is raised, and is sent again by a call without its id.

        Arguments:
            observed: what get_node_pools just said of it; None when it was not there.

        Returns:
            The node pool after the call, e.g. CREATING, UPDATING, or as it was when nothing had to be sent. Its size
            is compared again on the next pass: one that was found although `observed` is None may have another.

        Raises:
            AlreadyExists: a node pool of that name is not ours.
            NotFound: there is no such cluster.
            InvalidRequest: compare() finds what cannot be changed (machine type, Spot, disk, …); nothing was sent.
            OperationInProgress, StockedOut, ProviderQuotaExceeded, …: also for a change that the provider took and then
                gave up, of which `spec.update_id` tells.
        """

    def delete_node_pool(self, cluster: ClusterSpec, name: str, tags: Mapping[str, str]) -> Deletion:
        """Read, then delete if it is there and carries `tags`. GONE too when there is no such cluster.

        Raises:
            AlreadyExists: a node pool of that name is not ours: it is left alone.
            InUse: it is the cluster's last one, and the provider gives it up with the cluster only.
            OperationInProgress: the provider is busy with it.
            InUse: the provider does not give it up while its cluster stands: it goes with that (DOKS: the last one).
        """

    def bootstrap_access(self, cluster: ObservedCluster) -> BootstrapAccess:
        """The provider's own credential for the cluster's API. No provider call where one can be avoided.

        Raises:
            InvalidRequest: the cluster has no endpoint yet.
        """

    def grant_access(self, cluster: ClusterSpec) -> None:
        """Make this account's principal an administrator of a cluster that we created. Called when the API refused it.

        EKS: an access entry and AmazonEKSClusterAdminPolicy; an assumed role by its role's ARN. It may take the
        provider some seconds until the API knows of it.

        Raises:
            NotFound: there is no such cluster.
            AlreadyExists: the cluster is not ours: nobody is made its administrator.
            InvalidRequest: the provider cannot name such a principal.
        """

    def check_adopted(self, cluster: ClusterSpec, wanted: Sequence[NodePoolSpec]) -> None:
        """Look whether an adopted cluster is as it must be for these node pools, before anything of ours is in it.

        What can be seen from the provider only: a way in is asked of the cluster itself. Reads only.

        Raises:
            InvalidRequest: what its owner must change there, and how.
        """

    def access_needed(self, cluster: ClusterSpec) -> str:
        """What a person does so that the account may administer an adopted cluster: asked when its API refused us.

        A sentence that begins small, with the principal's name and the command where there is one. Reads only.
        """

    def revoke_access(self, cluster: ClusterSpec) -> None:
        """Take back what grant_access made for this principal: what carries our tags. What others made stays.

        Does nothing when there is nothing, or no such cluster.
        """
