# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reservations, devices and refunds, events, idempotency keys: each thing once, whoever tries at the same time."""

from __future__ import annotations

from dataclasses import replace
from threading import Barrier, Thread

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model import ids
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import Code, OperationError
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import PoolNode, PoolRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import ReservationState
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import (
    Store,
    events,
    fleet,
    idempotency,
    pool_nodes,
    reservations,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store.tables import tables
from ansible_collections.better_compute.fleet.tests.support import rows
from ansible_collections.better_compute.fleet.tests.support.rows import START, HandClock

TENANT = ids.PLATFORM_TENANT
RELEASED = ReservationState.RELEASED


@pytest.fixture
def pool(store: Store) -> PoolRecord:
    """A recorded pool of which the tenant may hold 4 GPUs."""
    made = rows.pool()
    with store.write() as tx:
        fleet.put_pool(tx, made)
        fleet.put_quota(tx, tenant_id=TENANT, pool_id=made.id, gpus=4)
    return made


@pytest.fixture
def node(store: Store, pool: PoolRecord) -> PoolNode:
    """A node of the pool with GPU-1 and GPU-2."""
    made = rows.node(pool.id)
    with store.write() as tx:
        pool_nodes.add_node(tx, made)
    return made


def held(store: Store, pool: PoolRecord) -> int:
    """GPUs that the tenant holds of the pool."""
    with store.read() as tx:
        return reservations.held(tx, TENANT, pool.id)


def test_a_reservation_is_bound_and_ended(store: Store, pool: PoolRecord, node: PoolNode, clock: HandClock) -> None:
    pending = rows.reservation(pool.id)
    with store.write() as tx:
        reservations.add_reservation(tx, pending)
    with store.read() as tx:
        assert reservations.reservation(tx, pending.id) == pending
        assert reservations.bookings_of_node(tx, node.id) == ()

    with store.write() as tx:
        reservations.bind(tx, pending.id, node.id, ["GPU-2", "GPU-1"])
    bound = replace(pending, state=ReservationState.BOUND, node_id=node.id, device_ids=("GPU-1", "GPU-2"))
    with store.read() as tx:
        assert reservations.reservations(tx, pool.id) == (bound,)
        assert reservations.bookings_of_node(tx, node.id) == (bound,)
        assert reservations.held_devices(tx, node.pool_id) == {node.id: {"GPU-1", "GPU-2"}}

    clock.advance(minutes=1)
    with store.write() as tx:
        assert reservations.end_reservation(tx, pending.id, RELEASED, "given back")
    ended = replace(pending, state=RELEASED, message="given back", ended_at=clock.now())
    with store.read() as tx:
        assert reservations.reservations(tx, pool.id) == ()
        assert reservations.reservations(tx, pool.id, ended=True) == (ended,)
        assert reservations.bookings_of_node(tx, node.id) == ()
        assert reservations.held_devices(tx, node.pool_id) == {}


def test_a_reservation_is_charged_when_made_and_refunded_when_ended(store: Store, pool: PoolRecord) -> None:
    made = rows.reservation(pool.id)
    with store.write() as tx:
        reservations.add_reservation(tx, made)
        reservations.add_reservation(tx, rows.reservation(pool.id, gpus=1))
        reservations.add_reservation(tx, rows.reservation(pool.id, gpus=8, tenant_id=ids.TenantId("acme")))
    assert held(store, pool) == 3
    with store.read() as tx:
        assert [quota.used for quota in fleet.quotas(tx)] == [3]
    with store.write() as tx:
        reservations.end_reservation(tx, made.id, RELEASED, "")
    assert held(store, pool) == 1


def test_a_reservation_ends_once(store: Store, pool: PoolRecord) -> None:
    made = rows.reservation(pool.id)
    with store.write() as tx:
        reservations.add_reservation(tx, made)
        assert reservations.end_reservation(tx, made.id, RELEASED, "given back")
        assert not reservations.end_reservation(tx, made.id, ReservationState.PREEMPTED, "taken away")
        assert not reservations.end_reservation(tx, ids.new_reservation_id(START), RELEASED, "")
    with store.read() as tx:
        ended = reservations.reservation(tx, made.id)
    assert ended is not None
    assert (ended.state, ended.message) == (RELEASED, "given back")
    assert held(store, pool) == 0


def test_ends_at_once_refund_once(store: Store, pool: PoolRecord, node: PoolNode) -> None:
    made = rows.reservation(pool.id)
    with store.write() as tx:
        reservations.add_reservation(tx, made)
        reservations.bind(tx, made.id, node.id, ["GPU-1", "GPU-2"])
    together = Barrier(4)
    outcomes: list[bool] = []

    def end() -> None:
        together.wait()
        with store.write() as tx:
            outcomes.append(reservations.end_reservation(tx, made.id, RELEASED, ""))

    threads = [Thread(target=end) for _thread in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == [False, False, False, True]
    assert held(store, pool) == 0


def test_a_refund_is_unique_in_the_database_itself(store: Store, pool: PoolRecord) -> None:
    made = rows.reservation(pool.id)
    with store.write() as tx:
        reservations.add_reservation(tx, made)
        reservations.end_reservation(tx, made.id, RELEASED, "")
    with pytest.raises(OperationError) as refusal, store.write() as tx:
        tx.insert(tables().refunds, reservation_id=made.id, tenant_id=TENANT, pool_id=pool.id, gpus=made.gpus, at=START)
    assert refusal.value.code is Code.CONFLICT
    assert held(store, pool) == 0


def test_a_gpu_is_held_by_one_reservation(store: Store, pool: PoolRecord, node: PoolNode) -> None:
    first, second = rows.reservation(pool.id), rows.reservation(pool.id)
    with store.write() as tx:
        for made in (first, second):
            reservations.add_reservation(tx, made)
        reservations.bind(tx, first.id, node.id, ["GPU-2"])
    with store.write() as tx:
        with pytest.raises(OperationError, match="GPU-2") as refusal:
            reservations.bind(tx, second.id, node.id, ["GPU-1", "GPU-2"])
        fleet.bump_serial(tx, 0)
    assert refusal.value.code is Code.CONFLICT
    with store.read() as tx:
        assert reservations.reservation(tx, second.id) == second
        assert reservations.held_devices(tx, node.pool_id) == {node.id: {"GPU-2"}}
        assert fleet.serial(tx) == 1


def test_a_freed_gpu_is_held_again(store: Store, pool: PoolRecord, node: PoolNode) -> None:
    first, second = rows.reservation(pool.id), rows.reservation(pool.id)
    with store.write() as tx:
        for made in (first, second):
            reservations.add_reservation(tx, made)
        reservations.bind(tx, first.id, node.id, ["GPU-1"])
        reservations.end_reservation(tx, first.id, RELEASED, "")
        reservations.bind(tx, second.id, node.id, ["GPU-1"])


def test_a_reservation_is_bound_once(store: Store, pool: PoolRecord, node: PoolNode) -> None:
    made = rows.reservation(pool.id)
    with store.write() as tx:
        reservations.add_reservation(tx, made)
        reservations.bind(tx, made.id, node.id, ["GPU-1"])
        with pytest.raises(OperationError, match="not pending any more"):
            reservations.bind(tx, made.id, node.id, ["GPU-2"])
    with store.read() as tx:
        assert reservations.held_devices(tx, node.pool_id) == {node.id: {"GPU-1"}}


def test_bookings_of_one_gpu_at_once_bind_one(store: Store, pool: PoolRecord, node: PoolNode) -> None:
    made = [rows.reservation(pool.id) for _reservation in range(4)]
    with store.write() as tx:
        for one in made:
            reservations.add_reservation(tx, one)
    together = Barrier(4)
    outcomes: list[str] = []

    def bind(reservation_id: ids.ReservationId) -> None:
        together.wait()
        try:
            with store.write() as tx:
                reservations.bind(tx, reservation_id, node.id, ["GPU-1", "GPU-2"])
            outcomes.append("bound")
        except OperationError as refusal:
            outcomes.append(refusal.code)

    threads = [Thread(target=bind, args=(one.id,)) for one in made]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["CONFLICT", "CONFLICT", "CONFLICT", "bound"]


def test_charges_at_once_never_exceed_what_was_counted(store: Store, pool: PoolRecord) -> None:
    """Counting what is held locks the quota: counting and charging are one step."""
    together = Barrier(4)

    def charge() -> None:
        together.wait()
        with store.write() as tx:
            if reservations.held(tx, TENANT, pool.id) + 2 <= 4:
                reservations.add_reservation(tx, rows.reservation(pool.id))

    threads = [Thread(target=charge) for _thread in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert held(store, pool) == 4


def test_reservations_are_listed_in_two_statements_however_many(store: Store, pool: PoolRecord, node: PoolNode) -> None:
    from sqlalchemy import event

    with store.write() as tx:
        for number in range(9):
            made = rows.reservation(pool.id)
            reservations.add_reservation(tx, made)
            reservations.bind(tx, made.id, node.id, [f"GPU-{number}"])
    with store.read() as tx:
        statements: list[str] = []
        event.listen(tx._connection, "before_cursor_execute", lambda *given: statements.append(given[2]))
        assert len(reservations.reservations(tx, pool.id)) == 9
    assert len(statements) == 2


def test_an_event_with_a_key_is_told_once(store: Store) -> None:
    def tell(key: str | None, subject: str = "kcl_1") -> bool:
        with store.write() as tx:
            return events.publish(
                tx, tenant_id=TENANT, subject=subject, type="kubernetes.cluster.ready", data={"n": 1}, key=key
            )

    assert [tell("first"), tell("first"), tell("first", "kcl_2"), tell("second")] == [True, False, True, True]
    assert [tell(None), tell(None)] == [True, True]
    with store.read() as tx:
        assert len(events.events(tx)) == 5
        assert len(events.events(tx, subject="kcl_1")) == 4


def test_events_come_in_the_order_in_which_they_were_written(store: Store) -> None:
    with store.write() as tx:
        for number in range(5):
            events.publish(tx, tenant_id=TENANT, subject="kcl_1", type=f"t{number}", data={"number": number})
    with store.read() as tx:
        told = events.events(tx)
        assert [event.data["number"] for event in told] == list(range(5))
        assert [event.type for event in events.events(tx, after=told[2].id)] == ["t3", "t4"]
        assert told[0].at == START


def test_an_event_goes_with_its_change_or_not_at_all(store: Store) -> None:
    def change_and_fail() -> None:
        with store.write() as tx:
            events.publish(tx, tenant_id=TENANT, subject="kcl_1", type="t", data={}, key="k")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        change_and_fail()
    with store.read() as tx:
        assert events.events(tx) == ()


def test_a_repeated_request_is_answered_the_same_and_another_is_refused(store: Store) -> None:
    with store.write() as tx:
        assert idempotency.remembered(tx, scope="s", key="k", request_digest="d") is None
        idempotency.remember(tx, scope="s", key="k", request_digest="d", result_id="rsv_1")
    with store.read() as tx:
        assert idempotency.remembered(tx, scope="s", key="k", request_digest="d") == "rsv_1"
        assert idempotency.remembered(tx, scope="other", key="k", request_digest="x") is None
        with pytest.raises(OperationError, match="another request") as refusal:
            idempotency.remembered(tx, scope="s", key="k", request_digest="x")
    assert refusal.value.code is Code.CONFLICT


def test_two_that_do_the_same_request_at_once_cannot_both_keep_it(store: Store) -> None:
    with store.write() as tx:
        idempotency.remember(tx, scope="s", key="k", request_digest="d", result_id="rsv_1")
    with pytest.raises(OperationError, match="ask again"), store.write() as tx:
        idempotency.remember(tx, scope="s", key="k", request_digest="d", result_id="rsv_2")


def test_a_key_is_found_by_what_it_led_to_last(store: Store) -> None:
    with store.write() as tx:
        for scope, key, result in (("s", "a", "rsv_1"), ("s", "b", "rsv_2"), ("other", "a", "rsv_3")):
            idempotency.remember(tx, scope=scope, key=key, request_digest="d", result_id=result)
        idempotency.remember(tx, scope="s", key="a", request_digest="d", result_id="rsv_4", after="rsv_1")
    with store.read() as tx:
        asked = ["rsv_1", "rsv_2", "rsv_4", "rsv_5"]
        assert idempotency.keys_of(tx, asked) == {"rsv_2": ("s", "b"), "rsv_4": ("s", "a")}
        assert idempotency.keys_of(tx, []) == {}
