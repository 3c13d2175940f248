# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pure end of a pass: from what its steps said to the states, the message and the next due time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from ..model.observed import ObservedCluster
from ..model.records import ClusterRecord, NodePoolRecord, SubstrateRecord
from ..model.states import ClusterState, NodePoolState, ProviderStatus, SubstrateState
from .outcome import Outcome, Progress
from .timing import JOIN_PATIENCE, Intervals

MESSAGE_SEPARATOR = "; "
"""Between two things that a message says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a pass writes back.

    Attributes:
        cluster, substrate: the rows with their new states.
        next_in: when the pool wants its next pass.
    """

    cluster: ClusterRecord
    substrate: SubstrateRecord
    next_in: timedelta


def judge_run(
    *,
    cluster: ClusterRecord,
    node_pools: Sequence[NodePoolRecord],
    substrate: SubstrateRecord,
    observed: ObservedCluster | None,
    outcomes: Sequence[Outcome],
    agent_applied: bool,
    generation: int,
    standing_nodes: int,
    now: datetime,
    intervals: Intervals,
    agent_place: str,
) -> Verdict:
    """The verdict on a pass of a substrate that is to run.

    A substrate is ready once bcd is applied and nothing is on its way, whether or not its Nodes have joined.

    Arguments:
        outcomes: of the steps in their order; the first is the control plane's.
        generation: of the pool, as this pass saw it.
        standing_nodes: Nodes that the flavors' ready node pools stand for.
        agent_place: where bcd's DaemonSet stands, as `namespace/name`, for the message about Nodes that do not join.
    """
    cluster = judge_cluster(cluster, node_pools, observed, outcomes[0])
    substrate = _judge_substrate(substrate, outcomes, generation if agent_applied else None)
    substrate = with_waiting_message(substrate, now, agent_place=agent_place)
    joining = substrate.waiting_nodes > 0 or substrate.nodes_listed < standing_nodes
    moving = any(outcome.moving for outcome in outcomes)
    settled = substrate.state in (SubstrateState.READY, SubstrateState.ERROR) and not joining and not moving
    next_in = _soonest(outcomes, intervals.settled if settled else intervals.converging)
    return Verdict(cluster=cluster, substrate=substrate, next_in=next_in)


def _judge_substrate(substrate: SubstrateRecord, outcomes: Sequence[Outcome], seen: int | None) -> SubstrateRecord:
    """The substrate's state. `seen` is the pool's generation when bcd stands as it should, else None."""
    failures = _messages(outcomes, Progress.FAILED)
    waits = _messages(outcomes, Progress.WAITING)
    doubts = _messages(outcomes, Progress.UNKNOWN)
    if failures:
        return replace(substrate, state=SubstrateState.ERROR, message=MESSAGE_SEPARATOR.join(failures))
    if not waits and seen is not None and (not doubts or substrate.observed_generation == seen):
        return replace(
            substrate, state=SubstrateState.READY, message=MESSAGE_SEPARATOR.join(doubts), observed_generation=seen
        )
    if not waits and doubts and substrate.state == SubstrateState.READY:
        return replace(substrate, message=MESSAGE_SEPARATOR.join(doubts))
    state = SubstrateState.UPDATING if substrate.observed_generation else SubstrateState.PROVISIONING
    return replace(substrate, state=state, message=MESSAGE_SEPARATOR.join([*waits, *doubts]))


def _messages(outcomes: Sequence[Outcome], progress: Progress) -> list[str]:
    """What the steps say, each thing once."""
    return list(dict.fromkeys(outcome.message for outcome in outcomes if outcome.progress == progress))


def _soonest(outcomes: Sequence[Outcome], otherwise: timedelta) -> timedelta:
    """The earliest wish decides when to come again."""
    return min([otherwise, *(outcome.retry_after for outcome in outcomes if outcome.retry_after is not None)])


def judge_tear_down(
    *, cluster: ClusterRecord, substrate: SubstrateRecord, outcomes: Sequence[Outcome], wait: timedelta
) -> Verdict:
    """The verdict on a pass of a substrate that is torn down and not yet gone.

    One on an adopted cluster stays deleting whatever is refused: what is left of us there is never left unannounced.

    Arguments:
        wait: until the next look while nothing is refused; a refused delete brings its own, longer wait.
    """
    failures = [outcome for outcome in outcomes if outcome.progress == Progress.FAILED]
    if failures and not cluster.adopted:
        message = MESSAGE_SEPARATOR.join(outcome.message for outcome in failures)
        longest = max([wait, *(outcome.retry_after for outcome in failures if outcome.retry_after is not None)])
        return Verdict(
            cluster=replace(cluster, state=ClusterState.ERROR, message=message),
            substrate=replace(substrate, state=SubstrateState.ERROR, message=message),
            next_in=longest,
        )
    message = MESSAGE_SEPARATOR.join(outcome.message for outcome in outcomes if outcome.message)
    return Verdict(
        cluster=replace(cluster, state=ClusterState.DELETING, message=message),
        substrate=replace(substrate, state=SubstrateState.DELETING, message=message),
        next_in=wait,
    )


def with_waiting_message(substrate: SubstrateRecord, now: datetime, *, agent_place: str) -> SubstrateRecord:
    """The substrate as it was judged anew, its message with :func:`waiting_message` at the end: other troubles, and
    other node pools that are on their way, are no reason to keep silent about Nodes that do not join."""
    said = (substrate.message, waiting_message(substrate, now, agent_place=agent_place))
    return replace(substrate, message=MESSAGE_SEPARATOR.join(filter(None, said)))


def waiting_message(substrate: SubstrateRecord, now: datetime, *, agent_place: str) -> str:
    """What to look at when Nodes have waited for their bcd for a quarter of an hour; empty before that (spec)."""
    since = substrate.waiting_since
    if not substrate.waiting_nodes or since is None or now - since < JOIN_PATIENCE:
        return ""
    return (
        f"{substrate.waiting_nodes} of {substrate.nodes_listed} Nodes have no joined bcd, and none has joined since "
        f"{since:%Y-%m-%d %H:%M} UTC: look at the pods of DaemonSet {agent_place} (the image pull, the gateway URL and "
        "pins in the settings, the GPU runtime class)"
    )


def judge_cluster(
    cluster: ClusterRecord,
    node_pools: Sequence[NodePoolRecord],
    observed: ObservedCluster | None,
    control_plane: Outcome,
) -> ClusterRecord:
    """The cluster's state: ready once the control plane and every node pool are (spec: kubernetesClusters)."""
    broken = [pool for pool in node_pools if pool.state == NodePoolState.ERROR]
    if broken:
        message = MESSAGE_SEPARATOR.join(f"node pool {pool.name}: {pool.message}" for pool in broken)
        return replace(cluster, state=ClusterState.ERROR, message=message)
    if control_plane.progress == Progress.FAILED:
        return replace(cluster, state=ClusterState.ERROR, message=control_plane.message)
    if control_plane.progress == Progress.UNKNOWN:
        return replace(cluster, message=control_plane.message)
    serving = observed is not None and observed.status == ProviderStatus.ACTIVE
    if serving and all(pool.state == NodePoolState.READY for pool in node_pools):
        return replace(cluster, state=ClusterState.READY, message="", observed_generation=cluster.generation)
    state = ClusterState.UPDATING if cluster.observed_generation else ClusterState.PROVISIONING
    return replace(cluster, state=state, message=control_plane.message)
