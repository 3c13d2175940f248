# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The end of a machine and of what was booked on it, on both databases."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.booking.reserve import release, reserve
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import Code, OperationError
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import (
    PoolNode,
    PoolRecord,
    Reservation,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import NodeState, ReservationState
from ansible_collections.better_compute.fleet.plugins.module_utils._core.nodes.cordon import cordon_pool
from ansible_collections.better_compute.fleet.plugins.module_utils._core.nodes.matching import Departure, Gone, match
from ansible_collections.better_compute.fleet.plugins.module_utils._core.nodes.recording import record
from ansible_collections.better_compute.fleet.plugins.module_utils._core.nodes.retiring import (
    NODE_RETIRED,
    retire_all,
    retire_gone,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import (
    Store,
    events,
    gateways,
    pool_nodes,
    reservations,
)
from ansible_collections.better_compute.fleet.tests.support.joining_machines import (
    at_once,
    held,
    listen,
    new_node,
    new_pool,
    node_of,
    nodes_of,
)
from ansible_collections.better_compute.fleet.tests.support.machines_and_nodes import devices, listed
from ansible_collections.better_compute.fleet.tests.support.rows import START, HandClock


def matched(store: Store, pool: PoolRecord, **different: Any) -> PoolNode:
    values = {"state": NodeState.MATCHED, "node_name": "ip-1", "node_uid": "uid-ip-1", "reported_node_name": "ip-1"}
    return new_node(store, pool, **(values | different))


def booked(store: Store, pool: PoolRecord, *, gpus: int = 2, spot: bool = False) -> Reservation:
    return reserve(store, tenant_id=pool.tenant_id, pool_id=pool.id, gpus=gpus, spot=spot)


def gone(store: Store, pool: PoolRecord, node: PoolNode) -> bool:
    with store.write() as tx:
        return retire_gone(tx, pool=pool, departure=Departure(node=node, why=Gone.NODE_MISSING))


def ended(store: Store, reservation: Reservation) -> Reservation:
    with store.read() as tx:
        found = reservations.reservation(tx, reservation.id)
    assert found is not None
    return found


def told(store: Store, node: PoolNode) -> list[dict[str, Any]]:
    with store.read() as tx:
        return [dict(event.data) for event in events.events(tx, subject=node.id) if event.type == NODE_RETIRED]


def test_a_bound_reservation_is_released_and_refunded_once(store: Store) -> None:
    pool = new_pool(store)
    node = matched(store, pool)
    booking = booked(store, pool)
    assert held(store, pool) == 2
    assert gone(store, pool, node)
    assert not gone(store, pool, node)
    assert (ended(store, booking).state, held(store, pool)) == (ReservationState.RELEASED, 0)
    assert "its Node is gone" in ended(store, booking).message


def test_what_stands_on_a_spot_node_is_preempted(store: Store) -> None:
    pool = new_pool(store)
    node = matched(store, pool, spot=True)
    booking = booked(store, pool, spot=True)
    assert gone(store, pool, node)
    assert (ended(store, booking).state, held(store, pool)) == (ReservationState.PREEMPTED, 0)


def test_the_node_is_retired_without_devices_or_identity_and_told_once(store: Store) -> None:
    pool = new_pool(store)
    node = matched(store, pool)
    booked(store, pool, gpus=1)
    gone(store, pool, node)
    gone(store, pool, node)
    after = node_of(store, node.id)
    assert (after.state, after.devices, after.identity_hash) == (NodeState.RETIRED, (), "")
    assert told(store, node) == [
        {"poolId": pool.id, "nodeName": "ip-1", "reason": "its Node is gone", "released": 1, "preempted": 0}
    ]


def test_a_node_that_was_heard_since_it_was_given_up_stays(store: Store, clock: HandClock) -> None:
    pool = new_pool(store)
    node = matched(store, pool)
    booking = booked(store, pool)
    clock.advance(seconds=5)
    with store.write() as tx:
        pool_nodes.seen(tx, [node.id], tx.now)
    assert not gone(store, pool, node)
    assert (node_of(store, node.id).state, ended(store, booking).state) == (
        NodeState.MATCHED,
        ReservationState.BOUND,
    )


def test_a_retirement_that_does_not_commit_never_happened(store: Store) -> None:
    pool = new_pool(store)
    node = matched(store, pool)
    booking = booked(store, pool)

    def killed(moment: str) -> None:
        raise RuntimeError(f"killed {moment} the commit")

    store.on_commit.append(killed)
    with pytest.raises(RuntimeError, match="killed before the commit"):
        gone(store, pool, node)
    store.on_commit.clear()
    assert (ended(store, booking).state, held(store, pool), told(store, node)) == (ReservationState.BOUND, 2, [])
    assert gone(store, pool, node)
    assert (held(store, pool), len(told(store, node))) == (0, 1)


def test_retired_twice_and_released_at_once_it_is_refunded_once(store: Store) -> None:
    pool = new_pool(store)
    node = matched(store, pool)
    keep = new_node(store, pool, state=NodeState.MATCHED, reported_node_name="ip-2", devices=devices("ip-2", 1))
    booking = booked(store, pool)
    other = booked(store, pool, gpus=1)
    assert other.node_id == keep.id
    at_once(
        lambda: gone(store, pool, node),
        lambda: gone(store, pool, node),
        lambda: release(store, tenant_id=pool.tenant_id, reservation_id=booking.id),
    )
    assert held(store, pool) == 1
    assert (node_of(store, node.id).state, len(told(store, node))) == (NodeState.RETIRED, 1)


def test_recording_a_match_twice_writes_once(store: Store, clock: HandClock) -> None:
    pool = new_pool(store)
    new_node(store, pool, reported_node_name="ip-1")
    commits: list[str] = []
    store.on_commit.append(commits.append)
    for _time in range(2):
        found = match(
            nodes_of(store, pool),
            [listed("ip-1", spot=True)],
            listening=None,
            desired_total=1,
            vanished_at=None,
            now=clock.now(),
        )
        with store.write() as tx:
            record(tx, pool=pool, matching=found)
    node = nodes_of(store, pool)[0]
    assert commits == ["before", "after"]
    assert (node.state, node.node_uid, node.spot, node.labels) == (
        NodeState.MATCHED,
        "uid-ip-1",
        True,
        {"bc.dev/capacity": "spot"},
    )


def test_a_machine_that_vanishes_with_its_node_is_retired_by_the_list(store: Store, clock: HandClock) -> None:
    pool = new_pool(store)
    node = matched(store, pool)
    booking = booked(store, pool)
    clock.advance(minutes=5)
    listen(store)
    with store.read() as tx:
        found = match(
            pool_nodes.pool_nodes(tx, pool.id),
            [],
            listening=gateways.listening(tx),
            desired_total=0,
            vanished_at=None,
            now=tx.now,
        )
    with store.write() as tx:
        assert [one.id for one in record(tx, pool=pool, matching=found)] == [node.id]
    assert ended(store, booking).state == ReservationState.RELEASED


@pytest.mark.parametrize(
    ("spot", "ends_as"), [(False, ReservationState.RELEASED), (True, ReservationState.PREEMPTED)], ids=["other", "spot"]
)
def test_what_stood_on_a_machine_that_was_made_anew_ends_and_its_node_goes_on(
    store: Store, clock: HandClock, spot: bool, ends_as: ReservationState
) -> None:
    pool = new_pool(store)
    listen(store)
    node = matched(store, pool, spot=spot)
    booking = booked(store, pool, spot=spot)
    clock.advance(minutes=5)
    with store.write() as tx:
        pool_nodes.replace_identity(
            tx,
            node.id,
            identity_hash="another",
            hostname=node.hostname,
            reported_node_name="ip-1",
            devices=node.devices,
            at=tx.now,
        )
    clock.advance(seconds=5)
    for _list in range(2):
        with store.write() as tx:
            found = match(
                pool_nodes.pool_nodes(tx, pool.id),
                [listed("ip-1", uid="new", spot=spot, age=timedelta(minutes=4))],
                listening=gateways.listening(tx),
                desired_total=1,
                vanished_at=None,
                now=tx.now,
            )
            assert record(tx, pool=pool, matching=found) == ()
    assert ended(store, booking).state == ends_as
    assert (held(store, pool), node_of(store, node.id).node_uid) == (0, "new")
    assert booked(store, pool, spot=spot).node_id == node.id


class TestTheEndOfAPool:
    def test_cordoned_nodes_take_no_booking_and_those_that_stand_are_counted(self, store: Store) -> None:
        pool = new_pool(store)
        node = matched(store, pool)
        booked(store, pool, gpus=1)
        with store.write() as tx:
            assert cordon_pool(tx, pool.id) == 1
        assert node_of(store, node.id).state == NodeState.CORDONED
        assert booked(store, pool, gpus=1).state == ReservationState.PENDING

    def test_cordoning_again_writes_nothing(self, store: Store) -> None:
        pool = new_pool(store)
        matched(store, pool)
        with store.write() as tx:
            cordon_pool(tx, pool.id)
        with store.write() as tx:
            cordon_pool(tx, pool.id)
            assert not tx.wrote

    def test_nothing_is_force_released(self, store: Store) -> None:
        pool = new_pool(store)
        node = matched(store, pool)
        booked(store, pool)
        with pytest.raises(OperationError) as refused, store.write() as tx:
            retire_all(tx, pool=pool)
        assert (refused.value.code, node_of(store, node.id).state) == (Code.INVALID_STATE, NodeState.MATCHED)

    def test_at_the_end_every_node_is_retired_and_what_waited_is_refunded(self, store: Store) -> None:
        pool = new_pool(store)
        node = matched(store, pool)
        waiting = booked(store, pool, gpus=16)
        with store.write() as tx:
            assert retire_all(tx, pool=pool) == 1
        with store.write() as tx:
            assert retire_all(tx, pool=pool) == 0
        assert (nodes_of(store, pool), held(store, pool), len(told(store, node))) == ((), 0, 1)
        assert ended(store, waiting).state == ReservationState.RELEASED

    def test_a_connected_bcd_does_not_keep_the_node(self, store: Store) -> None:
        pool = new_pool(store)
        node = matched(store, pool, last_seen_at=START + timedelta(minutes=1))
        with store.write() as tx:
            retire_all(tx, pool=pool)
        assert node_of(store, node.id).state == NodeState.RETIRED
