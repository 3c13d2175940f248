# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests for node pools that come twice, at once, or many in one: idempotency keys, races, all or none."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.declared import Autoscaling, Taint
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    Code,
    InvalidInput,
    OperationError,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import NodePoolRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import NodePoolState
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.node_pools.calls import (
    create_node_pool,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.node_pools.converging import (
    apply_node_pools,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.node_pools.deciding import (
    Wish,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.node_pools.planning import (
    plan_node_pools,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.node_pools.wanted import (
    WantedNodePool,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import events
from ansible_collections.better_compute.fleet.tests.support.node_pool_desk import TENANT, Desk

FIRST = Taint(key="a", effect="NoSchedule")
SECOND = Taint(key="b", effect="NoExecute", value="x")


def create(desk: Desk, **different: object) -> NodePoolRecord:
    return create_node_pool(desk.session, tenant_id=TENANT, wanted=desk.wanted(**different))


def at_once(*calls: Callable[[], NodePoolRecord]) -> list[NodePoolRecord | OperationError]:
    """What becomes of calls that begin at the same moment, in their order."""
    begin = Barrier(len(calls))

    def run(call: Callable[[], NodePoolRecord]) -> NodePoolRecord | OperationError:
        begin.wait()
        try:
            return call()
        except OperationError as error:
            return error

    with ThreadPoolExecutor(max_workers=len(calls)) as threads:
        return list(threads.map(run, calls))


def created(desk: Desk) -> int:
    """How many node pools were told to be new."""
    with desk.session.store.read() as tx:
        return sum(event.type == "kubernetes.nodepool.created" for event in events.events(tx))


def test_a_repeated_request_is_answered_with_the_same_node_pool_and_makes_nothing(desk: Desk) -> None:
    first = create(desk, idempotency_key="k", zones=("eu-west-1b", "eu-west-1a"), taints=(FIRST, SECOND))
    rows = desk.rows()
    again = create(desk, idempotency_key="k", zones=("eu-west-1a", "eu-west-1b"), taints=(SECOND, FIRST), spot=False)
    assert again == first
    assert desk.rows() == rows
    assert created(desk) == 1


def test_a_repeated_request_is_answered_with_what_became_of_its_node_pool(desk: Desk) -> None:
    made = create(desk, idempotency_key="k")
    desk.update(made.id, node_count=9)
    assert create(desk, idempotency_key="k").shape.nodes == 9
    desk.delete(made.id)
    assert create(desk, idempotency_key="k").state == NodePoolState.DELETING
    desk.set_state(made.id, NodePoolState.DELETED)
    rows = desk.rows()
    gone = create(desk, idempotency_key="k")
    assert (gone.id, gone.state) == (made.id, NodePoolState.DELETED)
    assert desk.rows() == rows


@pytest.mark.parametrize(
    "different",
    [
        {"name": "other"},
        {"node_count": 3},
        {"spot": True},
        {"autoscaling": Autoscaling(min_nodes=1, max_nodes=3)},
        {"labels": {"team": "a"}},
        {"taints": (FIRST,)},
        {"zones": ("eu-west-1a",)},
    ],
    ids=str,
)
def test_a_key_that_comes_with_another_request_conflicts(desk: Desk, different: dict[str, object]) -> None:
    create(desk, idempotency_key="k")
    rows = desk.rows()
    with pytest.raises(OperationError, match="idempotency key 'k' was used for another request") as refused:
        create(desk, idempotency_key="k", **different)
    assert refused.value.code == Code.CONFLICT
    assert desk.rows() == rows


def test_keys_of_other_callers_and_clusters_are_other_keys(desk: Desk) -> None:
    mine = create(desk, idempotency_key="k")
    theirs = create(desk.calling_as("bob"), idempotency_key="k", name="theirs")
    elsewhere = create(desk, idempotency_key="k", cluster_id=desk.other_cluster())
    assert len({mine.id, theirs.id, elsewhere.id}) == 3


def test_a_refused_request_leaves_its_key_free(desk: Desk) -> None:
    with pytest.raises(InvalidInput):
        create(desk, idempotency_key="k", node_count=1001)
    assert create(desk, idempotency_key="k").shape.nodes == 2


def test_the_same_request_twice_at_once_makes_one(desk: Desk) -> None:
    answers = at_once(*[lambda: create(desk, idempotency_key="k")] * 4)
    assert {answer.id if isinstance(answer, NodePoolRecord) else str(answer) for answer in answers} == {
        desk.node_pools()["system"].id
    }
    assert created(desk) == 1


def test_of_two_who_want_one_name_at_once_one_gets_it(desk: Desk) -> None:
    answers = at_once(
        lambda: create(desk, idempotency_key="k"), lambda: create(desk.calling_as("bob"), idempotency_key="k")
    )
    [refused] = [answer for answer in answers if isinstance(answer, OperationError)]
    assert refused.code == Code.CONFLICT
    assert created(desk) == 1


def test_an_eleventh_that_two_race_for_is_refused_to_one(desk: Desk) -> None:
    for number in range(8):
        create(desk, name=f"p{number}")
    answers = at_once(*(lambda name=name: create(desk, name=name) for name in ("tenth", "eleventh", "twelfth")))
    refused = [answer for answer in answers if isinstance(answer, OperationError)]
    assert [error.code for error in refused] == [Code.QUOTA_EXCEEDED] * 2
    assert len(desk.node_pools()) == 10


def test_two_tasks_that_name_the_same_clusters_in_another_order_do_not_hold_each_other_up(desk: Desk) -> None:
    other = desk.other_cluster()

    def add(*names: str, clusters: tuple[object, ...]) -> NodePoolRecord:
        wanted = [desk.wanted(name=name, cluster_id=cluster) for name in names for cluster in clusters]
        return many(desk, wanted)[0]

    answers = at_once(
        lambda: add("a", "b", clusters=(desk.cluster.id, other)),
        lambda: add("c", "d", clusters=(other, desk.cluster.id)),
    )
    assert all(isinstance(answer, NodePoolRecord) for answer in answers)
    assert set(desk.node_pools()) == {"h100", "a", "b", "c", "d"}


def many(desk: Desk, wanted: list[WantedNodePool], wish: Wish = Wish.PRESENT) -> list[NodePoolRecord]:
    """Bring many node pools about; those that are there then."""
    plan = apply_node_pools(desk.session, tenant_id=TENANT, wanted=wanted, wish=wish)
    return [entry.after for entry in plan.entries if entry.after is not None]


def test_many_of_many_clusters_are_recorded_together_and_each_cluster_once(desk: Desk) -> None:
    other = desk.other_cluster()
    made = many(
        desk,
        [
            desk.wanted(name="a"),
            replace(desk.wanted(name="a"), cluster_id=None, pool="other-fleet"),
            desk.wanted(name="b", cluster_id=other),
        ],
    )
    assert [one.cluster_id for one in made] == [desk.cluster.id, other, other]
    assert desk.cluster_now().generation == 2
    assert created(desk) == 3


def test_one_that_is_refused_keeps_all_others_from_being_recorded(desk: Desk) -> None:
    rows = desk.rows()
    for bad in (desk.wanted(name="b", node_count=-1), desk.wanted(name="h100"), desk.wanted(name="b", pool="none")):
        with pytest.raises(OperationError):
            many(desk, [desk.wanted(name="a"), bad])
        with pytest.raises(OperationError):
            plan_node_pools(desk.session, tenant_id=TENANT, wanted=[desk.wanted(name="a"), bad], wish=Wish.PRESENT)
    assert desk.rows() == rows


def test_all_refusals_of_a_kind_are_told_at_once(desk: Desk) -> None:
    with pytest.raises(OperationError) as refused:
        many(desk, [desk.wanted(name="a", pool="x"), desk.wanted(name="b", pool="y"), desk.wanted(name="c")])
    assert refused.value.code == Code.NOT_FOUND
    assert [line.partition(":")[0] for line in str(refused.value).splitlines()] == [
        "tenant 'platform' has no pool 'x'",
        "tenant 'platform' has no pool 'y'",
    ]


def test_one_name_twice_in_a_call_is_told_with_both_places_also_when_its_cluster_is_named_otherwise(desk: Desk) -> None:
    twice = [
        desk.wanted(path="node_pools[0]"),
        replace(desk.wanted(path="node_pools[1]"), cluster_id=None, pool="gpu-fleet"),
    ]
    with pytest.raises(InvalidInput) as refused:
        many(desk, twice)
    assert [(one.path, one.message) for one in refused.value.problems] == [
        ("node_pools[1].name", "'system' stands twice in the call, also at node_pools[0]")
    ]


def test_one_key_for_two_node_pools_of_a_call_is_told_with_both_places(desk: Desk) -> None:
    twice = [
        desk.wanted(path=f"node_pools[{index}]", name=name, idempotency_key="k") for index, name in enumerate("ab")
    ]
    with pytest.raises(InvalidInput) as refused:
        many(desk, twice)
    assert [one.path for one in refused.value.problems] == ["node_pools[1].idempotency_key"]
    elsewhere = replace(twice[1], cluster_id=desk.other_cluster())
    assert len(many(desk, [twice[0], elsewhere])) == 2
