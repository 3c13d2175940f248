# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Booking GPUs and giving them back, on both databases."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.booking.reserve import (
    Repeat,
    bind_pending,
    release,
    reserve,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.booking.standing import (
    Bookings,
    bookings_for_nodes,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    Code,
    InvalidInput,
    OperationError,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import (
    NodeId,
    PoolId,
    ReservationId,
    TenantId,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import (
    PoolNode,
    PoolRecord,
    Reservation,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import (
    Intent,
    NodeState,
    ReservationState,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import Store, fleet, reservations
from ansible_collections.better_compute.fleet.tests.support.joining_machines import (
    at_once,
    due_at,
    held,
    new_node,
    new_pool,
)
from ansible_collections.better_compute.fleet.tests.support.locks import let_it_wait
from ansible_collections.better_compute.fleet.tests.support.machines_and_nodes import devices
from ansible_collections.better_compute.fleet.tests.support.rows import START, HandClock
from ansible_collections.better_compute.fleet.tests.support.statements import statements

KEY = Repeat(scope="platform/operator", key="k1")


def node(store: Store, pool: PoolRecord, name: str = "ip-1", gpus: int = 2, **different: Any) -> PoolNode:
    values = {"state": NodeState.MATCHED, "node_uid": f"uid-{name}", "devices": devices(name, gpus)}
    return new_node(store, pool, **(values | different))


def book(store: Store, pool: PoolRecord, gpus: int = 1, **different: Any) -> Reservation:
    values: dict[str, Any] = {"tenant_id": pool.tenant_id, "pool_id": pool.id, "gpus": gpus}
    return reserve(store, **(values | different))


def give_back(store: Store, reservation: Reservation) -> Reservation:
    return release(store, tenant_id=reservation.tenant_id, reservation_id=reservation.id)


def standing(store: Store, node_id: NodeId) -> Bookings:
    with store.read() as tx:
        return bookings_for_nodes(tx, [node_id])[node_id]


def refusal(store: Store, pool: PoolRecord, **different: Any) -> Code:
    with pytest.raises(OperationError) as refused:
        book(store, pool, **different)
    return refused.value.code


def test_a_reservation_is_bound_to_devices_of_one_node_and_charged(store: Store) -> None:
    pool = new_pool(store)
    stands_on = node(store, pool)
    booked = book(store, pool, 2)
    assert (booked.state, booked.node_id, booked.device_ids, booked.binding) == (
        ReservationState.BOUND,
        stands_on.id,
        ("GPU-ip-1-0", "GPU-ip-1-1"),
        "kubernetes",
    )
    assert held(store, pool) == 2


def test_it_waits_when_nothing_fits_and_is_charged_meanwhile(store: Store) -> None:
    pool = new_pool(store)
    booked = book(store, pool, 2)
    assert (booked.state, booked.device_ids, held(store, pool)) == (ReservationState.PENDING, (), 2)


def test_the_oldest_that_waits_and_fits_is_placed_first(store: Store, clock: HandClock) -> None:
    pool = new_pool(store)
    waiting = []
    for gpus in (4, 1, 2):
        waiting.append(book(store, pool, gpus))
        clock.advance(seconds=1)
    stands_on = node(store, pool, gpus=2)
    with store.write() as tx:
        assert [bind_pending(tx, pool), bind_pending(tx, pool)] == [1, 0]
    assert [one.reservation_id for one in standing(store, stands_on.id).bookings] == [waiting[1].id]


def test_nothing_is_placed_in_a_pool_that_is_torn_down(store: Store) -> None:
    pool = new_pool(store)
    book(store, pool)
    node(store, pool)
    torn_down = replace(pool, intent=Intent.TEAR_DOWN)
    with store.write() as tx:
        fleet.put_pool(tx, torn_down)
        assert bind_pending(tx, torn_down) == 0


def test_giving_back_places_who_waited(store: Store) -> None:
    pool = new_pool(store)
    stands_on = node(store, pool)
    first, second = book(store, pool, 2), book(store, pool, 2)
    assert second.state == ReservationState.PENDING
    give_back(store, first)
    assert [one.reservation_id for one in standing(store, stands_on.id).bookings] == [second.id]


def test_giving_back_twice_refunds_once(store: Store) -> None:
    pool = new_pool(store)
    node(store, pool)
    booked = book(store, pool, 2)
    assert give_back(store, booked) == give_back(store, booked)
    assert held(store, pool) == 0


def test_given_back_by_two_at_once_it_is_refunded_once(store: Store) -> None:
    pool = new_pool(store)
    node(store, pool)
    booked, kept = book(store, pool, 1), book(store, pool, 1)
    results = at_once(*[lambda: give_back(store, booked)] * 4)
    assert {result.state for result in results} == {ReservationState.RELEASED}
    assert held(store, pool) == kept.gpus


def test_giving_back_makes_the_pool_due_because_a_teardown_may_wait_for_it(store: Store) -> None:
    pool = new_pool(store)
    node(store, pool)
    give_back(store, book(store, pool))
    assert due_at(store, pool) == START


def test_two_at_once_never_share_a_device(store: Store) -> None:
    pool = new_pool(store)
    node(store, pool, gpus=4)
    results = at_once(*[lambda: book(store, pool, 1)] * 6)
    assert not [result for result in results if isinstance(result, Exception)]
    taken = [device for result in results for device in result.device_ids]
    assert (len(taken), len(set(taken))) == (4, 4)


def test_two_at_once_never_share_the_last_of_a_quota(store: Store) -> None:
    pool = new_pool(store, quota=2)
    node(store, pool, gpus=8)
    results = at_once(*[lambda: book(store, pool, 1)] * 5)
    refused = [result.code for result in results if isinstance(result, OperationError)]
    assert (refused, held(store, pool)) == ([Code.QUOTA_EXCEEDED] * 3, 2)


class TestRefusals:
    def test_no_quota_row_is_no_quota(self, store: Store) -> None:
        assert refusal(store, new_pool(store, quota=None)) == Code.QUOTA_EXCEEDED

    def test_a_quota_of_zero_is_none(self, store: Store) -> None:
        assert refusal(store, new_pool(store, quota=0)) == Code.QUOTA_EXCEEDED

    def test_another_tenants_quota_is_not_ours(self, store: Store) -> None:
        assert refusal(store, new_pool(store), tenant_id=TenantId("acme")) == Code.QUOTA_EXCEEDED

    def test_a_refused_reservation_charges_nothing(self, store: Store) -> None:
        pool = new_pool(store, quota=1)
        assert refusal(store, pool, gpus=2) == Code.QUOTA_EXCEEDED
        assert held(store, pool) == 0

    def test_a_pool_that_is_torn_down_or_archived_takes_no_booking(self, store: Store) -> None:
        assert refusal(store, new_pool(store, intent=Intent.TEAR_DOWN)) == Code.INVALID_STATE
        assert refusal(store, new_pool(store, archived_at=START)) == Code.INVALID_STATE

    def test_an_unknown_pool_is_not_found(self, store: Store) -> None:
        assert refusal(store, new_pool(store), pool_id=PoolId("pool_nowhere")) == Code.NOT_FOUND

    @pytest.mark.parametrize("gpus", [-1, 0, 17])
    def test_a_number_that_no_node_has_is_invalid(self, store: Store, gpus: int) -> None:
        with pytest.raises(InvalidInput, match=f"gpus: expected 1 to 16.*found {gpus}"):
            book(store, new_pool(store), gpus)

    def test_another_tenants_reservation_is_not_found(self, store: Store) -> None:
        pool = new_pool(store)
        booked = book(store, pool)
        with pytest.raises(OperationError) as refused:
            release(store, tenant_id=TenantId("acme"), reservation_id=booked.id)
        with pytest.raises(OperationError) as unknown:
            release(store, tenant_id=pool.tenant_id, reservation_id=ReservationId("rsv_nowhere"))
        assert [refused.value.code, unknown.value.code] == [Code.NOT_FOUND] * 2


class TestARepeatedRequest:
    def test_returns_what_the_first_made(self, store: Store) -> None:
        pool = new_pool(store)
        node(store, pool)
        assert book(store, pool, repeat=KEY) == book(store, pool, repeat=KEY)
        assert held(store, pool) == 1

    def test_at_once_makes_one(self, store: Store) -> None:
        pool = new_pool(store)
        node(store, pool)
        results = at_once(*[lambda: book(store, pool, repeat=KEY)] * 4)
        assert (len({result.id for result in results}), held(store, pool)) == (1, 1)

    def test_returns_it_though_the_quota_is_gone_or_the_pool_closed_since(self, store: Store) -> None:
        pool = new_pool(store)
        first = book(store, pool, repeat=KEY)
        with store.write() as tx:
            fleet.drop_quota(tx, tenant_id=pool.tenant_id, pool_id=pool.id)
        assert book(store, pool, repeat=KEY) == first

    def test_with_another_request_is_a_conflict(self, store: Store) -> None:
        pool = new_pool(store)
        book(store, pool, repeat=KEY)
        assert refusal(store, pool, gpus=2, repeat=KEY) == Code.CONFLICT

    def test_in_another_scope_is_another_request(self, store: Store) -> None:
        pool = new_pool(store)
        book(store, pool, repeat=KEY)
        book(store, pool, repeat=Repeat(scope="platform/other", key=KEY.key))
        assert held(store, pool) == 2


class TestSpot:
    def test_only_a_spot_reservation_stands_on_a_spot_node(self, store: Store) -> None:
        pool = new_pool(store)
        plain, spot = node(store, pool, "plain"), node(store, pool, "spot", spot=True)
        assert [book(store, pool, spot=spot_too).node_id for spot_too in (False, True)] == [plain.id, spot.id]

    def test_neither_falls_back_on_the_other_kind(self, store: Store) -> None:
        pool = new_pool(store)
        node(store, pool, "spot", spot=True)
        assert book(store, pool, spot=False).state == ReservationState.PENDING


class TestWhatANodeIsTold:
    def test_the_version_changes_with_the_bookings_and_only_with_them(self, store: Store) -> None:
        pool = new_pool(store)
        stands_on = node(store, pool)
        empty = standing(store, stands_on.id)
        booked = book(store, pool)
        one = standing(store, stands_on.id)
        assert one == standing(store, stands_on.id)
        assert [(each.reservation_id, each.device_ids) for each in one.bookings] == [(booked.id, booked.device_ids)]
        give_back(store, booked)
        assert standing(store, stands_on.id) == empty
        assert one.version != empty.version


def test_what_waits_for_a_place_costs_the_same_few_statements_however_many_nodes_there_are(store: Store) -> None:
    pool = new_pool(store, quota=99)
    for number in range(20):
        node(store, pool, f"ip-{number}", gpus=1)
    for _reservation in range(5):
        book(store, pool, gpus=2)
    with store.write() as tx, statements(store) as sent:
        assert bind_pending(tx, pool) == 0
    assert len(sent) < 10


@pytest.mark.parametrize("store_url", ["postgresql"], indirect=True)
def test_a_reservation_that_ends_while_a_pass_is_about_to_place_it_fails_nothing(
    store: Store, clock: HandClock
) -> None:
    """On PostgreSQL alone: with SQLite there is one writer."""
    pool = new_pool(store)
    ending, waiting = book(store, pool), book(store, pool)
    found = node(store, pool)

    def place() -> int:
        with store.write() as tx:
            return bind_pending(tx, pool)

    with ThreadPoolExecutor(1) as threads:
        with store.write() as tx:
            fleet.lock_pool(tx, pool.id)
            reservations.end_reservation(tx, ending.id, ReservationState.RELEASED, "")
            placed = threads.submit(place)
            let_it_wait(store, placed)
        assert placed.result() == 1
    [booking] = standing(store, found.id).bookings
    assert booking.reservation_id == waiting.id
