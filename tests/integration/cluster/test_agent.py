# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bcd in the cluster: created, compared, applied only on a difference, removed only if it is ours."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from ansible_collections.better_compute.fleet.emulators.engine import Call, Hook, LostReply
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.agent import apply_agent, remove_agent
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.join_secret import write_join_token
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    ClusterConflict,
    ClusterUnreachable,
    NotOurs,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.secret import Secret

from .conftest import LABEL, OTHER_POOL, POOL, SETTINGS, AnyWorld, World

if TYPE_CHECKING:
    from ansible_collections.better_compute.fleet.tests.support.controlplane.cluster import RealCluster

NAMESPACE = "better-compute"
DAEMON_SET = f"/apis/apps/v1/namespaces/{NAMESPACE}/daemonsets/bcd"


@pytest.fixture
def world(any_world: AnyWorld) -> AnyWorld:
    return any_world


def pod(world: AnyWorld) -> dict[str, Any]:
    (daemon_set,) = world.cluster.daemon_sets()
    found: dict[str, Any] = daemon_set["spec"]["template"]["spec"]
    return found


def test_the_first_call_creates_in_order(world: AnyWorld) -> None:
    api = world.open()
    mark = world.engine.log.mark
    assert apply_agent(api, pool_id=POOL, agent=SETTINGS)
    assert world.writes(after=mark) == [
        f"POST namespaces gpu/{NAMESPACE}",
        f"POST configmaps gpu/{NAMESPACE}/bcd",
        f"POST daemonsets gpu/{NAMESPACE}/bcd",
    ]


def test_the_second_call_writes_nothing_and_reads_each_object_once(world: AnyWorld) -> None:
    api = world.open()
    apply_agent(api, pool_id=POOL, agent=SETTINGS)
    mark = world.engine.log.mark
    assert not apply_agent(api, pool_id=POOL, agent=SETTINGS)
    assert world.calls(after=mark) == [
        f"GET namespaces gpu/{NAMESPACE}",
        f"GET configmaps gpu/{NAMESPACE}/bcd",
        f"GET daemonsets gpu/{NAMESPACE}/bcd",
    ]


def test_a_new_image_is_applied_to_the_daemon_set_alone(world: AnyWorld) -> None:
    api = world.open()
    apply_agent(api, pool_id=POOL, agent=SETTINGS)
    mark = world.engine.log.mark
    newer = dataclasses.replace(SETTINGS, image="registry.example/bcd:1.1")
    assert apply_agent(api, pool_id=POOL, agent=newer)
    assert world.writes(after=mark) == [f"PATCH daemonsets gpu/{NAMESPACE}/bcd"]
    assert pod(world)["containers"][0]["image"] == "registry.example/bcd:1.1"
    assert not apply_agent(api, pool_id=POOL, agent=newer)


def test_new_pins_reach_the_config_map_and_roll_the_pods(world: AnyWorld) -> None:
    api = world.open()
    apply_agent(api, pool_id=POOL, agent=SETTINGS)
    mark = world.engine.log.mark
    newer = dataclasses.replace(SETTINGS, pins=("cGlu", "bmV3"))
    assert apply_agent(api, pool_id=POOL, agent=newer)
    assert world.writes(after=mark) == [
        f"PATCH configmaps gpu/{NAMESPACE}/bcd",
        f"PATCH daemonsets gpu/{NAMESPACE}/bcd",
    ]
    config = world.cluster.read("ConfigMap", "bcd", NAMESPACE)
    assert config is not None
    assert config["data"]["BCD_PINS"] == "cGlu,bmV3"


def test_a_field_that_somebody_changed_by_hand_is_set_back(world: AnyWorld) -> None:
    api = world.open()
    apply_agent(api, pool_id=POOL, agent=SETTINGS)
    change_by_hand(world, image="registry.example/other:1")
    assert apply_agent(api, pool_id=POOL, agent=SETTINGS)
    assert pod(world)["containers"][0]["image"] == SETTINGS.image


def change_by_hand(world: AnyWorld, *, image: str) -> None:
    admin = world.admin()
    for _turn in range(20):
        metadata = admin.request("GET", DAEMON_SET)["metadata"]
        body = {
            "apiVersion": "apps/v1",
            "kind": "DaemonSet",
            "metadata": {key: metadata[key] for key in ("name", "namespace", "uid", "resourceVersion")},
            "spec": {"template": {"spec": {"containers": [{"name": "run", "image": image}]}}},
        }
        # A real one's controller writes its status meanwhile.
        with contextlib.suppress(ClusterConflict):
            admin.request(
                "PATCH",
                DAEMON_SET,
                query={"fieldManager": "a-person", "force": "true"},
                body=body,
                content_type="application/apply-patch+yaml",
            )
            return
    pytest.fail("the DaemonSet never stands still")


@pytest.mark.controlplane
def test_a_status_that_moves_on_between_compare_and_apply_is_no_conflict(
    real_world: AnyWorld, real_cluster_api: RealCluster
) -> None:
    api = real_world.open()
    apply_agent(api, pool_id=POOL, agent=SETTINGS)

    def move_on(_call: Call) -> None:
        status = {"status": {"currentNumberScheduled": 0, "conditions": [{"type": str(uuid4()), "status": "True"}]}}
        patched = real_cluster_api.admin.send(
            "PATCH", f"{DAEMON_SET}/status", body=status, content_type="application/merge-patch+json"
        )
        assert patched.status == 200

    real_world.engine.faults.add("kubernetes", "PATCH daemonsets", Hook(on_before=move_on), times=2)
    newer = dataclasses.replace(SETTINGS, image="registry.example/bcd:2")
    assert apply_agent(api, pool_id=POOL, agent=newer)
    assert pod(real_world)["containers"][0]["image"] == newer.image


@pytest.mark.parametrize("first", ["nvidia", None])
def test_a_runtime_class_can_be_given_and_taken_away(world: AnyWorld, first: str | None) -> None:
    api = world.open()
    apply_agent(api, pool_id=POOL, agent=dataclasses.replace(SETTINGS, runtime_class=first))
    for wanted in ("gvisor", None, "nvidia", None):
        settings = dataclasses.replace(SETTINGS, runtime_class=wanted)
        assert apply_agent(api, pool_id=POOL, agent=settings)
        assert pod(world).get("runtimeClassName") == wanted
        assert not apply_agent(api, pool_id=POOL, agent=settings)


def test_a_runtime_class_of_the_first_create_can_be_taken_away(world: AnyWorld) -> None:
    api = world.open()
    apply_agent(api, pool_id=POOL, agent=SETTINGS)
    bare = dataclasses.replace(SETTINGS, runtime_class=None)
    assert apply_agent(api, pool_id=POOL, agent=bare)
    assert "runtimeClassName" not in pod(world)
    assert not apply_agent(api, pool_id=POOL, agent=bare)


def test_the_mounts_of_the_nodes_driver_stand_like_the_rest_and_can_be_taken_away(world: AnyWorld) -> None:
    api = world.open()
    apply_agent(api, pool_id=POOL, agent=SETTINGS)
    assert apply_agent(api, pool_id=POOL, agent=SETTINGS, driver_folder="/opt/nvidia")
    assert {"driver", "dev"} <= {volume["name"] for volume in pod(world)["volumes"]}
    assert not apply_agent(api, pool_id=POOL, agent=SETTINGS, driver_folder="/opt/nvidia")
    assert apply_agent(api, pool_id=POOL, agent=SETTINGS)
    assert {"driver", "dev"}.isdisjoint({volume["name"] for volume in pod(world)["volumes"]})
    assert not apply_agent(api, pool_id=POOL, agent=SETTINGS)


def test_a_namespace_without_our_label_is_left_alone(world: AnyWorld) -> None:
    world.put("Namespace", "/api/v1/namespaces", NAMESPACE)
    api = world.open()
    mark = world.engine.log.mark
    with pytest.raises(NotOurs, match=f"Namespace {NAMESPACE}"):
        apply_agent(api, pool_id=POOL, agent=SETTINGS)
    assert world.writes(after=mark) == []


def test_a_config_map_without_our_label_is_left_alone(world: AnyWorld) -> None:
    world.put("Namespace", "/api/v1/namespaces", NAMESPACE, labels={LABEL: POOL})
    world.put("ConfigMap", f"/api/v1/namespaces/{NAMESPACE}/configmaps", "bcd", data={"of": "somebody"})
    with pytest.raises(NotOurs, match="ConfigMap better-compute/bcd"):
        apply_agent(world.open(), pool_id=POOL, agent=SETTINGS)
    live = world.cluster.read("ConfigMap", "bcd", NAMESPACE)
    assert live is not None
    assert live["data"] == {"of": "somebody"}


def test_another_pools_bcd_is_left_alone(world: AnyWorld) -> None:
    api = world.open()
    apply_agent(api, pool_id=OTHER_POOL, agent=SETTINGS)
    mark = world.engine.log.mark
    with pytest.raises(NotOurs, match=OTHER_POOL):
        apply_agent(api, pool_id=POOL, agent=SETTINGS)
    assert remove_agent(api, pool_id=POOL)
    assert world.writes(after=mark) == []


def test_an_object_that_changes_between_compare_and_apply_is_not_overwritten(world: AnyWorld) -> None:
    api = world.open()
    apply_agent(api, pool_id=POOL, agent=SETTINGS)

    def interfere(_call: Call) -> None:
        world.engine.faults.clear()
        change_by_hand(world, image="registry.example/other:1")

    world.engine.faults.add("kubernetes", "PATCH daemonsets", Hook(on_before=interfere))
    with pytest.raises(ClusterConflict):
        apply_agent(api, pool_id=POOL, agent=dataclasses.replace(SETTINGS, image="registry.example/bcd:2"))
    assert pod(world)["containers"][0]["image"] == "registry.example/other:1"


@pytest.mark.parametrize("call", ["POST namespaces", "POST configmaps", "POST daemonsets"])
def test_being_overtaken_at_any_create_is_no_failure(world: AnyWorld, call: str) -> None:
    api = world.open()

    def overtake(_call: Call) -> None:
        world.engine.faults.clear()
        apply_agent(api, pool_id=POOL, agent=SETTINGS)

    world.engine.faults.add("kubernetes", call, Hook(on_before=overtake))
    apply_agent(api, pool_id=POOL, agent=SETTINGS)
    assert not apply_agent(api, pool_id=POOL, agent=SETTINGS)


@pytest.mark.parametrize("call", ["POST namespaces", "POST configmaps", "POST daemonsets"])
def test_a_lost_reply_is_healed_by_the_next_pass(world: AnyWorld, call: str) -> None:
    api = world.open()
    world.engine.faults.add("kubernetes", call, LostReply())
    with pytest.raises(ClusterUnreachable):
        apply_agent(api, pool_id=POOL, agent=SETTINGS)
    apply_agent(api, pool_id=POOL, agent=SETTINGS)
    assert not apply_agent(api, pool_id=POOL, agent=SETTINGS)


def test_removing_says_gone_only_when_pods_and_namespace_are(emulated_world: World) -> None:
    world = emulated_world
    api = world.open()
    apply_agent(api, pool_id=POOL, agent=SETTINGS)
    write_join_token(api, pool_id=POOL, token=Secret("a-join-token"))
    assert not remove_agent(api, pool_id=POOL)
    assert world.cluster.daemon_sets() == ()
    assert world.cluster.read("Namespace", NAMESPACE) is not None
    assert not remove_agent(api, pool_id=POOL)
    world.clock.advance(10)
    assert not remove_agent(api, pool_id=POOL)
    world.clock.advance(10)
    assert remove_agent(api, pool_id=POOL)
    assert [item.id for item in world.engine.inventory.items() if NAMESPACE in item.id] == []


def test_removing_comes_to_an_end_with_the_namespace_gone(world: AnyWorld) -> None:
    api = world.open()
    apply_agent(api, pool_id=POOL, agent=SETTINGS)
    write_join_token(api, pool_id=POOL, token=Secret("a-join-token"))
    passes = 0
    while not remove_agent(api, pool_id=POOL):
        world.settle()
        passes += 1
        assert passes < 5
    assert world.cluster.read("Namespace", NAMESPACE) is None


def test_removing_again_writes_nothing(world: AnyWorld) -> None:
    api = world.open()
    mark = world.engine.log.mark
    assert remove_agent(api, pool_id=POOL)
    assert world.writes(after=mark) == []


def test_nothing_is_applied_into_a_namespace_that_is_going(world: AnyWorld) -> None:
    api = world.open()
    apply_agent(api, pool_id=POOL, agent=SETTINGS)
    remove_agent(api, pool_id=POOL)
    world.settle()
    remove_agent(api, pool_id=POOL)
    with pytest.raises(ClusterConflict, match="being deleted"):
        apply_agent(api, pool_id=POOL, agent=SETTINGS)
    world.settle()
    assert apply_agent(api, pool_id=POOL, agent=SETTINGS)


def test_removing_leaves_what_lost_our_label(world: AnyWorld) -> None:
    world.put("Namespace", "/api/v1/namespaces", NAMESPACE)
    world.put("ConfigMap", f"/api/v1/namespaces/{NAMESPACE}/configmaps", "bcd")
    assert remove_agent(world.open(), pool_id=POOL)
    assert world.cluster.read("ConfigMap", "bcd", NAMESPACE) is not None


def test_removing_never_hits_a_successor(world: AnyWorld) -> None:
    api = world.open()
    apply_agent(api, pool_id=POOL, agent=SETTINGS)

    def replace(_call: Call) -> None:
        world.engine.faults.clear()
        body = {"apiVersion": "v1", "kind": "DeleteOptions"}
        api.request("DELETE", DAEMON_SET, body=body)
        apply_agent(api, pool_id=POOL, agent=SETTINGS)

    world.engine.faults.add("kubernetes", "DELETE daemonsets", Hook(on_before=replace))
    with pytest.raises(ClusterConflict):
        remove_agent(api, pool_id=POOL)
    assert len(world.cluster.daemon_sets()) == 1
