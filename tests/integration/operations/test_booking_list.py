# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which bookings are found by pool, tenant, name and state, and who finds none; on both databases."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import Code, OperationError
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import TenantId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import PoolRecord, Reservation
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import NodeState, ReservationState
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations import reservations
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.booking_list import (
    BookingView,
    list_bookings,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.pending_bookings import with_reason
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import fleet
from ansible_collections.better_compute.fleet.tests.support import rows
from ansible_collections.better_compute.fleet.tests.support.joining_machines import new_node, new_pool
from ansible_collections.better_compute.fleet.tests.support.node_pool_desk import TENANT, Desk
from ansible_collections.better_compute.fleet.tests.support.rows import HandClock
from ansible_collections.better_compute.fleet.tests.support.statements import statements

ACME, GLOBEX = TenantId("acme"), TenantId("globex")


@pytest.fixture
def desk(desk: Desk) -> Desk:
    """The desk, with quotas of the platform's and acme's in its pool."""
    for tenant in (TENANT, ACME):
        set_quota(desk, desk.pool, tenant)
    return desk


def set_quota(desk: Desk, pool: PoolRecord, tenant: TenantId, gpus: int = 999) -> None:
    with desk.session.store.write() as tx:
        fleet.put_quota(tx, tenant_id=tenant, pool_id=pool.id, gpus=gpus)


def book(desk: Desk, name: str, *, tenant: TenantId = TENANT, pool: str = "gpu-fleet", gpus: int = 2) -> Reservation:
    named = reservations.find(desk.session, pool=pool, tenant_id=tenant, name=name)
    return reservations.book(desk.session, named, tenant_id=tenant, gpus=gpus, spot=False)


def end(desk: Desk, booking: Reservation) -> None:
    reservations.give_back(desk.session, booking)


def names(found: Iterable[BookingView]) -> list[str | None]:
    return [one.name for one in found]


def add_node(desk: Desk, pool: PoolRecord | None = None) -> None:
    matched = {"state": NodeState.MATCHED, "node_name": "ip-1", "node_uid": "uid-1"}
    new_node(desk.session.store, pool or desk.pool, **matched)


def test_a_booking_is_told_with_its_name_its_caller_and_its_node(desk: Desk) -> None:
    add_node(desk)
    made = book(desk, "train-1", tenant=ACME)
    [found] = list_bookings(desk.session)
    assert found.to_data() == {
        **reservations.to_data(made),
        "name": "train-1",
        "booked_by": "ann",
        "pool": "gpu-fleet",
        "node_name": "ip-1",
        "since": "2026-11-01T12:00:00Z",
        "ended_at": None,
    }
    assert (made.state, len(made.device_ids)) == (ReservationState.BOUND, 2)


def test_bookings_of_all_tenants_and_callers_are_found_the_oldest_first(desk: Desk, clock: HandClock) -> None:
    book(desk, "train-1")
    clock.advance(minutes=1)
    book(desk, "train-1", tenant=ACME)
    clock.advance(minutes=1)
    book(desk.calling_as("api/ci"), "train-1")
    told = [(one.record.tenant_id, one.name, one.booked_by) for one in list_bookings(desk.session)]
    assert told == [(TENANT, "train-1", "ann"), (ACME, "train-1", "ann"), (TENANT, "train-1", "api/ci")]


def test_they_are_found_by_tenant_by_name_and_by_pool(desk: Desk, clock: HandClock) -> None:
    other = new_pool(desk.session.store, name="other")
    for name, tenant, pool in (("a", TENANT, "gpu-fleet"), ("b", ACME, "gpu-fleet"), ("c", TENANT, "other")):
        book(desk, name, tenant=tenant, pool=pool)
        clock.advance(minutes=1)
    assert names(list_bookings(desk.session)) == ["a", "b", "c"]
    assert names(list_bookings(desk.session, tenant_id=TENANT)) == ["a", "c"]
    assert names(list_bookings(desk.session, names=["b", "c", "none"])) == ["b", "c"]
    assert names(list_bookings(desk.session, names=[])) == []
    assert names(list_bookings(desk.session, pool="gpu-fleet")) == ["a", "b"]
    assert names(list_bookings(desk.session, pool=other.id)) == ["c"]
    assert names(list_bookings(desk.session, pool="gpu-fleet", tenant_id=ACME)) == ["b"]


def test_what_has_ended_is_found_when_it_is_asked_for(desk: Desk, clock: HandClock) -> None:
    ended = book(desk, "gone")
    clock.advance(minutes=1)
    end(desk, ended)
    book(desk, "stays")
    assert names(list_bookings(desk.session)) == ["stays"]
    [found] = list_bookings(desk.session, states=[ReservationState.RELEASED])
    assert (found.name, found.record.state, found.node_name) == ("gone", ReservationState.RELEASED, None)
    assert found.to_data()["ended_at"] == "2026-11-01T12:01:00Z"
    assert list_bookings(desk.session, states=[ReservationState.PREEMPTED]) == ()
    assert list_bookings(desk.session, states=[]) == ()


def test_a_name_is_its_latest_bookings(desk: Desk) -> None:
    first = book(desk, "train-1")
    end(desk, first)
    second = book(desk, "train-1")
    found = {
        one.record.id: (one.name, one.booked_by) for one in list_bookings(desk.session, states=[*ReservationState])
    }
    assert found == {first.id: (None, None), second.id: ("train-1", "ann")}
    assert [one.record.id for one in list_bookings(desk.session, names=["train-1"])] == [second.id]


class TestWhoFindsAPool:
    def test_a_tenant_does_by_its_quota_and_sees_only_its_own_bookings_there(self, desk: Desk) -> None:
        book(desk, "platforms")
        assert list_bookings(desk.session, pool="gpu-fleet", tenant_id=ACME) == ()
        book(desk, "acmes", tenant=ACME)
        assert names(list_bookings(desk.session, pool="gpu-fleet", tenant_id=ACME)) == ["acmes"]
        assert names(list_bookings(desk.session, tenant_id=ACME)) == ["acmes"]

    def test_it_still_does_when_the_quota_is_gone_and_the_booking_too(self, desk: Desk) -> None:
        made = book(desk, "acmes", tenant=ACME)
        with desk.session.store.write() as tx:
            fleet.drop_quota(tx, tenant_id=ACME, pool_id=desk.pool.id)
        assert names(list_bookings(desk.session, pool="gpu-fleet", tenant_id=ACME)) == ["acmes"]
        end(desk, made)
        assert list_bookings(desk.session, pool="gpu-fleet", tenant_id=ACME) == ()

    @pytest.mark.parametrize("by", ["name", "id"])
    def test_another_tenant_is_told_what_it_is_told_of_a_pool_that_there_is_not(self, desk: Desk, by: str) -> None:
        book(desk, "platforms")
        there, nowhere = ("gpu-fleet", "no-such-pool") if by == "name" else (desk.pool.id, rows.pool().id)
        refusals = []
        for pool in (there, nowhere):
            with pytest.raises(OperationError) as refused:
                list_bookings(desk.session, pool=pool, tenant_id=GLOBEX)
            assert refused.value.code == Code.NOT_FOUND
            refusals.append(str(refused.value).replace(pool, "POOL"))
        assert refusals[0] == refusals[1]
        assert list_bookings(desk.session, tenant_id=GLOBEX) == ()

    def test_a_tenants_own_pool_of_that_name_is_found_beside_the_platforms(self, desk: Desk) -> None:
        own = new_pool(desk.session.store, tenant_id=GLOBEX)
        book(desk, "platforms")
        book(desk, "globexs", tenant=GLOBEX)
        [found] = list_bookings(desk.session, pool="gpu-fleet", tenant_id=GLOBEX)
        assert (found.name, found.record.pool_id) == ("globexs", own.id)
        assert len(list_bookings(desk.session, pool="gpu-fleet")) == 2

    def test_what_is_left_in_an_archived_pool_is_found(self, desk: Desk) -> None:
        book(desk, "left")
        with desk.session.store.write() as tx:
            fleet.put_pool(tx, replace(desk.pool, archived_at=tx.now))
        assert names(list_bookings(desk.session, pool="gpu-fleet")) == ["left"]
        assert names(list_bookings(desk.session)) == ["left"]

    @pytest.mark.parametrize("strange", ["", "\0", "a\0b", "acme\n", "²", "x" * 100_000, f"{ACME}/ann"])
    def test_strange_names_are_nobodys(self, desk: Desk, strange: str) -> None:
        book(desk, "acmes", tenant=ACME)
        assert list_bookings(desk.session, tenant_id=TenantId(strange)) == ()
        assert list_bookings(desk.session, names=[strange]) == ()
        for arguments in ({"pool": strange}, {"pool": "gpu-fleet", "tenant_id": TenantId(strange)}):
            with pytest.raises(OperationError) as refused:
                list_bookings(desk.session, **arguments)  # type: ignore[arg-type]
            assert refused.value.code == Code.NOT_FOUND
            assert len(str(refused.value)) < 500


@pytest.mark.parametrize("tenant", [None, ACME])
def test_however_many_there_are_they_take_the_same_few_statements(desk: Desk, tenant: TenantId | None) -> None:
    def asked() -> tuple[int, int]:
        with statements(desk.session.store) as sent:
            found = list_bookings(desk.session, pool="gpu-fleet", tenant_id=tenant)
        return len(found), len([one for one in sent if "FROM" in one])

    add_node(desk)
    book(desk, "first", tenant=ACME)
    book(desk, "waits", tenant=ACME, gpus=16)
    few = asked()
    for number in range(30):
        book(desk, f"train-{number}", tenant=ACME)
    assert (few[0], asked()) == (2, (32, few[1]))
    assert few[1] <= 10


def test_what_is_pending_says_what_it_waits_for_as_bc_reservation_does(desk: Desk) -> None:
    waits = book(desk, "first")
    assert [one.record.message for one in list_bookings(desk.session)] == ["no node of the pool has joined yet"]
    add_node(desk)
    stands, large = book(desk, "second"), book(desk, "large", gpus=16)
    told = {one.record.id: one.record for one in list_bookings(desk.session)}
    assert (told[stands.id].state, told[stands.id].message) == (ReservationState.BOUND, "")
    for one in (waits, large):
        assert told[one.id] == with_reason(desk.session, one)
    assert "the largest of the pool's" in told[large.id].message
