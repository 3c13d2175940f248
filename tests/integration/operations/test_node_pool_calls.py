# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubernetesNodePools: create, list, update and delete, their error codes, and whose a cluster is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.declared import Autoscaling, Gpus, Taint
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    Code,
    InvalidInput,
    OperationError,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import (
    ClusterId,
    NodePoolId,
    TenantId,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import (
    ClusterState,
    Intent,
    NodePoolState,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.node_pools.calls import (
    create_node_pool,
    delete_node_pool,
    list_node_pools,
    update_node_pool,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.node_pools.wanted import (
    FIXED_SIZE,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import clusters, events, fleet
from ansible_collections.better_compute.fleet.tests.support.node_pool_desk import TENANT, Desk

ACME = TenantId("acme")

Call = Callable[[], object]


@contextmanager
def refusal(code: Code) -> Iterator[None]:
    """Expect the refusal of that code."""
    with pytest.raises(OperationError) as refused:
        yield
    assert refused.value.code == code


def test_a_new_node_pool_is_pending_and_listed_and_told_once_and_its_cluster_is_updating(desk: Desk) -> None:
    made = create_node_pool(
        desk.session,
        tenant_id=TENANT,
        wanted=desk.wanted(
            autoscaling=Autoscaling(min_nodes=1, max_nodes=3),
            spot=True,
            disk_gib=100,
            accelerators=Gpus(type="nvidia-l4", count=1),
            zones=("eu-west-1b", "eu-west-1a"),
            labels={"team": "a"},
            taints=(Taint(key="dedicated", effect="NoSchedule", value="a"),),
        ),
    )
    assert (made.state, made.version, made.of_flavor) == (NodePoolState.PENDING, 1, False)
    listed = {one.name: one for one in list_node_pools(desk.session, tenant_id=TENANT, cluster_id=desk.cluster.id)}
    assert listed["system"] == made
    assert set(listed) == {"h100", "system"}
    cluster = desk.cluster_now()
    assert (cluster.state, cluster.generation) == (ClusterState.UPDATING, desk.cluster.generation + 1)
    with desk.session.store.read() as tx:
        told = [event for event in events.events(tx) if event.type == "kubernetes.nodepool.created"]
    assert [(event.subject, event.data) for event in told] == [
        (desk.cluster.id, {"nodePoolId": made.id, "name": "system"})
    ]


def test_a_resize_raises_the_version_and_leaves_all_else(desk: Desk) -> None:
    made = create_node_pool(desk.session, tenant_id=TENANT, wanted=desk.wanted(labels={"team": "a"}))
    resized = desk.update(made.id, node_count=4)
    assert resized.shape == replace(made.shape, nodes=4)
    assert (resized.state, resized.version, resized.sized_version) == (NodePoolState.UPDATING, 2, 1)
    assert desk.recorded(made.id).sized_version == 2
    bounded = desk.update(made.id, autoscaling=Autoscaling(min_nodes=2, max_nodes=9))
    assert (bounded.version, bounded.shape.nodes) == (3, 4)
    assert desk.recorded(made.id).sized_version == 2, "bounds alone say nothing of the count"
    fixed = desk.update(made.id, autoscaling=FIXED_SIZE)
    assert (fixed.version, fixed.shape.autoscaling) == (4, None)
    assert desk.update(made.id, node_count=4, autoscaling=FIXED_SIZE) == desk.recorded(made.id)
    assert desk.recorded(made.id).version == 4, "what is so already raises nothing"


def test_a_resize_names_at_least_one_of_count_and_bounds(desk: Desk) -> None:
    made = create_node_pool(desk.session, tenant_id=TENANT, wanted=desk.wanted())
    with pytest.raises(InvalidInput, match="at least one of node_count and autoscaling"):
        desk.update(made.id)


@pytest.mark.parametrize(
    ("update", "path"),
    [
        ({"node_count": 1}, "node_count"),
        ({"node_count": 6}, "node_count"),
        ({"autoscaling": Autoscaling(min_nodes=4, max_nodes=9)}, "node_count"),
        ({"autoscaling": Autoscaling(min_nodes=4, max_nodes=9), "node_count": 3}, "node_count"),
        ({"autoscaling": Autoscaling(min_nodes=9, max_nodes=4)}, "autoscaling.min_nodes"),
        ({"autoscaling": Autoscaling(min_nodes=0, max_nodes=0)}, "autoscaling.max_nodes"),
    ],
)
def test_a_count_outside_the_bounds_is_invalid(desk: Desk, update: dict[str, object], path: str) -> None:
    wanted = desk.wanted(node_count=3, autoscaling=Autoscaling(min_nodes=2, max_nodes=5))
    made = create_node_pool(desk.session, tenant_id=TENANT, wanted=wanted)
    with pytest.raises(InvalidInput) as refused:
        desk.update(made.id, **update)
    assert [problem.path for problem in refused.value.problems] == [path]
    assert desk.recorded(made.id) == made


def test_deleting_is_marked_once_and_the_name_is_free_when_it_is_gone(desk: Desk) -> None:
    made = create_node_pool(desk.session, tenant_id=TENANT, wanted=desk.wanted())
    going = desk.delete(made.id)
    assert (going.state, going.version) == (NodePoolState.DELETING, 2)
    generation = desk.cluster_now().generation
    assert desk.delete(made.id) == desk.recorded(made.id)
    assert (desk.recorded(made.id).version, desk.cluster_now().generation) == (2, generation)
    with refusal(Code.INVALID_STATE):
        desk.update(made.id, node_count=2)
    with refusal(Code.CONFLICT):
        create_node_pool(desk.session, tenant_id=TENANT, wanted=desk.wanted())
    desk.set_state(made.id, NodePoolState.DELETED)
    with refusal(Code.NOT_FOUND):
        desk.delete(made.id)
    again = create_node_pool(desk.session, tenant_id=TENANT, wanted=desk.wanted())
    assert (again.id != made.id, again.version) == (True, 1)
    assert desk.recorded(made.id).state == NodePoolState.DELETED, "the deleted row stays"


def test_one_that_the_provider_refused_can_be_changed_and_deleted(desk: Desk) -> None:
    made = create_node_pool(desk.session, tenant_id=TENANT, wanted=desk.wanted())
    desk.set_state(made.id, NodePoolState.ERROR)
    assert desk.update(made.id, node_count=7).state == NodePoolState.UPDATING
    desk.set_state(made.id, NodePoolState.ERROR)
    assert desk.delete(made.id).state == NodePoolState.DELETING


def test_a_name_that_is_taken_conflicts_whoever_has_it(desk: Desk) -> None:
    create_node_pool(desk.session, tenant_id=TENANT, wanted=desk.wanted())
    rows = desk.rows()
    for name, whose in (
        ("system", "a node pool named 'system'"),
        ("h100", "a flavor of pool 'gpu-fleet' named 'h100'"),
    ):
        with pytest.raises(OperationError, match=whose) as refused:
            create_node_pool(desk.session, tenant_id=TENANT, wanted=desk.wanted(name=name))
        assert refused.value.code == Code.CONFLICT
    assert desk.rows() == rows


def test_an_eleventh_is_over_the_quota_as_long_as_one_is_only_being_deleted(desk: Desk) -> None:
    made = [
        create_node_pool(desk.session, tenant_id=TENANT, wanted=desk.wanted(name=f"p{number}")) for number in range(9)
    ]
    desk.delete(made[0].id)
    with refusal(Code.QUOTA_EXCEEDED):
        create_node_pool(desk.session, tenant_id=TENANT, wanted=desk.wanted(name="eleventh"))
    desk.set_state(made[0].id, NodePoolState.DELETED)
    assert create_node_pool(desk.session, tenant_id=TENANT, wanted=desk.wanted(name="tenth")).version == 1


def test_more_nodes_than_the_provider_allows_one_node_pool_are_over_its_quota(desk: Desk) -> None:
    with pytest.raises(OperationError, match="226 nodes x 2 zones = 452") as refused:
        create_node_pool(desk.session, tenant_id=TENANT, wanted=desk.wanted(node_count=226))
    assert refused.value.code == Code.QUOTA_EXCEEDED


def test_a_flavor_is_neither_resized_nor_deleted_and_is_named_with_its_pool(desk: Desk) -> None:
    flavor = desk.node_pools()["h100"]
    rows = desk.rows()
    calls: tuple[Call, ...] = (lambda: desk.update(flavor.id, node_count=5), lambda: desk.delete(flavor.id))
    for call in calls:
        with pytest.raises(OperationError, match="'h100' is a flavor of pool 'gpu-fleet'") as refused:
            call()
        assert refused.value.code == Code.INVALID_STATE
    assert desk.rows() == rows


def test_a_cluster_that_is_being_deleted_takes_no_change(desk: Desk) -> None:
    made = create_node_pool(desk.session, tenant_id=TENANT, wanted=desk.wanted())
    with desk.session.store.write() as tx:
        fleet.put_pool(tx, replace(desk.pool, intent=Intent.TEAR_DOWN))
    rows = desk.rows()
    calls: tuple[Call, ...] = (
        lambda: create_node_pool(desk.session, tenant_id=TENANT, wanted=desk.wanted(name="other")),
        lambda: desk.update(made.id, node_count=5),
        lambda: desk.delete(made.id),
    )
    for call in calls:
        with refusal(Code.INVALID_STATE):
            call()
    assert desk.rows() == rows


def test_one_that_is_being_deleted_is_deleted_again_unchanged_also_while_its_cluster_goes(desk: Desk) -> None:
    made = create_node_pool(desk.session, tenant_id=TENANT, wanted=desk.wanted())
    desk.delete(made.id)
    flavor = desk.node_pools()["h100"]
    desk.set_state(flavor.id, NodePoolState.DELETING)
    with desk.session.store.write() as tx:
        fleet.put_pool(tx, replace(desk.pool, intent=Intent.TEAR_DOWN))
    rows = desk.rows()
    for going in (made, flavor):
        assert desk.delete(going.id) == desk.recorded(going.id)
    assert desk.rows() == rows


def test_what_belongs_to_another_tenant_or_is_not_there_is_not_found(desk: Desk) -> None:
    made = create_node_pool(desk.session, tenant_id=TENANT, wanted=desk.wanted())
    rows, here = desk.rows(), desk.cluster.id
    nowhere = ClusterId("kcl_00000000000000000000000000")
    other = desk.other_cluster()
    calls: tuple[Call, ...] = (
        lambda: list_node_pools(desk.session, tenant_id=ACME, cluster_id=here),
        lambda: create_node_pool(desk.session, tenant_id=ACME, wanted=desk.wanted(name="mine")),
        lambda: update_node_pool(desk.session, tenant_id=ACME, cluster_id=here, node_pool_id=made.id, node_count=5),
        lambda: delete_node_pool(desk.session, tenant_id=ACME, cluster_id=here, node_pool_id=made.id),
        lambda: list_node_pools(desk.session, tenant_id=TENANT, cluster_id=nowhere),
        lambda: delete_node_pool(desk.session, tenant_id=TENANT, cluster_id=other, node_pool_id=made.id),
        lambda: desk.delete(NodePoolId("knp_00000000000000000000000000")),
    )
    for call in calls:
        with refusal(Code.NOT_FOUND):
            call()
    assert desk.rows()["node_pools"] == rows["node_pools"]


def test_a_deleted_clusters_node_pools_are_not_found(desk: Desk) -> None:
    with desk.session.store.write() as tx:
        clusters.set_cluster_status(tx, replace(desk.cluster, state=ClusterState.DELETED))
    with refusal(Code.NOT_FOUND):
        list_node_pools(desk.session, tenant_id=TENANT, cluster_id=desk.cluster.id)


@pytest.mark.parametrize("strange", ["\0", "kcl_\0", "é", "x" * 100_000, "", "kcl_" + "0" * 27 + "\n"], ids=range(6))
def test_strange_text_is_refused_by_either_database_in_a_short_answer(desk: Desk, strange: str) -> None:
    calls: tuple[Call, ...] = (
        lambda: list_node_pools(desk.session, tenant_id=TENANT, cluster_id=ClusterId(strange)),
        lambda: list_node_pools(desk.session, tenant_id=TenantId(strange), cluster_id=desk.cluster.id),
        lambda: desk.delete(NodePoolId(strange)),
        lambda: create_node_pool(desk.session, tenant_id=TENANT, wanted=desk.wanted(idempotency_key=strange)),
        lambda: create_node_pool(desk.session, tenant_id=TENANT, wanted=desk.wanted(name=strange)),
        lambda: create_node_pool(desk.session, tenant_id=TENANT, wanted=desk.wanted(pool=strange)),
        lambda: create_node_pool(desk.session, tenant_id=TENANT, wanted=desk.wanted(labels={strange: strange})),
    )
    for call in calls:
        with pytest.raises(OperationError) as refused:
            call()
        assert len(str(refused.value)) < 1000
