# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which pool node is which Kubernetes Node, which machines are gone, and which Nodes still wait for their bcd. Pure.

What a Node's absence means is decided here and nowhere else:

- A list that is not known to be complete (None) matches and retires nobody.
- A machine is gone when its bcd is disconnected **and** its Node is gone: no Node of that UID, because a UID never
  comes back. A new UID under the old name is another machine, or the same one registered anew: its bcd tells which.
- A bcd that is connected, or of which nothing is known because the gateway has not listened long enough, stays.
- When most Nodes are missing at once and nobody declared fewer, a second list must say so too. What an autoscaler or a
  provider takes away was not declared.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from ..model.ids import NodeId
from ..model.labels import NODE_CAPACITY, SPOT
from ..model.liveness import CONNECTED_SECONDS, Listening, Liveness, liveness
from ..model.observed import ClusterNode
from ..model.records import PoolNode
from ..model.states import NodeState
from .naming import expected_node_name

CONFIRM_SECONDS = 25
"""How much later the list must be that confirms a mass disappearance: under the 30 s after which a converging pool is
looked at again, and long enough for an API server that answered from a bad cache to be itself again."""


class Gone(StrEnum):
    """Why a machine is known to be gone."""

    NODE_MISSING = "its Node is gone"
    NEW_MACHINE = "another machine has its Node name"


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """What to record of a node that stands for a listed Node.

    Attributes:
        new_machine: whether what is booked on the node ends, because its Node and its bcd's identity both are others
            than those that it was booked on: a machine that was made anew around the same GPUs.
    """

    node_id: NodeId
    node_name: str
    node_uid: str
    node_pool: str | None
    spot: bool
    labels: Mapping[str, str]
    state: NodeState
    new_machine: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Departure:
    """A node to be retired, as it was when that was decided."""

    node: PoolNode
    why: Gone


@dataclass(frozen=True, slots=True, kw_only=True)
class Matching:
    """What a Node list says about a pool's nodes.

    Attributes:
        known: whether there was a complete list. If not, only `vanished_at` means anything: keep the former numbers.
        to_record: matches that are not recorded yet.
        to_retire: machines that are gone.
        unmatched: connected nodes without a Node of theirs in the list.
        listed: Nodes in the list.
        joined: of them the ones whose bcd joined.
        waiting: names of the Nodes whose bcd never joined. A join that no heartbeat followed does not count once the
            bcd is silent: the reply was lost, and bcd needs a token to ask again.
        unconnected: Nodes in the list without a connected bcd; at least as many as `waiting`.
        joined_node_pools: the provider's names of the node pools of which a Node joined.
        vanished_at: since when nodes are to be retired while most Nodes are missing and nobody declared that; to be
            recorded.
        to_confirm: whether `vanished_at` waits for another list before anybody is retired: come again soon.
    """

    known: bool
    to_record: tuple[Match, ...] = ()
    to_retire: tuple[Departure, ...] = ()
    unmatched: tuple[NodeId, ...] = ()
    listed: int = 0
    joined: int = 0
    waiting: tuple[str, ...] = ()
    unconnected: int = 0
    joined_node_pools: frozenset[str] = frozenset()
    vanished_at: datetime | None = None
    to_confirm: bool = False


def match(
    nodes: Sequence[PoolNode],
    listed: Sequence[ClusterNode] | None,
    *,
    listening: Listening | None,
    desired_total: int | None,
    vanished_at: datetime | None,
    now: datetime,
    closed: frozenset[str] | None = None,
) -> Matching:
    """Match a pool's nodes with the cluster's Nodes.

    Arguments:
        nodes: the pool's nodes, recorded no earlier than the list was asked for; retired ones are left alone.
        listed: every Node with the pool's label; None when that is not known.
        listening: the gateway's mark.
        desired_total: how many Nodes the flavors stand for now, at most: fewer listed than that was not declared. None
            while that is not known: then nothing was.
        vanished_at: as the former pass recorded it.
        now: the present.
        closed: names of the node pools whose nodes take no new bookings: they are cordoned, and all others are not.
            None when that is not known or decided elsewhere: cordons stay as they are.
    """
    if listed is None:
        return Matching(known=False, vanished_at=vanished_at)
    look = _Look(nodes, listed, listening=listening, now=now)
    departures = look.departures()
    declared = desired_total is not None and len(listed) >= desired_total
    sudden = not declared and 2 * len(look.missing()) > len(look.nodes)
    # Counted from when somebody was to be retired: those whose bcd goes on without a Node confirm nothing.
    gone = any(departure.why == Gone.NODE_MISSING for departure in departures)
    since = (vanished_at or now) if sudden and gone else None
    to_confirm = since is not None and now - since < timedelta(seconds=CONFIRM_SECONDS)
    joined = {name for name in look.listed if look.has_joined(name)}
    owned = {owner.id for owner in look.owners.values()}
    return Matching(
        known=True,
        to_record=look.matches(closed),
        to_retire=tuple(departure for departure in departures if departure.why != Gone.NODE_MISSING or not to_confirm),
        unmatched=tuple(
            node.id for node in look.nodes if node.id not in owned and look.live[node.id] == Liveness.CONNECTED
        ),
        listed=len(look.listed),
        joined=len(joined),
        waiting=tuple(sorted(set(look.listed) - joined)),
        unconnected=sum(not look.is_served(name) for name in look.listed),
        joined_node_pools=frozenset(look.listed[name].node_pool or "" for name in joined) - {""},
        vanished_at=since if to_confirm else None,
        to_confirm=to_confirm,
    )


class _Look:
    """One comparison of nodes and Nodes: who owns which Node, and what follows for each node."""

    def __init__(
        self, nodes: Sequence[PoolNode], listed: Sequence[ClusterNode], *, listening: Listening | None, now: datetime
    ) -> None:
        self.nodes = sorted((n for n in nodes if n.state != NodeState.RETIRED), key=lambda n: (n.joined_at, n.id))
        self.now = now
        self.listed = {one.name: one for one in sorted(listed, key=lambda one: one.name)}
        self.uids = {one.uid for one in listed}
        self.live = {n.id: liveness(n.last_seen_at, listening=listening, now=now) for n in self.nodes}
        self.named: defaultdict[str, list[PoolNode]] = defaultdict(list)
        for node in self.nodes:
            self.named[expected_node_name(node.reported_node_name, node.hostname)].append(node)
        owners = {name: self._owner(one) for name, one in self.listed.items()}
        self.owners = {name: owner for name, owner in owners.items() if owner is not None}

    def _owner(self, listed: ClusterNode) -> PoolNode | None:
        """The node that stands for this Node: the one recorded with its UID, until a later machine takes its place."""
        claimants = self.named[listed.name]
        incumbent = next((node for node in reversed(claimants) if node.node_uid == listed.uid), None)
        newest = next((node for node in reversed(claimants) if self.live[node.id] == Liveness.CONNECTED), None)
        if incumbent is not None:
            return newest if newest is not None and self._succeeds(newest, incumbent) else incumbent
        return newest if newest is not None and _is_of(newest, listed, self.now) else None

    def _succeeds(self, newest: PoolNode, incumbent: PoolNode) -> bool:
        """Whether a machine joined under the Node's name after the one before fell silent: no two can have one name."""
        return self.live[incumbent.id] == Liveness.DISCONNECTED and newest.joined_at > incumbent.last_seen_at

    def _claimant(self, name: str) -> PoolNode | None:
        """The Node's owner, or else the latest of its machine that joined and was matched to no Node yet."""
        listed = self.listed[name]
        unmatched = (node for node in reversed(self.named[name]) if node.node_uid is None)
        return self.owners.get(name) or next((node for node in unmatched if _is_of(node, listed, self.now)), None)

    def has_joined(self, name: str) -> bool:
        """Whether the bcd of this listed Node joined, connected or not."""
        node = self._claimant(name)
        return node is not None and (self.is_served(name) or node.last_seen_at > node.joined_at)

    def is_served(self, name: str) -> bool:
        """Whether this listed Node has a bcd that is connected, or may be."""
        node = self._claimant(name)
        return node is not None and self.live[node.id] != Liveness.DISCONNECTED

    def missing(self) -> tuple[PoolNode, ...]:
        """The nodes whose Node is not listed, neither by its UID nor by its name."""
        return tuple(node for node in self.nodes if not self._is_listed(node))

    def _is_listed(self, node: PoolNode) -> bool:
        return node.node_uid in self.uids or any(name in self.listed for name in self._names(node))

    def _names(self, node: PoolNode) -> tuple[str, ...]:
        reported = expected_node_name(node.reported_node_name, node.hostname)
        return (reported,) if node.node_name is None else (reported, node.node_name)

    def departures(self) -> list[Departure]:
        """The disconnected nodes whose machine is gone."""
        found = []
        for node in self.nodes:
            why = self._why_gone(node) if self.live[node.id] == Liveness.DISCONNECTED else None
            if why is not None:
                found.append(Departure(node=node, why=why))
        return found

    def _why_gone(self, node: PoolNode) -> Gone | None:
        if not self._is_listed(node):
            return Gone.NODE_MISSING
        if node.node_uid is not None and node.node_uid not in self.uids:
            return Gone.NEW_MACHINE
        name = expected_node_name(node.reported_node_name, node.hostname)
        owner = self.owners.get(name)
        if owner is not None and owner.id != node.id and owner.joined_at > node.last_seen_at:
            return Gone.NEW_MACHINE
        return None

    def matches(self, closed: frozenset[str] | None) -> tuple[Match, ...]:
        """What is to be recorded of each owner, where it differs from what is."""
        wanted = ((owner, _match(owner, self.listed[name], closed, self.now)) for name, owner in self.owners.items())
        return tuple(match_ for owner, match_ in wanted if match_ != _recorded(owner))


def _is_of(node: PoolNode, listed: ClusterNode, now: datetime) -> bool:
    """Whether a node's bcd is known to run on the machine of this Node, and not on one that had its name before.

    It does when it joined after the Node was registered, or was heard long after that: then the machine is the same and
    only its Node was registered anew. A bcd that was heard only before, or shortly after, can be of a machine that is
    gone. Lengths of time are compared, each by one clock: the cluster's and ours may differ by minutes.
    """
    if listed.age is None:
        return True
    silence = now - node.last_seen_at
    return _joined_on(node, listed.age, now) or listed.age - silence >= timedelta(seconds=CONNECTED_SECONDS)


def _joined_on(node: PoolNode, age: timedelta, now: datetime) -> bool:
    """Whether a node's bcd took its identity since a Node of this age was registered."""
    return now - node.joined_at <= age


def _made_anew(node: PoolNode, listed: ClusterNode, now: datetime) -> bool:
    """Whether a node's bcd took its identity on a Node of another UID than the one that the node was matched to."""
    other = node.node_uid is not None and node.node_uid != listed.uid
    return other and listed.age is not None and _joined_on(node, listed.age, now)


def _match(node: PoolNode, listed: ClusterNode, closed: frozenset[str] | None, now: datetime) -> Match:
    labels = {key: value for key, value in node.labels.items() if key != NODE_CAPACITY}
    if listed.spot:
        labels[NODE_CAPACITY] = SPOT
    return Match(
        node_id=node.id,
        node_name=listed.name,
        node_uid=listed.uid,
        node_pool=listed.node_pool,
        spot=listed.spot,
        labels=labels,
        state=_state(node, listed, closed),
        new_machine=_made_anew(node, listed, now),
    )


def _state(node: PoolNode, listed: ClusterNode, closed: frozenset[str] | None) -> NodeState:
    if closed is None:
        return NodeState.MATCHED if node.state == NodeState.JOINED else node.state
    return NodeState.CORDONED if listed.node_pool in closed else NodeState.MATCHED


def _recorded(node: PoolNode) -> Match | None:
    if node.node_name is None or node.node_uid is None:
        return None
    return Match(
        node_id=node.id,
        node_name=node.node_name,
        node_uid=node.node_uid,
        node_pool=node.node_pool,
        spot=node.spot,
        labels=dict(node.labels),
        state=node.state,
    )
