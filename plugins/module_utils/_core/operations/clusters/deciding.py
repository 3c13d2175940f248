# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What becomes of clusters that a caller wants: pure decisions from what is recorded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice

from ...model.errors import Code, OperationError, Problem
from ...model.ids import ClusterId, TenantId, new_cluster_id
from ...model.records import AccountRecord, ClusterRecord, NodePoolRecord, PoolRecord
from ...model.states import ClusterMode, ClusterState
from ..node_pools.constraints import input_problems as node_pool_problems
from ..node_pools.deciding import NodePoolChange, Refusals, Standing, Wish
from ..node_pools.deciding import decide as decide_node_pools
from ..node_pools.wanted import WantedNodePool
from .constraints import change_problems, input_problems, lacking, new_problems, problems_of
from .wanted import WantedCluster

_NOT_YET = ClusterId("")
"""Instead of the id of a cluster that is refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What stands for a wanted cluster.

    Attributes:
        cluster: the tenant's own of that name or id, or the one behind its `pool`; None where there is none.
        account: what `cluster` stands on, else the one that is wanted; None where that is not said.
        node_pools: the cluster's that are not deleted, by name.
        taken: whether somebody's cluster has the wanted name at the wanted place.
    """

    cluster: ClusterRecord | None
    pool: PoolRecord | None
    account: AccountRecord | None
    node_pools: Mapping[str, NodePoolRecord]
    taken: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterChange:
    """What becomes of one wanted cluster.

    Attributes:
        before: as it is recorded; None for one that is not there.
        after: as it is recorded then; None for one that is not there and is not to be.
        node_pools: what becomes of the node pools that are wanted on it.
        repeated: whether the request was done before, by its idempotency key: `after` is what it led to.
    """

    wanted: WantedCluster
    place: Place
    before: ClusterRecord | None
    after: ClusterRecord | None
    node_pools: tuple[NodePoolChange, ...] = ()
    repeated: bool = False

    @property
    def changed(self) -> bool:
        """Whether there is anything to record."""
        return self.before != self.after

    @property
    def name(self) -> str:
        """The cluster's name."""
        known = self.after or self.before
        return self.wanted.name if known is None else known.name


@dataclass(frozen=True, slots=True, kw_only=True)
class ClustersPlan:
    """What a call does, one entry for each wanted cluster, in their order."""

    entries: tuple[ClusterChange, ...]

    @property
    def changes(self) -> tuple[ClusterChange, ...]:
        """The entries that there is something to record for."""
        return tuple(entry for entry in self.entries if entry.changed)

    @property
    def makes_any(self) -> bool:
        """Whether it records a cluster that was not there."""
        return any(entry.before is None and entry.after is not None for entry in self.entries)


def decide(
    wanted: Sequence[tuple[WantedCluster, Place]],
    *,
    tenant_id: TenantId,
    wish: Wish,
    repeated: Mapping[int, ClusterRecord],
    refusals: Refusals,
    now: datetime,
) -> ClustersPlan:
    """The changes that a call stands for.

    Arguments:
        wanted: each with what stands for it.
        repeated: by index, what a request with the same idempotency key led to before.
        refusals: what stands against the call already.

    Raises:
        InvalidInput, OperationError: see :class:`Refusals`.
    """
    entries: list[ClusterChange] = []
    refusals.problems += _said_twice([one for one, _place in wanted], wish=wish)
    for index, (one, place) in enumerate(wanted):
        if index in repeated:
            made = repeated[index]
            entries.append(ClusterChange(wanted=one, place=place, before=made, after=made, repeated=True))
            continue
        entry = _decide(one, place, tenant_id=tenant_id, wish=wish, refusals=refusals, now=now)
        if entry is not None:
            entries.append(entry)
        elif wish != Wish.ABSENT:
            for node_pool in _on(place.cluster, one.node_pools):
                refusals.problems += node_pool_problems(node_pool)
    return ClustersPlan(entries=tuple(_with_node_pools(entries, wish=wish, refusals=refusals, now=now)))


def _decide(
    one: WantedCluster, place: Place, *, tenant_id: TenantId, wish: Wish, refusals: Refusals, now: datetime
) -> ClusterChange | None:
    """What becomes of one cluster itself; None when something stands against it."""
    before = place.cluster
    new = wish == Wish.NEW or (wish == Wish.PRESENT and one.idempotency_key is not None)
    refusal = _refusal(one, place, wish=wish, new=new)
    if refusal is not None:
        refusals.add(refusal)
    if wish == Wish.ABSENT:
        after = before
        if before is not None and refusal is None and before.state != ClusterState.DELETING:
            after = replace(before, generation=before.generation + 1, state=ClusterState.DELETING)
        return None if refusal else ClusterChange(wanted=one, place=place, before=before, after=after)
    problems = input_problems(one)
    if not problems and before is None:
        problems = new_problems(one, place.account)
    elif not problems and before is not None and refusal is None:
        problems = change_problems(one, before, place.account)
    refusals.problems += problems
    if before is None and place.account is not None:
        for why in lacking(one, place.account):
            refusal = OperationError(Code.UNSUPPORTED, why)
            refusals.add(refusal)
    if problems or refusal is not None:
        return None
    after = _raised(one, before) if before else _created(one, place, tenant_id=tenant_id, now=now)
    return ClusterChange(wanted=one, place=place, before=before, after=after)


def _said_twice(wanted: Sequence[WantedCluster], *, wish: Wish) -> Iterator[Problem]:
    """Names, ids and idempotency keys that a call has twice."""
    seen: dict[tuple[str, str], str] = {}
    for one in wanted:
        key = None if wish == Wish.ABSENT else one.idempotency_key
        for field, value in (("name", one.name or None), ("cluster_id", one.cluster_id), ("idempotency_key", key)):
            if value is not None:
                first = seen.setdefault((field, value), one.path)
                if first != one.path:
                    yield from problems_of(one, [(field, f"{value[:60]!r} stands twice in the call, also at {first}")])


def _refusal(one: WantedCluster, place: Place, *, wish: Wish, new: bool) -> OperationError | None:
    """Why the cluster is not in a state for this."""
    before = place.cluster
    if before is None:
        if wish != Wish.ABSENT and place.taken and place.account is not None:
            there = f"on provider account {place.account.name} in {one.location}"
            return OperationError(Code.CONFLICT, f"the name {one.name!r} is taken {there}: take another one")
        return None
    what = f"cluster {before.name!r}"
    if before.substrate_pool_id is not None:
        whose = f"pool {place.pool.name!r}" if place.pool else "a pool"
        why = f"{what} is the one behind {whose}: change it in the FleetConfig document"
        if before.adopted:
            why = (
                f"{what} was adopted by {whose}: it is its owner's to change, upgrade or delete, and is only read here"
            )
        return OperationError(Code.CONFLICT if new else Code.INVALID_STATE, why)
    leaving = before.state == ClusterState.DELETING
    if new:
        free = ": its name is free when it is gone" if leaving else ""
        return OperationError(Code.CONFLICT, f"there is a {what} already{free}")
    if leaving and wish == Wish.PRESENT:
        return OperationError(Code.INVALID_STATE, f"{what} is being deleted: its name is free when it is gone")
    return None


def _created(one: WantedCluster, place: Place, *, tenant_id: TenantId, now: datetime) -> ClusterRecord:
    if place.account is None or one.location is None:
        raise AssertionError("a new cluster without an account or a location was refused")
    return ClusterRecord(
        id=new_cluster_id(now),
        tenant_id=tenant_id,
        account_id=place.account.id,
        substrate_pool_id=None,
        name=one.name,
        location=one.location,
        private_nodes=bool(one.private_nodes),
        version=one.version,
        mode=one.mode or ClusterMode.STANDARD,
        state=ClusterState.PENDING,
    )


def _raised(one: WantedCluster, before: ClusterRecord) -> ClusterRecord:
    if one.version is None or one.version == before.version:
        return before
    return replace(before, version=one.version, generation=before.generation + 1, state=before.state.after_a_change)


def _with_node_pools(
    entries: Sequence[ClusterChange], *, wish: Wish, refusals: Refusals, now: datetime
) -> Iterator[ClusterChange]:
    """The entries with what becomes of their node pools; whatever stands against the call ends it here."""
    found: list[tuple[WantedNodePool, Standing]] = []
    counts = []
    for entry in entries:
        on_it: list[tuple[WantedNodePool, Standing]] = []
        if entry.after is not None and wish != Wish.ABSENT and not entry.repeated:
            place = entry.place
            standing = Standing(
                pool=None, cluster=entry.after, account=place.account, node_pools=dict(place.node_pools)
            )
            on_it = [(one, standing) for one in _on(entry.after, entry.wanted.node_pools)]
        counts.append(len(on_it))
        found += on_it
    decided = iter(decide_node_pools(found, wish=Wish.PRESENT, repeated={}, refusals=refusals, now=now).entries)
    for entry, count in zip(entries, counts, strict=True):
        node_pools = tuple(islice(decided, count))
        yield replace(entry, node_pools=node_pools, after=_moved(entry, node_pools))


def _on(cluster: ClusterRecord | None, node_pools: Sequence[WantedNodePool]) -> Iterator[WantedNodePool]:
    """The node pools as wanted on this cluster; one that is refused may have none yet to name."""
    for node_pool in node_pools:
        yield replace(node_pool, cluster_id=cluster.id if cluster else _NOT_YET)


def _moved(entry: ClusterChange, node_pools: Sequence[NodePoolChange]) -> ClusterRecord | None:
    """The cluster, on its way where its node pools change although it does not."""
    before, after = entry.before, entry.after
    if before is None or after != before or not any(change.changed for change in node_pools):
        return after
    return replace(before, generation=before.generation + 1, state=before.state.after_a_change)
