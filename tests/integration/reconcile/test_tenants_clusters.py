# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A tenant's own cluster, which backs no pool: made, resized, upgraded and deleted by passes of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import Never

import pytest

from ansible_collections.better_compute.fleet.emulators.engine import Error
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.capabilities import CAPABILITIES
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import PermissionDenied
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import (
    ClusterId,
    TenantId,
    new_cluster_id,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import (
    AccountRecord,
    ClusterRecord,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import ClusterState
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations import passes
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.node_pools.calls import (
    create_node_pool,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.node_pools.wanted import (
    WantedNodePool,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import clusters, events, work
from ansible_collections.better_compute.fleet.tests.support import rows
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import Fleet
from ansible_collections.better_compute.fleet.tests.support.life.world import document, without_pools

ACME = TenantId("acme")


@pytest.fixture
def own(fleet: Fleet) -> ClusterId:
    """Acme's cluster on the platform's account, recorded and due; the platform's own pool is gone again."""
    fleet.apply(document())
    account_id = fleet.cluster().account_id
    fleet.apply(without_pools(), prune=True)
    fleet.live(minutes=10)
    cluster = rows.cluster(
        None,
        id=new_cluster_id(fleet.session.clock.now()),
        tenant_id=ACME,
        account_id=account_id,
        location="us-east-1",
        version="1.33",
    )
    with fleet.session.store.write() as tx:
        clusters.add_cluster(tx, cluster)
        work.add_unit(tx, cluster.id, tx.now)
    return cluster.id


def recorded(fleet: Fleet, cluster_id: ClusterId) -> ClusterRecord:
    with fleet.session.store.read() as tx:
        found = clusters.cluster(tx, cluster_id)
    assert found is not None
    return found


def node_pool_messages(fleet: Fleet, cluster_id: ClusterId) -> list[str]:
    with fleet.session.store.read() as tx:
        return [node_pool.message for node_pool in clusters.node_pools(tx, cluster_id)]


def live_until(fleet: Fleet, cluster_id: ClusterId, state: ClusterState) -> ClusterRecord:
    fleet.live(until=lambda: recorded(fleet, cluster_id).state == state, minutes=40)
    found = recorded(fleet, cluster_id)
    assert found.state == state, found
    return found


def delete(fleet: Fleet, cluster_id: ClusterId) -> None:
    with fleet.session.store.write() as tx:
        clusters.raise_cluster_generation(tx, cluster_id, ClusterState.DELETING)
        work.make_due(tx, cluster_id, tx.now)


def told(fleet: Fleet, cluster_id: ClusterId) -> list[str]:
    with fleet.session.store.read() as tx:
        return [event.type.removeprefix("kubernetes.") for event in events.events(tx) if event.subject == cluster_id]


def test_it_is_made_with_its_node_pools_and_deleted_with_them(fleet: Fleet, own: ClusterId) -> None:
    system = WantedNodePool(cluster_id=own, name="system", machine_type="m7i.large", node_count=1)
    create_node_pool(fleet.session, tenant_id=ACME, wanted=system)
    ready = live_until(fleet, own, ClusterState.READY)
    assert ready.outputs is not None
    assert ready.outputs.version == "1.33"
    assert told(fleet, own) == ["nodepool.created", "nodepool.ready", "cluster.ready"]
    delete(fleet, own)
    live_until(fleet, own, ClusterState.DELETED)
    assert told(fleet, own)[3:] == ["nodepool.deleted", "cluster.deleted"]
    with fleet.session.store.read() as tx:
        assert clusters.node_pools(tx, own) == ()
        assert work.due_of(tx, own) is None


def test_a_ready_one_is_left_alone_but_for_a_look_each_five_minutes(fleet: Fleet, own: ClusterId) -> None:
    live_until(fleet, own, ClusterState.READY)
    writes = len(fleet.scene.engine.log.writes())
    with fleet.session.store.read() as tx:
        due, now = work.due_of(tx, own), tx.now
    assert due is not None
    assert (due - now).total_seconds() == pytest.approx(300, abs=20)
    fleet.live(minutes=11)
    assert len(fleet.scene.engine.log.writes()) == writes
    assert told(fleet, own) == ["cluster.ready"]


def test_a_raised_version_upgrades_it_in_place_and_is_told_once(fleet: Fleet, own: ClusterId) -> None:
    live_until(fleet, own, ClusterState.READY)
    with fleet.session.store.write() as tx:
        clusters.raise_cluster_generation(tx, own, ClusterState.UPDATING, version="1.34")
        work.make_due(tx, own, tx.now)
    after = live_until(fleet, own, ClusterState.READY)
    assert after.outputs is not None
    assert after.outputs.version == "1.34"
    assert told(fleet, own) == ["cluster.ready", "cluster.updated"]


def test_a_refused_create_is_an_error_with_its_reason_and_is_tried_again(fleet: Fleet, own: ClusterId) -> None:
    refusal = Error(status=400, code="InvalidParameterException", message="no such role here")
    fleet.scene.engine.faults.add("aws", "eks.CreateCluster", refusal, target="*", times=1)
    assert "no such role here" in live_until(fleet, own, ClusterState.ERROR).message
    assert live_until(fleet, own, ClusterState.READY).message == ""


def test_an_account_that_cannot_be_used_is_said_by_cluster_and_node_pools_until_it_can(
    fleet: Fleet, own: ClusterId
) -> None:
    def missing(_account: AccountRecord) -> Never:
        raise PermissionDenied("the variable of its credential is not set")

    system = WantedNodePool(cluster_id=own, name="system", machine_type="m7i.large", node_count=1)
    create_node_pool(fleet.session, tenant_id=ACME, wanted=system)
    passes.run_once(replace(fleet.session, open_driver=missing), [own])
    said = "the provider account cannot be used: the variable of its credential is not set"
    found = recorded(fleet, own)
    assert (found.state, found.message, node_pool_messages(fleet, own)) == (ClusterState.ERROR, said, [said])
    assert live_until(fleet, own, ClusterState.READY).message == ""
    assert node_pool_messages(fleet, own) == [""]


def test_one_that_waits_for_its_first_node_pool_waits_on_when_the_account_is_back(
    fleet: Fleet, own: ClusterId, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(_account: AccountRecord) -> Never:
        raise PermissionDenied("the variable of its credential is not set")

    monkeypatch.setitem(CAPABILITIES, "aws", replace(CAPABILITIES["aws"], cluster_needs_nodes=True))
    replace(fleet, session=replace(fleet.session, open_driver=missing)).run_due()
    found = recorded(fleet, own)
    assert found.state == ClusterState.PENDING
    assert "the variable of its credential is not set" in found.message
    fleet.live(minutes=6)
    found = recorded(fleet, own)
    assert (found.state, "once it has a node pool" in found.message) == (ClusterState.PENDING, True)


def test_a_refused_deletion_keeps_the_wish_with_the_reason(fleet: Fleet, own: ClusterId) -> None:
    live_until(fleet, own, ClusterState.READY)
    refusal = Error(status=400, code="InvalidParameterException", message="not while it is protected")
    fleet.scene.engine.faults.add("aws", "eks.DeleteCluster", refusal, target="*", times=1)
    delete(fleet, own)
    fleet.run_due()
    held = recorded(fleet, own)
    assert (held.state, held.delete_attempts) == (ClusterState.DELETING, 1)
    assert "not while it is protected" in held.message
    live_until(fleet, own, ClusterState.DELETED)


def test_a_cluster_that_never_was_made_is_deleted_after_a_look_and_no_write(fleet: Fleet, own: ClusterId) -> None:
    writes = len(fleet.scene.engine.log.writes())
    delete(fleet, own)
    fleet.run_due()
    assert recorded(fleet, own) == replace(recorded(fleet, own), state=ClusterState.DELETED)
    assert len(fleet.scene.engine.log.writes()) == writes
