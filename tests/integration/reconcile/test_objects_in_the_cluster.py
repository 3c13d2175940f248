# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a substrate's life writes in its cluster: its own objects and nothing else. Drift is restored."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.emulators.kubernetes import EmulatedCluster
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.api import APPLY_PATCH, ClusterApi
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import SubstrateState
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import Fleet
from ansible_collections.better_compute.fleet.tests.support.life.world import document, without_pools

from .test_our_access_taken_away import administrator

LABEL = "better-compute.dev/substrate-pool"
DAEMON_SET = "/apis/apps/v1/namespaces/better-compute/daemonsets/bcd"
CONFIG_MAP = "/api/v1/namespaces/better-compute/configmaps/bcd"
DELETE = {"apiVersion": "v1", "kind": "DeleteOptions"}

OURS = {
    "POST namespaces": {"bc-access", "better-compute"},
    "POST clusterrolebindings": {"bc-substrate"},
    "POST serviceaccounts": {"bc-access/bc-substrate"},
    "POST configmaps": {"kube-system/better-compute-substrate", "better-compute/bcd"},
    "POST daemonsets": {"better-compute/bcd"},
    "POST secrets": {"better-compute/bcd-join"},
    "PATCH secrets": {"better-compute/bcd-join"},
    "DELETE secrets": {"better-compute/bcd-join"},
    "DELETE daemonsets": {"better-compute/bcd"},
    "DELETE configmaps": {"better-compute/bcd"},
    "DELETE namespaces": {"better-compute"},
}
"""Every write that a life sends, by verb and kind, with its objects. A created cluster goes with what is left in it."""


def cluster_of(fleet: Fleet) -> EmulatedCluster:
    found = fleet.scene.world.apis.cluster(fleet.cluster().name)
    assert found is not None
    return found


def written(fleet: Fleet, *, after: int = 0) -> dict[str, set[str]]:
    """The objects of each verb and kind that the cluster was asked to write."""
    found: dict[str, set[str]] = {}
    for entry in fleet.scene.engine.log.entries(after=after, cloud="kubernetes", mutating=True):
        found.setdefault(entry.call.name, set()).add(entry.call.target.partition("/")[2])
    return found


@contextmanager
def by_hand(fleet: Fleet) -> Iterator[ClusterApi]:
    with administrator(fleet) as api:
        yield api


def change_by_hand(api: ClusterApi, path: str, live: dict[str, Any], content: dict[str, Any]) -> None:
    """A person's server-side apply that takes our fields over."""
    metadata = {key: live["metadata"][key] for key in ("name", "namespace", "uid", "resourceVersion")}
    body = {"apiVersion": live["apiVersion"], "kind": live["kind"], "metadata": metadata} | content
    query = {"fieldManager": "a-person", "force": "true"}
    api.request("PATCH", path, query=query, body=body, content_type=APPLY_PATCH)


def test_a_whole_life_writes_its_own_objects_and_nothing_else(fleet: Fleet) -> None:
    fleet.settle(fleet.apply(document()))
    cluster = cluster_of(fleet)
    cluster.put_node("somebody-elses", labels={"team": "web"})
    with by_hand(fleet) as api:
        theirs = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "theirs", "namespace": "kube-system"}}
        api.request("POST", "/api/v1/namespaces/kube-system/configmaps", body={**theirs, "data": {"key": "value"}})
        before = [cluster.read("Node", "somebody-elses"), cluster.read("ConfigMap", "theirs", "kube-system")]
        fleet.join_all(document())
        fleet.scene.world.aws.lose_instance(fleet.instance_of(next(iter(fleet.nodes()))))
        fleet.live(minutes=5)
        assert [cluster.read("Node", "somebody-elses"), cluster.read("ConfigMap", "theirs", "kube-system")] == before
    fleet.settle(fleet.apply(without_pools(), prune=True))
    asked = written(fleet)
    asked["POST configmaps"].discard("kube-system/theirs")
    assert {verb: names - OURS.get(verb, set()) for verb, names in asked.items()} == {verb: set() for verb in asked}
    assert set(OURS) - {"PATCH secrets"} <= set(asked)


@pytest.mark.parametrize(
    ("path", "content"),
    [
        (
            DAEMON_SET,
            {"spec": {"template": {"spec": {"containers": [{"name": "run", "image": "registry.example/other:1"}]}}}},
        ),
        (CONFIG_MAP, {"data": {"BCD_GATEWAY_URL": "https://elsewhere.example"}}),
    ],
    ids=["DaemonSet", "ConfigMap"],
)
def test_a_field_of_ours_that_somebody_took_over_is_restored_by_the_next_pass_and_then_nothing_is_written(
    fleet: Fleet, path: str, content: dict[str, Any]
) -> None:
    fleet.join_all(document())
    with by_hand(fleet) as api:
        before = api.request("GET", path)
        change_by_hand(api, path, before, content)
        assert api.request("GET", path) != before
        mark = fleet.scene.engine.log.mark
        view = fleet.one_pass()
        assert (view.record.state, view.record.message) == (SubstrateState.READY, "")
        restored = api.request("GET", path)
    for part in content:
        assert restored[part] == before[part]
    assert written(fleet, after=mark) == {f"PATCH {path.split('/')[-2]}": {"better-compute/bcd"}}
    mark = fleet.scene.engine.log.mark
    fleet.one_pass()
    assert written(fleet, after=mark) == {}


def test_what_somebody_deleted_is_made_again(fleet: Fleet) -> None:
    fleet.join_all(document())
    with by_hand(fleet) as api:
        for path in (DAEMON_SET, CONFIG_MAP):
            api.request("DELETE", path, body=DELETE)
        mark = fleet.scene.engine.log.mark
        assert fleet.one_pass().record.state == SubstrateState.READY
    objects = {"better-compute/bcd"}
    assert written(fleet, after=mark) == {"POST configmaps": objects, "POST daemonsets": objects}


def test_an_object_of_our_name_without_our_label_is_refused_and_the_substrate_says_so(fleet: Fleet) -> None:
    fleet.join_all(document())
    with by_hand(fleet) as api:
        api.request("DELETE", CONFIG_MAP, body=DELETE)
        theirs = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"of": "somebody"}}
        theirs["metadata"] = {"name": "bcd", "namespace": "better-compute"}
        api.request("POST", CONFIG_MAP.rpartition("/")[0], body=theirs)
        mark = fleet.scene.engine.log.mark
        record = fleet.one_pass().record
        assert record.state == SubstrateState.ERROR
        assert record.message == (
            "applying bcd: ConfigMap better-compute/bcd stands in the cluster without the label "
            f"{LABEL}: it is left alone; rename or remove it"
        )
        assert (record.nodes_listed, record.nodes_joined) == (3, 3), "the nodes are looked after all the same"
        assert written(fleet, after=mark) == {}
        assert api.request("GET", CONFIG_MAP)["data"] == {"of": "somebody"}
        api.request("DELETE", CONFIG_MAP, body=DELETE)
    assert fleet.one_pass().record.state == SubstrateState.READY
