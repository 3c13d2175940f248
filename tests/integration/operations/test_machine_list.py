# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is told of the machines of pools, and of which; on both databases."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.booking.reserve import reserve
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import Code, OperationError
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import TenantId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import (
    Device,
    PoolNode,
    PoolRecord,
    Reservation,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import NodeState, SubstrateState
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.machine_list import list_machines
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import fleet, pool_nodes, substrates
from ansible_collections.better_compute.fleet.tests.support import rows
from ansible_collections.better_compute.fleet.tests.support.joining_machines import listen, new_node, new_pool
from ansible_collections.better_compute.fleet.tests.support.node_pool_desk import TENANT, Desk
from ansible_collections.better_compute.fleet.tests.support.rows import START, HandClock
from ansible_collections.better_compute.fleet.tests.support.statements import statements

ACME = TenantId("acme")
MIXED = (Device(id="GPU-a", model="L4"), Device(id="GPU-b", model="H100"), Device(id="GPU-c", model="H100"))


@pytest.fixture
def desk(desk: Desk) -> Desk:
    """The desk, with a quota in its pool for the platform and for acme."""
    with desk.session.store.write() as tx:
        for tenant in (TENANT, ACME):
            fleet.put_quota(tx, tenant_id=tenant, pool_id=desk.pool.id, gpus=999)
    return desk


def machine(desk: Desk, name: str = "ip-1", pool: PoolRecord | None = None, **different: Any) -> PoolNode:
    """A machine of the pool that was matched to the Node of this name."""
    matched = {"state": NodeState.MATCHED, "node_name": name, "node_uid": f"uid-{name}", "node_pool": "h100"}
    return new_node(desk.session.store, pool or desk.pool, **{"reported_node_name": name, **matched, **different})


def book(desk: Desk, *, gpus: int = 2, tenant: TenantId = TENANT) -> Reservation:
    return reserve(desk.session.store, tenant_id=tenant, pool_id=desk.pool.id, gpus=gpus, spot=False)


def shown(desk: Desk, **arguments: Any) -> list[str]:
    return [one.shown_name for one in list_machines(desk.session, **arguments).machines]


def test_a_machine_is_told_with_its_node_its_gpus_and_its_bookings(desk: Desk) -> None:
    node = machine(desk, devices=MIXED, hostname="host-1")
    first, second = book(desk, gpus=1, tenant=ACME), book(desk, gpus=1)
    [data] = list_machines(desk.session).to_data()["nodes"]
    bookings = data.pop("bookings")
    assert data == {
        "id": node.id,
        "pool": "gpu-fleet",
        "pool_id": desk.pool.id,
        "tenant_id": "platform",
        "hostname": "host-1",
        "reported_node_name": "ip-1",
        "node_name": "ip-1",
        "node_uid": "uid-ip-1",
        "node_pool": "h100",
        "state": "matched",
        "spot": False,
        "connection": "connected",
        "last_heard": "2026-11-01T12:00:00Z",
        "joined_at": "2026-11-01T12:00:00Z",
        "gpus": [{"model": "H100", "count": 2, "booked": 1}, {"model": "L4", "count": 1, "booked": 1}],
    }
    told = [(one["id"], one["tenant_id"], one["node_name"], one["gpus"]) for one in bookings]
    assert sorted(told) == sorted([(first.id, "acme", "ip-1", 1), (second.id, "platform", "ip-1", 1)])


def test_neither_the_secret_of_a_machine_nor_its_hash_is_told(desk: Desk) -> None:
    node = machine(desk)
    told = json.dumps(list_machines(desk.session).to_data())
    assert node.id in told
    assert node.identity_hash not in told
    assert "hash" not in told


def test_a_silent_machine_is_disconnected_while_somebody_listens_and_else_nobody_knows(
    desk: Desk, clock: HandClock
) -> None:
    machine(desk)
    clock.advance(minutes=5)
    [silent] = list_machines(desk.session).machines
    assert silent.connection == "unknown"
    listen(desk.session.store)
    [silent] = list_machines(desk.session).machines
    assert silent.connection == "disconnected"
    assert silent.to_data()["last_heard"] == "2026-11-01T12:00:00Z"


def test_machines_are_ordered_by_pool_and_by_what_a_person_knows_them_by(desk: Desk) -> None:
    other = new_pool(desk.session.store, name="a-fleet")
    machine(desk, "ip-2")
    machine(desk, "z", other)
    new_node(desk.session.store, desk.pool, reported_node_name=None, hostname="host-1")
    machine(desk, "ip-1")
    assert shown(desk) == ["z", "host-1", "ip-1", "ip-2"]
    assert shown(desk, pool="gpu-fleet") == ["host-1", "ip-1", "ip-2"]
    assert shown(desk, pool=other.id) == ["z"]


def test_the_retired_ones_are_told_when_they_are_asked_for(desk: Desk) -> None:
    gone = machine(desk, "gone")
    machine(desk, "stays")
    machine(desk, "closed", state=NodeState.CORDONED)
    with desk.session.store.write() as tx:
        pool_nodes.retire_node(tx, gone.id)
    assert shown(desk) == ["closed", "stays"]
    assert shown(desk, states=[NodeState.CORDONED]) == ["closed"]
    [retired] = list_machines(desk.session, states=[NodeState.RETIRED]).machines
    assert (retired.record.id, retired.gpus, retired.bookings) == (gone.id, (), ())


def test_what_waits_for_a_machine_is_told_beside_the_machines(desk: Desk) -> None:
    machine(desk)
    stands, waits = book(desk), book(desk, gpus=8)
    found = list_machines(desk.session, pool="gpu-fleet")
    assert [one.record.id for one in found.machines[0].bookings] == [stands.id]
    assert [one.record.id for one in found.pending] == [waits.id]
    assert [one["id"] for one in found.to_data()["pending"]] == [waits.id]


def test_nodes_without_a_joined_bcd_are_counted_for_each_pool_that_has_such(desk: Desk) -> None:
    def record(waiting_nodes: int, **different: Any) -> None:
        made = rows.substrate(desk.pool.id, desk.cluster, waiting_nodes=waiting_nodes, **different)
        with desk.session.store.write() as tx:
            substrates.put_substrate(tx, made)

    record(0)
    assert list_machines(desk.session).waiting == ()
    record(3, waiting_since=START)
    told = {"pool": "gpu-fleet", "pool_id": desk.pool.id, "tenant_id": "platform"}
    assert list_machines(desk.session).to_data()["waiting_to_join"] == [
        {**told, "nodes": 3, "since": "2026-11-01T12:00:00Z"}
    ]
    record(3, state=SubstrateState.DELETED)
    assert list_machines(desk.session).waiting == ()


def test_a_tenant_sees_the_machines_of_its_own_pools_alone(desk: Desk) -> None:
    own = new_pool(desk.session.store, tenant_id=ACME)
    machine(desk, "platforms")
    machine(desk, "acmes", own)
    book(desk, tenant=ACME)
    assert sorted(shown(desk)) == sorted(shown(desk, pool="gpu-fleet")) == ["acmes", "platforms"]
    for arguments in ({}, {"pool": "gpu-fleet"}, {"pool": own.id}):
        assert shown(desk, tenant_id=ACME, **arguments) == ["acmes"]
    # A quota lets it book there, and no more.
    refusals = []
    for pool in (desk.pool.id, rows.pool().id):
        with pytest.raises(OperationError) as refused:
            list_machines(desk.session, pool=pool, tenant_id=ACME)
        assert refused.value.code == Code.NOT_FOUND
        refusals.append(str(refused.value).replace(pool, "POOL"))
    assert refusals[0] == refusals[1]


def test_a_pool_on_its_way_out_is_found_by_its_name(desk: Desk) -> None:
    machine(desk)
    with desk.session.store.write() as tx:
        fleet.put_pool(tx, replace(desk.pool, archived_at=tx.now))
    assert shown(desk, pool="gpu-fleet") == shown(desk) == ["ip-1"]


@pytest.mark.parametrize("strange", ["", "\0", "a\0b", "²", "x" * 100_000])
def test_strange_names_are_no_pools_and_nobodys(desk: Desk, strange: str) -> None:
    machine(desk)
    assert shown(desk, tenant_id=TenantId(strange)) == []
    for arguments in ({"pool": strange}, {"pool": "gpu-fleet", "tenant_id": TenantId(strange)}):
        with pytest.raises(OperationError) as refused:
            shown(desk, **arguments)
        assert refused.value.code == Code.NOT_FOUND
        assert len(str(refused.value)) < 500


def test_however_many_there_are_they_take_the_same_few_statements(desk: Desk) -> None:
    def asked() -> tuple[int, int]:
        with statements(desk.session.store) as sent:
            found = list_machines(desk.session, pool="gpu-fleet")
        return sum(len(one.bookings) for one in found.machines), len([one for one in sent if "FROM" in one])

    machine(desk, "ip-0")
    book(desk)
    few = asked()
    nodes = [
        rows.node(desk.pool.id, state=NodeState.MATCHED, node_name=f"ip-{number}", node_uid=f"uid-{number}")
        for number in range(1, 1200)
    ]
    with desk.session.store.write() as tx:
        pool_nodes.add_nodes(tx, nodes)
    for _booking in range(9):
        book(desk)
    assert (few[0], asked()) == (1, (10, few[1]))
    assert few[1] <= 9
