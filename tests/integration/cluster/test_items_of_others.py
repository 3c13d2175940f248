# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What somebody puts into the lists of bcd's DaemonSet beside ours goes in one pass; the DaemonSet stays."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.emulators.engine import Call, Hook
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.agent import apply_agent
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.api import ClusterApi
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.ensuring import ensure
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.manifests import agent_manifests
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    ClusterConflict,
    ClusterInvalid,
)

from .conftest import POOL, SETTINGS, AnyWorld, World

DAEMON_SET = "/apis/apps/v1/namespaces/better-compute/daemonsets/bcd"
APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"

Pod = dict[str, Any]


@pytest.fixture
def world(any_world: AnyWorld) -> AnyWorld:
    return any_world


def a_variable(pod: Pod) -> None:
    pod["containers"][0]["env"].append({"name": "THEIRS", "value": "1"})


def a_volume(pod: Pod) -> None:
    pod["volumes"].append({"name": "theirs", "hostPath": {"path": "/theirs", "type": ""}})
    pod["initContainers"][0]["volumeMounts"].append({"name": "theirs", "mountPath": "/theirs"})


def a_toleration(pod: Pod) -> None:
    pod["tolerations"].append({"key": "theirs", "operator": "Exists"})


def a_node_selector(pod: Pod) -> None:
    pod["nodeSelector"]["theirs"] = "yes"


def a_container(pod: Pod) -> None:
    pod["containers"].append({"name": "theirs", "image": "registry.example/theirs:1"})


def a_value_in_place_of_ours(pod: Pod) -> None:
    name = pod["containers"][0]["env"][0]["name"]
    pod["containers"][0]["env"][0] = {"name": name, "value": "theirs"}


def another_order(pod: Pod) -> None:
    pod["containers"][0]["env"].reverse()


def nothing_of_a_list(pod: Pod) -> None:
    pod["tolerations"] = None


def change_as_a_stranger(world: AnyWorld, change: Callable[[Pod], None], *, content_type: str = MERGE) -> None:
    """Change the pods' template as somebody with a field manager of their own."""
    admin = world.admin()
    for _turn in range(20):
        live = admin.request("GET", DAEMON_SET)
        changed = copy.deepcopy(live["spec"])
        change(changed["template"]["spec"])
        body = {
            "apiVersion": "apps/v1",
            "kind": "DaemonSet",
            "metadata": {key: live["metadata"][key] for key in ("name", "namespace", "uid", "resourceVersion")},
            "spec": changed,
        }
        query = {"fieldManager": "a-person"} | ({"force": "true"} if content_type == APPLY else {})
        # A real one's controller writes its status meanwhile.
        with contextlib.suppress(ClusterConflict):
            after = admin.request("PATCH", DAEMON_SET, query=query, body=body, content_type=content_type)
            assert after["spec"]["template"] != live["spec"]["template"]
            return
    pytest.fail("the DaemonSet never stands still")


def standing(world: AnyWorld) -> dict[str, Any]:
    """The one DaemonSet: its uid and its pods' template."""
    (daemon_set,) = world.cluster.daemon_sets()
    return {"uid": daemon_set["metadata"]["uid"], "template": daemon_set["spec"]["template"]}


def bring_up(api: ClusterApi, *, without: str | None = None) -> bool:
    """bcd's DaemonSet, perhaps without one of its own variables."""
    manifest = copy.deepcopy(agent_manifests(pool_id=POOL, agent=SETTINGS)[-1])
    for container in (one for group in ("initContainers", "containers") for one in template_of(manifest)[group]):
        container["env"] = [one for one in container["env"] if one["name"] != without]
    return ensure(api, manifest, pool_id=POOL)


def template_of(manifest: dict[str, Any]) -> Pod:
    found: Pod = manifest["spec"]["template"]["spec"]
    return found


@pytest.mark.parametrize("content_type", [APPLY, MERGE])
@pytest.mark.parametrize("add", [a_variable, a_volume, a_toleration, a_node_selector, a_container])
def test_what_a_stranger_added_goes_in_one_pass_and_the_next_writes_nothing(
    world: AnyWorld, add: Callable[[Pod], None], content_type: str
) -> None:
    api = world.open()
    apply_agent(api, pool_id=POOL, agent=SETTINGS)
    before = standing(world)
    change_as_a_stranger(world, add, content_type=content_type)
    assert apply_agent(api, pool_id=POOL, agent=SETTINGS)
    assert standing(world) == before
    mark = world.engine.log.mark
    assert not apply_agent(api, pool_id=POOL, agent=SETTINGS)
    assert world.writes(after=mark) == []


@pytest.mark.parametrize("change", [a_value_in_place_of_ours, another_order, nothing_of_a_list])
def test_what_a_stranger_changed_within_our_items_is_put_back(world: AnyWorld, change: Callable[[Pod], None]) -> None:
    api = world.open()
    apply_agent(api, pool_id=POOL, agent=SETTINGS)
    before = standing(world)
    change_as_a_stranger(world, change)
    assert apply_agent(api, pool_id=POOL, agent=SETTINGS)
    assert standing(world) == before
    assert not apply_agent(api, pool_id=POOL, agent=SETTINGS)


def test_an_item_of_ours_that_is_no_longer_wanted_goes_too_and_can_come_again(world: AnyWorld) -> None:
    api = world.open()
    apply_agent(api, pool_id=POOL, agent=SETTINGS)
    before = standing(world)
    change_as_a_stranger(world, a_variable)
    assert bring_up(api)
    for without in ("BCD_STATE_DIR", "BCD_PINS"):
        assert bring_up(api, without=without)
        template = standing(world)["template"]["spec"]
        for group in ("initContainers", "containers"):
            assert without not in [variable["name"] for variable in template[group][0]["env"]]
        assert not bring_up(api, without=without)
    assert bring_up(api)
    assert standing(world) == before
    assert not bring_up(api)


def test_what_is_put_back_each_time_costs_two_writes_a_pass_and_is_left_so(emulated_world: World) -> None:
    world = emulated_world
    api = world.open()
    apply_agent(api, pool_id=POOL, agent=SETTINGS)
    change_as_a_stranger(world, a_variable)
    uid = standing(world)["uid"]
    putting_back = False

    def put_back(_call: Call) -> None:
        nonlocal putting_back
        if not putting_back and "THEIRS" not in str(standing(world)):
            putting_back = True
            change_as_a_stranger(world, a_variable)
            putting_back = False

    world.engine.faults.add("kubernetes", "PATCH daemonsets", Hook(on_after=put_back), times=None)
    for _pass in range(3):
        mark = world.engine.log.mark
        assert apply_agent(api, pool_id=POOL, agent=SETTINGS)
        ours, theirs = 2, 1
        assert world.writes(after=mark) == ["PATCH daemonsets gpu/better-compute/bcd"] * (ours + theirs)
        assert "THEIRS" in str(standing(world))
    assert standing(world)["uid"] == uid


def test_what_changes_between_the_apply_and_the_patch_is_not_overwritten(world: AnyWorld) -> None:
    api = world.open()
    apply_agent(api, pool_id=POOL, agent=SETTINGS)
    change_as_a_stranger(world, a_variable)

    def interfere(_call: Call) -> None:
        world.engine.faults.clear()
        change_as_a_stranger(world, a_container)

    world.engine.faults.add("kubernetes", "PATCH daemonsets", Hook(on_after=interfere))
    with pytest.raises(ClusterConflict):
        apply_agent(api, pool_id=POOL, agent=SETTINGS)
    assert "registry.example/theirs:1" in str(standing(world))
    assert apply_agent(api, pool_id=POOL, agent=SETTINGS)
    assert "theirs" not in str(standing(world)).lower()


def test_what_is_deleted_between_the_apply_and_the_patch_is_a_conflict_and_made_again(world: AnyWorld) -> None:
    api = world.open()
    apply_agent(api, pool_id=POOL, agent=SETTINGS)
    change_as_a_stranger(world, a_variable)

    def take_away(_call: Call) -> None:
        world.engine.faults.clear()
        world.admin().request("DELETE", DAEMON_SET, body={"apiVersion": "v1", "kind": "DeleteOptions"})

    world.engine.faults.add("kubernetes", "PATCH daemonsets", Hook(on_after=take_away))
    with pytest.raises(ClusterConflict):
        apply_agent(api, pool_id=POOL, agent=SETTINGS)
    assert apply_agent(api, pool_id=POOL, agent=SETTINGS)
    assert not apply_agent(api, pool_id=POOL, agent=SETTINGS)


def test_what_the_api_refuses_is_refused_and_changes_nothing(world: AnyWorld) -> None:
    api = world.open()
    apply_agent(api, pool_id=POOL, agent=SETTINGS)
    before = standing(world)
    manifest = copy.deepcopy(agent_manifests(pool_id=POOL, agent=SETTINGS)[-1])
    template_of(manifest)["nodeSelector"]["theirs"] = "not a value"
    with pytest.raises(ClusterInvalid):
        ensure(api, manifest, pool_id=POOL)
    assert standing(world) == before
