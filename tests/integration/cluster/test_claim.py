# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The claim: created, never applied over another's, dropped only if it is ours."""

from __future__ import annotations

import pytest

from ansible_collections.better_compute.fleet.emulators.engine import Call, Hook, LostReply
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.claim import (
    drop_claim,
    held_by,
    hold_claim,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    ClaimHeld,
    ClusterConflict,
    ClusterUnreachable,
)

from .conftest import LABEL, OTHER_POOL, POOL, AnyWorld

CONFIG_MAPS = "/api/v1/namespaces/kube-system/configmaps"


@pytest.fixture
def world(any_world: AnyWorld) -> AnyWorld:
    return any_world


def claim_of(world: AnyWorld) -> str | None:
    live = world.cluster.read("ConfigMap", "better-compute-substrate", "kube-system")
    return None if live is None else live["metadata"].get("labels", {}).get(LABEL)


def test_the_claim_is_a_config_map_with_the_pools_id(world: AnyWorld) -> None:
    hold_claim(world.open(), pool_id=POOL)
    assert claim_of(world) == POOL


def test_holding_it_again_reads_once_and_writes_nothing(world: AnyWorld) -> None:
    api = world.open()
    hold_claim(api, pool_id=POOL)
    mark = world.engine.log.mark
    hold_claim(api, pool_id=POOL)
    assert world.calls(after=mark) == ["GET configmaps gpu/kube-system/better-compute-substrate"]


def test_another_pools_claim_is_told_with_its_id_and_what_a_person_may_do(world: AnyWorld) -> None:
    api = world.open()
    hold_claim(api, pool_id=OTHER_POOL)
    mark = world.engine.log.mark
    with pytest.raises(ClaimHeld, match="gone for good") as caught:
        hold_claim(api, pool_id=POOL)
    assert OTHER_POOL in str(caught.value)
    assert "kube-system/better-compute-substrate" in str(caught.value)
    assert world.writes(after=mark) == []


def test_an_unlabelled_config_map_of_that_name_is_a_claim_too(world: AnyWorld) -> None:
    world.put("ConfigMap", CONFIG_MAPS, "better-compute-substrate")
    with pytest.raises(ClaimHeld):
        hold_claim(world.open(), pool_id=POOL)
    assert claim_of(world) is None


def test_whoever_creates_it_first_holds_it(world: AnyWorld) -> None:
    api = world.open()

    def overtake(_call: Call) -> None:
        world.engine.faults.clear()
        hold_claim(api, pool_id=OTHER_POOL)

    world.engine.faults.add("kubernetes", "POST configmaps", Hook(on_before=overtake))
    with pytest.raises(ClaimHeld):
        hold_claim(api, pool_id=POOL)
    assert claim_of(world) == OTHER_POOL


def test_two_passes_of_one_pool_both_hold_it(world: AnyWorld) -> None:
    api = world.open()

    def overtake(_call: Call) -> None:
        world.engine.faults.clear()
        hold_claim(api, pool_id=POOL)

    world.engine.faults.add("kubernetes", "POST configmaps", Hook(on_before=overtake))
    hold_claim(api, pool_id=POOL)
    assert claim_of(world) == POOL


def test_a_lost_reply_is_healed_by_the_next_pass(world: AnyWorld) -> None:
    api = world.open()
    world.engine.faults.add("kubernetes", "POST configmaps", LostReply())
    with pytest.raises(ClusterUnreachable):
        hold_claim(api, pool_id=POOL)
    hold_claim(api, pool_id=POOL)


def test_dropping_deletes_it_and_again_is_no_error(world: AnyWorld) -> None:
    api = world.open()
    hold_claim(api, pool_id=POOL)
    drop_claim(api, pool_id=POOL)
    assert claim_of(world) is None
    mark = world.engine.log.mark
    drop_claim(api, pool_id=POOL)
    assert world.writes(after=mark) == []


def test_dropping_leaves_another_pools_claim(world: AnyWorld) -> None:
    api = world.open()
    hold_claim(api, pool_id=OTHER_POOL)
    drop_claim(api, pool_id=POOL)
    assert claim_of(world) == OTHER_POOL


def test_dropping_never_hits_a_successor(world: AnyWorld) -> None:
    api = world.open()
    hold_claim(api, pool_id=POOL)

    def hand_over(_call: Call) -> None:
        world.engine.faults.clear()
        drop_claim(api, pool_id=POOL)
        hold_claim(api, pool_id=OTHER_POOL)

    world.engine.faults.add("kubernetes", "DELETE configmaps", Hook(on_before=hand_over))
    with pytest.raises(ClusterConflict):
        drop_claim(api, pool_id=POOL)
    assert claim_of(world) == OTHER_POOL


def test_looking_whose_it_is_writes_nothing(world: AnyWorld) -> None:
    api = world.open()
    mark = world.engine.log.mark
    assert held_by(api) is None
    assert world.writes(after=mark) == []
    hold_claim(api, pool_id=OTHER_POOL)
    assert held_by(api) == OTHER_POOL


def test_a_claim_without_a_pools_name_is_still_somebodys(world: AnyWorld) -> None:
    api = world.open()
    nameless = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "better-compute-substrate", "namespace": "kube-system"},
    }
    api.request("POST", CONFIG_MAPS, body=nameless)
    assert held_by(api) == ""
