# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What requests change on a cluster's node pools: pure, from what is wanted and what stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from ...model.capabilities import CAPABILITIES, MAX_NODE_POOLS
from ...model.declared import Flavor
from ...model.errors import Code, InvalidInput, OperationError, Problem
from ...model.ids import new_node_pool_id
from ...model.records import AccountRecord, ClusterRecord, NodePoolRecord, PoolRecord
from ...model.states import ClusterMode, ClusterState, Intent, NodePoolState
from .constraints import (
    all_problems,
    change_problems,
    new_problems,
    problems_of,
    resized,
    size_problems,
)
from .wanted import WantedNodePool


class Wish(StrEnum):
    """What a caller asks of node pools: to be there, to be made, not to be there."""

    PRESENT = "present"
    NEW = "new"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A cluster and what stands on it.

    Attributes:
        pool: the one that the cluster backs; None for a tenant's own cluster.
        node_pools: those that are not deleted, by name.
    """

    pool: PoolRecord | None
    cluster: ClusterRecord
    account: AccountRecord | None
    node_pools: Mapping[str, NodePoolRecord]

    @property
    def leaving(self) -> bool:
        """Whether the cluster is being deleted."""
        torn_down = self.pool is not None and self.pool.intent == Intent.TEAR_DOWN
        return torn_down or self.cluster.state == ClusterState.DELETING

    @property
    def owner(self) -> str:
        """The cluster's pool, else the cluster itself, for a person."""
        return f"cluster {self.cluster.name!r}" if self.pool is None else f"pool {self.pool.name!r}"

    @property
    def title(self) -> str:
        """The cluster, for a person."""
        return self.owner if self.pool is None else f"the cluster of {self.owner}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePoolChange:
    """What becomes of one wanted node pool.

    Attributes:
        before: as it is recorded; None for one that is not there.
        after: as it is recorded then; None for one that is not there and is not to be.
        repeated: whether the request was done before, by its idempotency key: `after` is what it led to.
    """

    wanted: WantedNodePool
    standing: Standing
    before: NodePoolRecord | None
    after: NodePoolRecord | None
    repeated: bool = False

    @property
    def changed(self) -> bool:
        """Whether there is anything to record."""
        return self.before != self.after

    @property
    def sized(self) -> bool:
        """Whether the count is asked for anew."""
        return self.before is None or self.after is None or self.before.shape.nodes != self.after.shape.nodes


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePoolsPlan:
    """What a call does, one entry for each wanted node pool, in their order."""

    entries: tuple[NodePoolChange, ...]

    @property
    def changes(self) -> tuple[NodePoolChange, ...]:
        """The entries that there is something to record for."""
        return tuple(entry for entry in self.entries if entry.changed)


@dataclass(slots=True)
class Refusals:
    """What stands against a call; all of one kind are told at once."""

    problems: list[Problem] = field(default_factory=list)
    others: list[tuple[Code, str]] = field(default_factory=list)

    def add(self, error: OperationError) -> None:
        """Take an error that was raised for one of the node pools."""
        self.others.append((error.code, str(error)))

    def raise_any(self) -> None:
        """End here if anything stands against the call.

        Raises:
            InvalidInput: every problem.
            OperationError: else the first refusal, with all others of its code.
        """
        if self.problems:
            raise InvalidInput(self.problems)
        if self.others:
            code = self.others[0][0]
            told = dict.fromkeys(message for other, message in self.others if other == code)
            raise OperationError(code, "\n".join(told))


def decide(
    wanted: Sequence[tuple[WantedNodePool, Standing]],
    *,
    wish: Wish,
    repeated: Mapping[int, NodePoolRecord],
    refusals: Refusals,
    now: datetime,
) -> NodePoolsPlan:
    """The changes that a call stands for.

    Arguments:
        wanted: each with the cluster that it names.
        repeated: by index, what a request with the same idempotency key led to before.
        refusals: what stands against the call already.

    Raises:
        InvalidInput, OperationError: see :class:`Refusals`.
    """
    entries = []
    refusals.problems += _said_twice(wanted, wish=wish)
    for index, (one, standing) in enumerate(wanted):
        if index in repeated:
            made = repeated[index]
            entries.append(NodePoolChange(wanted=one, standing=standing, before=made, after=made, repeated=True))
            continue
        entry = _decide(one, standing, wish=wish, refusals=refusals, now=now)
        if entry is not None:
            entries.append(entry)
    plan = NodePoolsPlan(entries=tuple(entries))
    refusals.raise_any()
    for code, message in (*_too_many(plan), *_too_large(plan)):
        refusals.others.append((code, message))
    refusals.raise_any()
    return plan


def _decide(
    one: WantedNodePool, standing: Standing, *, wish: Wish, refusals: Refusals, now: datetime
) -> NodePoolChange | None:
    """What becomes of one node pool; None when something stands against it."""
    before = standing.node_pools.get(one.name)
    new = wish == Wish.NEW or (wish == Wish.PRESENT and one.idempotency_key is not None)
    refusal = _refusal(standing, before, wish=wish, new=new)
    if refusal is not None:
        refusals.add(refusal)
    if wish == Wish.ABSENT:
        after = before
        if before is not None and before.state != NodePoolState.DELETING:
            after = _deleted(before)
        return NodePoolChange(wanted=one, standing=standing, before=before, after=after)
    problems = all_problems(one, standing.cluster, standing.account)
    sound = not problems
    if before is None:
        problems += new_problems(one)
    elif refusal is None:
        problems += change_problems(one, before)
        problems += size_problems(one, before) if sound else []
    refusals.problems += problems
    if problems or refusal is not None:
        return None
    after = _created(one, standing.cluster, now=now) if before is None else _resized(one, before)
    return NodePoolChange(wanted=one, standing=standing, before=before, after=after)


def _said_twice(wanted: Sequence[tuple[WantedNodePool, Standing]], *, wish: Wish) -> Iterator[Problem]:
    """Names and idempotency keys that a call has twice for one cluster."""
    seen: dict[tuple[str, str, str], str] = {}
    for one, standing in wanted:
        said = {"name": one.name, "idempotency_key": None if wish == Wish.ABSENT else one.idempotency_key}
        for key, value in said.items():
            if value is None:
                continue
            first = seen.setdefault((key, str(standing.cluster.id), value), one.path)
            if first != one.path:
                yield from problems_of(one, [(key, f"{value[:60]!r} stands twice in the call, also at {first}")])


def _refusal(standing: Standing, before: NodePoolRecord | None, *, wish: Wish, new: bool) -> OperationError | None:
    """Why the node pool, or its cluster, is not in a state for this."""
    if wish == Wish.ABSENT and before is not None and before.state == NodePoolState.DELETING:
        return None  # it is returned unchanged (spec), also while its cluster goes
    if standing.leaving:
        return OperationError(Code.INVALID_STATE, f"{standing.title} is being deleted")
    if before is None and wish != Wish.ABSENT and standing.cluster.mode == ClusterMode.AUTOPILOT:
        return OperationError(
            Code.INVALID_STATE,
            f"{standing.title} is an autopilot cluster: the provider runs its nodes, without node pools",
        )
    if before is None and wish != Wish.ABSENT and standing.cluster.adopted:
        return OperationError(
            Code.INVALID_STATE,
            f"{standing.title} was adopted: it gets the flavors of its pool alone, called bc-…, so that nothing of its "
            "owner's is taken over or left behind: add a flavor to the FleetConfig document",
        )
    if before is None:
        return None
    if before.of_flavor and not new:
        return OperationError(
            Code.INVALID_STATE,
            f"node pool {before.name!r} is a flavor of {standing.owner}: change it in the FleetConfig document",
        )
    if new:
        whose = f"flavor of {standing.owner}" if before.of_flavor else "node pool"
        free = ": its name is free when it is gone" if before.state == NodePoolState.DELETING else ""
        return OperationError(Code.CONFLICT, f"{standing.title} has a {whose} named {before.name!r} already{free}")
    if before.state == NodePoolState.DELETING and wish == Wish.PRESENT:
        return OperationError(
            Code.INVALID_STATE,
            f"node pool {before.name!r} of {standing.owner} is being deleted: its name is free when it is gone",
        )
    return None


def _created(one: WantedNodePool, cluster: ClusterRecord, *, now: datetime) -> NodePoolRecord:
    labels = None if one.labels is None else {key: str(value) for key, value in one.labels.items()}
    return NodePoolRecord(
        id=new_node_pool_id(now),
        cluster_id=cluster.id,
        name=one.name,
        shape=Flavor(
            name=one.name,
            machine_type=one.machine_type or "",
            nodes=one.node_count or 0,
            gpus=one.accelerators,
            spot=bool(one.spot),
            disk_gib=one.disk_gib,
            disk_type=one.disk_type,
            zones=tuple(sorted(set(one.zones or ()))),
            autoscaling=one.bounds,
            labels=labels,
            taints=None if one.taints is None else tuple(sorted(one.taints)),
        ),
        state=NodePoolState.PENDING,
        of_flavor=False,
    )


def _resized(one: WantedNodePool, before: NodePoolRecord) -> NodePoolRecord:
    nodes, autoscaling = resized(one, before.shape)
    if (nodes, autoscaling) == (before.shape.nodes, before.shape.autoscaling):
        return before
    shape = replace(before.shape, nodes=nodes, autoscaling=autoscaling)
    return replace(before, shape=shape, version=before.version + 1, state=NodePoolState.UPDATING)


def _deleted(before: NodePoolRecord) -> NodePoolRecord:
    return replace(before, version=before.version + 1, state=NodePoolState.DELETING)


def _too_many(plan: NodePoolsPlan) -> Iterator[tuple[Code, str]]:
    """Clusters that would have more node pools than one may; what is being deleted counts until it is deleted."""
    added: dict[str, int] = {}
    standings: dict[str, Standing] = {}
    for entry in plan.entries:
        if entry.before is None and entry.after is not None:
            cluster = str(entry.standing.cluster.id)
            standings[cluster] = entry.standing
            added[cluster] = added.get(cluster, 0) + 1
    for cluster, more in added.items():
        there = len(standings[cluster].node_pools)
        if there + more > MAX_NODE_POOLS:
            yield (
                Code.QUOTA_EXCEEDED,
                f"a cluster has at most {MAX_NODE_POOLS} node pools: on {standings[cluster].title} {there} are there, "
                f"{more} more wanted",
            )


def _too_large(plan: NodePoolsPlan) -> Iterator[tuple[Code, str]]:
    """Node pools that would have more nodes, over all their zones, than the provider allows one."""
    for entry in plan.changes:
        account, after = entry.standing.account, entry.after
        if account is None or after is None or after.state == NodePoolState.DELETING:
            continue
        can = CAPABILITIES[account.provider]
        zones = len(set(after.shape.zones) or set(account.zones or ())) if can.per_zone_counts else 1
        most = max(after.shape.nodes, after.shape.autoscaling.max_nodes if after.shape.autoscaling else 0)
        if most * zones > can.max_nodes_per_pool:
            yield (
                Code.QUOTA_EXCEEDED,
                f"node pool {after.name!r}: {most} nodes x {zones} zones = {most * zones}; a node pool has at most "
                f"{can.max_nodes_per_pool} nodes at {can.title}",
            )
