# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The machines of pools, each with its bookings, as whoever runs a fleet looks at them. Never a secret or its hash."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ..model.clock import stamp
from ..model.errors import Code, OperationError
from ..model.ids import NodeId, TenantId
from ..model.liveness import Liveness, liveness
from ..model.records import PoolNode, PoolRecord, SubstrateRecord
from ..model.states import NodeState, SubstrateState
from ..store import Tx, fleet, gateways, pool_nodes, reservations, substrates
from .booking_list import NOT_ENDED, BookingView, booking_views
from .pool_names import SHOWN_CHARACTERS, pools_called
from .session import Session

NOT_RETIRED = (NodeState.JOINED, NodeState.MATCHED, NodeState.CORDONED)
"""Machines that are there, as far as anybody knows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuCount:
    """A machine's GPUs of one model, and how many of them bookings hold."""

    model: str
    count: int
    booked: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineView:
    """A machine as a caller sees it.

    Attributes:
        pool: whose machine it is.
        connection: whether its bcd is connected, as liveness judges it.
        bookings: what stands on it, oldest first.
    """

    record: PoolNode
    pool: PoolRecord
    connection: Liveness
    bookings: tuple[BookingView, ...]

    @property
    def shown_name(self) -> str:
        """What a person knows it by: its Node's name, else the one that it gives itself."""
        record = self.record
        return record.node_name or record.reported_node_name or record.hostname

    @property
    def gpus(self) -> tuple[GpuCount, ...]:
        """Its GPUs by model."""
        held = {device_id for booking in self.bookings for device_id in booking.record.device_ids}
        count = Counter(device.model for device in self.record.devices)
        booked = Counter(device.model for device in self.record.devices if device.id in held)
        return tuple(GpuCount(model=model, count=count[model], booked=booked[model]) for model in sorted(count))

    def to_data(self) -> dict[str, Any]:
        """Plain values in snake_case, for module results."""
        record = self.record
        return {
            "id": str(record.id),
            "pool": self.pool.name,
            "pool_id": str(record.pool_id),
            "tenant_id": str(self.pool.tenant_id),
            "hostname": record.hostname,
            "reported_node_name": record.reported_node_name,
            "node_name": record.node_name,
            "node_uid": record.node_uid,
            "node_pool": record.node_pool,
            "state": str(record.state),
            "spot": record.spot,
            "connection": str(self.connection),
            "last_heard": stamp(record.last_seen_at),
            "joined_at": stamp(record.joined_at),
            "gpus": [{"model": one.model, "count": one.count, "booked": one.booked} for one in self.gpus],
            "bookings": [booking.to_data() for booking in self.bookings],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingNodes:
    """The Nodes of a pool's cluster that have no joined bcd. Only how many is recorded, and not which."""

    pool: PoolRecord
    nodes: int
    since: datetime | None

    def to_data(self) -> dict[str, Any]:
        """Plain values in snake_case, for module results."""
        return {
            "pool": self.pool.name,
            "pool_id": str(self.pool.id),
            "tenant_id": str(self.pool.tenant_id),
            "nodes": self.nodes,
            "since": None if self.since is None else stamp(self.since),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineList:
    """Machines, and what is still to become of their pools.

    Attributes:
        now: when it was read.
        machines: by pool, then by name.
        waiting: Nodes that have not joined, of the pools that have such, by pool.
        pending: bookings of the pools that wait for a place on a machine, oldest first.
    """

    now: datetime
    machines: tuple[MachineView, ...]
    waiting: tuple[WaitingNodes, ...]
    pending: tuple[BookingView, ...]

    def to_data(self) -> dict[str, Any]:
        """Plain values in snake_case, for module results and `bc-fleetd nodes --json`."""
        return {
            "nodes": [machine.to_data() for machine in self.machines],
            "waiting_to_join": [waiting.to_data() for waiting in self.waiting],
            "pending": [booking.to_data() for booking in self.pending],
        }


def list_machines(
    session: Session,
    *,
    pool: str | None = None,
    tenant_id: TenantId | None = None,
    states: Collection[NodeState] = NOT_RETIRED,
) -> MachineList:
    """Machines of pools, in one read of a few statements, however many there are.

    What is booked on them is told to whoever owns the pool, whoever booked it.

    Arguments:
        pool: only of the pool of this id, or of all pools of this name, those that are gone too.
        tenant_id: only of pools that this tenant owns.
        states: only machines in one of these states.

    Raises:
        OperationError: NOT_FOUND for a named pool that there is not, or that is another tenant's.
    """
    with session.store.read() as tx:
        pools = _pools(tx, pool, tenant_id)
        pool_ids = [record.id for record in pools]
        nodes = pool_nodes.nodes_in(tx, pool_ids, states)
        bookings = booking_views(tx, reservations.reservations_in(tx, pool_ids, NOT_ENDED), pools)
        waiting = substrates.substrates_of(tx, pool_ids)
        mark, now = gateways.listening(tx), tx.now
    on_node: defaultdict[NodeId | None, list[BookingView]] = defaultdict(list)
    for booking in bookings:
        on_node[booking.record.node_id].append(booking)
    by_id = {record.id: record for record in pools}
    machines = [
        MachineView(
            record=node,
            pool=by_id[node.pool_id],
            connection=liveness(node.last_seen_at, listening=mark, now=now),
            bookings=tuple(on_node[node.id]),
        )
        for node in nodes
    ]
    return MachineList(
        now=now,
        machines=tuple(sorted(machines, key=lambda one: (one.pool.name, one.pool.id, one.shown_name, one.record.id))),
        waiting=_waiting(waiting, pools),
        pending=tuple(on_node[None]),
    )


def _pools(tx: Tx, pool: str | None, tenant_id: TenantId | None) -> tuple[PoolRecord, ...]:
    """The pools whose machines are meant."""
    named = fleet.pools(tx, archived=True) if pool is None else pools_called(tx, pool)
    pools = tuple(record for record in named if tenant_id in (None, record.tenant_id))
    if pool is not None and not pools:
        who = "there is no" if tenant_id is None else f"tenant {tenant_id[:SHOWN_CHARACTERS]!r} has no"
        raise OperationError(
            Code.NOT_FOUND, f"{who} pool {pool[:SHOWN_CHARACTERS]!r}: bc_fleet_info lists the recorded ones"
        )
    return pools


def _waiting(records: Iterable[SubstrateRecord], pools: Iterable[PoolRecord]) -> tuple[WaitingNodes, ...]:
    waits = {
        record.pool_id: record for record in records if record.waiting_nodes and record.state != SubstrateState.DELETED
    }
    return tuple(
        WaitingNodes(pool=pool, nodes=waits[pool.id].waiting_nodes, since=waits[pool.id].waiting_since)
        for pool in sorted(pools, key=lambda one: (one.name, one.id))
        if pool.id in waits
    )
