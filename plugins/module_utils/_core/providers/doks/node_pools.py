# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""DOKS node pools: created, changed and deleted in a cluster that was just read. They come with the cluster's read."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping, Sequence

from ...model.errors import AlreadyExists, InUse, InvalidRequest, NotFound
from ...model.labels import CLUSTER
from ...model.observed import NodeBounds, ObservedNodePool
from ...model.states import ProviderStatus
from ..contract import ClusterSpec, Deletion, NodePoolSpec
from ..differences import told
from ..ownership import is_ours
from . import device_plugins, taints
from .api import Api
from .calls import Calls
from .comparison import create_body, differences, update_body
from .health import failure
from .naming import Data, Ours, age, find_ours, is_going, state_of
from .settings import DoksSettings
from .sizes import check_size, gpus_of, sizes_offered
from .tags import from_tags, to_tags

_OF_CLUSTER = {
    "provisioning": ProviderStatus.CREATING,
    "upgrading": ProviderStatus.UPDATING,
    "deleting": ProviderStatus.DELETING,
    "deleted": ProviderStatus.DELETING,
}
"""What a cluster's state makes of its node pools, which have none of their own."""

_KIND = "node pool"


def find(cluster: Data, *, name: str, marks: Mapping[str, str]) -> Ours | None:
    """The node pool in a cluster that was read; None when there is none.

    Raises:
        AlreadyExists: it is not ours, or ours was given another name, which shows as long as a node of before is there.
    """
    pools = cluster["node_pools"] or ()
    found = find_ours(pools, name=name, marks=marks, kind=_KIND)
    ours = (pool for pool in pools if is_ours(tags=from_tags(pool.get("tags") or ()), wanted=marks))
    renamed = next((pool for pool in ours if pool["name"] != name and _was_called(pool, name)), None)
    if not found and renamed:
        raise AlreadyExists(f"node pool {renamed['name']!r} was made as {name!r}: give it that name again")
    return found


def _was_called(pool: Data, name: str) -> bool:
    """Whether a node has the name: nodes are called `<node pool>-<5 characters>`, and keep that through a rename."""
    return any(node["name"].rpartition("-")[0] == name for node in pool.get("nodes") or ())


def one_of_each_name(cluster: Data, spec: ClusterSpec) -> tuple[list[Data], frozenset[str]]:
    """The cluster's node pools, of several of one name the one that is ours; and the names that there are more of."""
    by_name: dict[str, list[Data]] = {}
    for pool in cluster["node_pools"] or ():
        by_name.setdefault(pool["name"], []).append(pool)
    mark = {key: value for key, value in spec.tags.items() if key == CLUSTER}

    def rank(pool: Data) -> tuple[object, ...]:
        return (not is_ours(tags=from_tags(pool.get("tags") or ()), wanted=mark), *age(pool))

    chosen = [min(pools, key=rank) for pools in by_name.values()]
    return chosen, frozenset(name for name, pools in by_name.items() if len(pools) > 1)


def check_creatable(spec: NodePoolSpec, settings: DoksSettings) -> None:
    """Raises InvalidRequest for what DOKS will never make. Nothing is asked for that."""
    if spec.bounds is None and spec.nodes < 1:
        raise InvalidRequest(
            f"node pool {spec.name!r} is to have no nodes: DOKS takes that only with autoscaling from 0, so that a "
            "fixed-size one has at least one node"
        )
    if spec.spot and not (settings.allow_spot and settings.previews):
        raise InvalidRequest(
            f"node pool {spec.name!r} is to be Spot, a preview: its account needs allowSpot and previews"
        )
    chosen = {"zones": spec.places, "diskGiB": spec.disk_gib, "diskType": spec.disk_type}
    refused = [path for path, value in chosen.items() if value]
    if refused:
        raise InvalidRequest(f"node pool {spec.name!r}: DOKS leaves no choice of {', '.join(refused)}")
    gpus = gpus_of(spec.machine_type)
    if spec.gpus_per_node and gpus is not None and gpus != spec.gpus_per_node:
        raise InvalidRequest(
            f"node pool {spec.name!r}: machine type {spec.machine_type} has {gpus or 'no'} GPUs, and not "
            f"{spec.gpus_per_node}"
        )


def check_makeable(call: Calls, api: Api, specs: Sequence[NodePoolSpec], settings: DoksSettings) -> None:
    """Raises InvalidRequest where DOKS will never make one of them, to begin a cluster with."""
    offered = sizes_offered(call, api.kubernetes)
    for spec in specs:
        check_creatable(spec, settings)
        check_size(spec, offered)


def as_created(spec: NodePoolSpec) -> Data:
    """What makes the node pool, alone or together with its cluster."""
    return create_body(spec, tags=to_tags(spec.tags))


def create(call: Calls, api: Api, cluster: Data, spec: NodePoolSpec) -> ObservedNodePool | None:
    """Create the node pool; None when DOKS says that there is one of that name by now.

    Raises:
        InvalidRequest: DOKS does not offer such nodes, or gives GPUs to pods itself on this cluster.
    """
    device_plugins.refuse_beside(cluster, spec)
    check_size(spec, sizes_offered(call, api.kubernetes))
    try:
        reply = call(api.kubernetes.add_node_pool, cluster["id"], as_created(spec))
    except AlreadyExists:
        return None
    return observe(reply["node_pool"], cluster)


def refuse_another_shape(spec: NodePoolSpec, observed: ObservedNodePool) -> None:
    """Raises InvalidRequest where compare() finds what cannot be changed, AlreadyExists where it is not ours."""
    if not is_ours(tags=observed.tags, wanted=spec.tags):
        raise AlreadyExists(f"a node pool {spec.name!r} that was not made for this pool exists at DigitalOcean")
    fixed = [item for item in differences(spec, observed) if not item.in_place]
    if fixed:
        raise InvalidRequest(f"node pool {spec.name!r} cannot change its {told(fixed)}: DOKS keeps these for life")


def change(
    call: Calls, api: Api, cluster: Data, spec: NodePoolSpec, found: Ours, settings: DoksSettings
) -> ObservedNodePool:
    """Bring a node pool that was just read to what is wanted; delete what a create made twice.

    Nothing is sent when it is that, or when DOKS would not take it now. Its nodes' version is the cluster's.
    """
    for spare in found.spare:
        with contextlib.suppress(NotFound):
            call(api.kubernetes.delete_node_pool, cluster["id"], spare["id"])
    observed = observe(found.first, cluster)
    refuse_another_shape(spec, observed)
    busy = state_of(cluster) in _OF_CLUSTER or observed.status is ProviderStatus.DELETING
    if busy or not differences(spec, observed):
        return observed
    check_creatable(spec, settings)
    body = update_body(spec, observed, found.first)
    reply = call(api.kubernetes.update_node_pool, cluster["id"], found.first["id"], body)
    return dataclasses.replace(observe(reply["node_pool"], cluster), status=ProviderStatus.UPDATING)


def delete(call: Calls, api: Api, cluster: Data, found: Ours) -> Deletion:
    """Delete the node pool, and whatever else of its name carries our marks.

    Raises:
        InUse: it is the cluster's last one, and DOKS does not give it up: it goes with the cluster.
    """
    going = {found.first["id"], *(spare["id"] for spare in found.spare)}
    last = all(pool["id"] in going or is_going(pool) for pool in cluster["node_pools"])
    if state_of(cluster) == "deleting":
        return Deletion.UNDER_WAY
    for pool in (found.first, *found.spare):
        if is_going(pool):
            continue
        try:
            call(api.kubernetes.delete_node_pool, cluster["id"], pool["id"])
        except NotFound:
            continue
        except InvalidRequest as refused:
            if last:
                raise InUse(f"{refused}; the last node pool goes with its cluster") from None
            raise
    return Deletion.UNDER_WAY


def observe(pool: Data, cluster: Data) -> ObservedNodePool:
    """DOKS's description in the contract's words."""
    scaled = bool(pool.get("auto_scale"))
    return ObservedNodePool(
        name=pool["name"],
        status=_status(pool, cluster),
        machine_type=pool["size"],
        nodes=pool["count"],
        spot=bool(pool.get("spot")),
        disk_gib=None,
        labels=pool.get("labels") or {},
        tags=from_tags(pool.get("tags") or ()),
        bounds=NodeBounds(least=pool["min_nodes"], most=pool["max_nodes"]) if scaled else None,
        taints=taints.from_doks(pool.get("taints")),
        version=cluster["version"],
        failure=failure(pool, cluster),
    )


def _status(pool: Data, cluster: Data) -> ProviderStatus:
    """Ready is as many nodes as there are to be, all of them running. A state that is new to us means: wait."""
    whole = _OF_CLUSTER.get(state_of(cluster))
    if whole:
        return whole
    if is_going(pool):
        return ProviderStatus.DELETING
    states = [state_of(node) for node in pool.get("nodes") or ()]
    if len(states) == pool["count"] and all(state == "running" for state in states):
        return ProviderStatus.ACTIVE
    return ProviderStatus.UPDATING if "running" in states else ProviderStatus.CREATING
