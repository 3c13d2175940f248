# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Node pools by the DOKS driver: made, changed whole, found again, and the last one that stays with its cluster."""

from __future__ import annotations

import dataclasses

import pytest

from ansible_collections.better_compute.fleet.emulators.engine import Error, LostReply
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.declared import Taint
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    AlreadyExists,
    InUse,
    InvalidRequest,
    OperationInProgress,
    StockedOut,
    Unavailable,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import NodeBounds
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import ProviderStatus
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.contract import (
    Deletion,
    NodePoolSpec,
)
from ansible_collections.better_compute.fleet.tests.support.doks_subject import CLUSTER, NODE_POOL, DoksSubject

OTHER = dataclasses.replace(NODE_POOL, name="other", nodes=1)
BLUE = Taint(key="team", effect="NoSchedule", value="blue")
POST, PUT, DELETE = (f"{verb} clusters/{{id}}/node_pools" for verb in ("POST", "PUT", "DELETE"))


def test_a_size_that_doks_does_not_have_is_refused_with_those_that_it_has(ocean: DoksSubject) -> None:
    ocean.stand()
    wanted = dataclasses.replace(OTHER, machine_type="gpu-h100x9-720gb", gpus_per_node=9)
    with pytest.raises(InvalidRequest, match="gpu-mi300x8-1536gb") as caught:
        ocean.open().ensure_node_pool(CLUSTER, wanted, None)
    assert "s-2vcpu-4gb" not in str(caught.value)
    assert ocean.changes() == ["POST clusters"]


@pytest.mark.parametrize("name", ["nvidia_gpu_device_plugin", "amd_gpu_device_plugin"])
def test_no_gpus_are_put_where_digitaloceans_own_device_plugin_would_give_them_away(
    ocean: DoksSubject, name: str
) -> None:
    ocean.stand()
    ocean.cloud.console.edit_cluster(ocean.shown()["id"], **{name: {"enabled": True}})
    with pytest.raises(InvalidRequest, match=f"^devicePluginOn: node pool 'other' .* switch off its {name}$"):
        ocean.open().ensure_node_pool(CLUSTER, OTHER, None)
    assert ocean.changes() == ["POST clusters"]
    ocean.open().ensure_node_pool(
        CLUSTER, dataclasses.replace(OTHER, machine_type="s-2vcpu-4gb", gpus_per_node=0, gpu_type=None), None
    )
    assert ocean.changes() == ["POST clusters", "POST clusters/{id}/node_pools"]


@pytest.mark.parametrize(
    "wanted",
    [
        dataclasses.replace(OTHER, nodes=0),
        dataclasses.replace(OTHER, disk_gib=100),
        dataclasses.replace(OTHER, disk_type="ssd"),
        dataclasses.replace(OTHER, places=("nyc2-a",)),
        dataclasses.replace(OTHER, gpus_per_node=4),
    ],
)
def test_what_doks_cannot_make_is_refused_before_anything_is_asked(ocean: DoksSubject, wanted: NodePoolSpec) -> None:
    ocean.stand()
    before = ocean.calls()
    with pytest.raises(InvalidRequest):
        ocean.open().ensure_node_pool(CLUSTER, wanted, None)
    assert ocean.calls() == before


@pytest.mark.parametrize(("allow_spot", "previews"), [(False, False), (True, False), (False, True)])
def test_spot_needs_both_of_the_accounts_switches(ocean: DoksSubject, allow_spot: bool, previews: bool) -> None:
    ocean.stand()
    settings = dataclasses.replace(ocean.settings, allow_spot=allow_spot, previews=previews)
    spot = dataclasses.replace(OTHER, spot=True)
    with pytest.raises(InvalidRequest, match="allowSpot"):
        dataclasses.replace(ocean, settings=settings).open().ensure_node_pool(CLUSTER, spot, None)
    ocean.open().ensure_node_pool(CLUSTER, spot, None)
    assert ocean.standing("other").spot


def test_a_node_pool_whose_create_got_no_reply_is_not_made_again(ocean: DoksSubject) -> None:
    ocean.stand()
    ocean.engine.faults.add("digitalocean", POST, LostReply())
    with pytest.raises(Unavailable):
        ocean.open().ensure_node_pool(CLUSTER, OTHER, None)
    assert ocean.open().ensure_node_pool(CLUSTER, OTHER, None).status is ProviderStatus.CREATING
    assert ocean.changes() == ["POST clusters", POST]


def test_a_change_keeps_what_the_user_gave_the_node_pool(ocean: DoksSubject) -> None:
    ocean.stand()
    held = ocean.shown_node_pool()
    ocean.cloud.console.edit_node_pool(
        ocean.shown()["id"],
        held["id"],
        tags=[*held["tags"], "finance:gpu"],
        labels={**held["labels"], "by": "hand"},
        taints=[{**BLUE.to_data(), "value": "blue"}],
    )
    sent = ocean.open().ensure_node_pool(CLUSTER, dataclasses.replace(NODE_POOL, nodes=5), ocean.standing())
    assert (sent.status, sent.nodes) == (ProviderStatus.UPDATING, 5)
    shown = ocean.shown_node_pool()
    assert (shown["count"], set(shown["tags"])) == (5, {*held["tags"], "finance:gpu"})
    assert shown["labels"] == {**held["labels"], "by": "hand"}
    assert [taint["key"] for taint in shown["taints"]] == ["team"]


def test_a_node_pool_of_ours_that_somebody_renamed_is_neither_made_again_nor_taken_for_gone(ocean: DoksSubject) -> None:
    ocean.stand(NODE_POOL, OTHER)
    found = ocean.standing()
    ocean.cloud.console.edit_node_pool(ocean.shown()["id"], ocean.shown_node_pool()["id"], name="mine-now")
    driver = ocean.open()
    for observed in (None, found):
        with pytest.raises(AlreadyExists, match="mine-now"):
            driver.ensure_node_pool(CLUSTER, dataclasses.replace(NODE_POOL, nodes=5), observed)
    with pytest.raises(AlreadyExists, match="mine-now"):
        driver.delete_node_pool(CLUSTER, NODE_POOL.name, NODE_POOL.tags)
    assert driver.delete_node_pool(CLUSTER, OTHER.name, OTHER.tags) is Deletion.UNDER_WAY
    assert ocean.changes() == ["POST clusters", f"{DELETE}/{{id}}"]


def test_autoscaling_from_zero_and_its_end(ocean: DoksSubject) -> None:
    scaled = dataclasses.replace(NODE_POOL, nodes=0, bounds=NodeBounds(least=0, most=3))
    ocean.stand(OTHER, scaled)
    found = ocean.standing()
    assert (found.nodes, found.status, found.bounds) == (0, ProviderStatus.ACTIVE, scaled.bounds)
    ocean.autoscale(3)
    kept = dataclasses.replace(scaled, keep_count=True)
    assert ocean.open().compare(kept, ocean.standing()) == ()
    ocean.open().ensure_node_pool(CLUSTER, dataclasses.replace(NODE_POOL, nodes=2), ocean.standing())
    ocean.settle()
    found = ocean.standing()
    assert (found.nodes, found.bounds) == (2, None)


def test_labels_that_change_leave_the_autoscalers_count_alone(ocean: DoksSubject) -> None:
    scaled = dataclasses.replace(NODE_POOL, nodes=1, bounds=NodeBounds(least=1, most=9), keep_count=True)
    ocean.stand(scaled)
    ocean.autoscale(7)
    labels = {**NODE_POOL.labels, "team": "blue"}
    ocean.open().ensure_node_pool(CLUSTER, dataclasses.replace(scaled, labels=labels), ocean.standing())
    assert (ocean.shown_node_pool()["count"], ocean.shown_node_pool()["labels"]["team"]) == (7, "blue")


def test_a_change_that_was_made_since_the_node_pool_was_read_is_not_sent_again(ocean: DoksSubject) -> None:
    ocean.stand()
    found, wanted = ocean.standing(), dataclasses.replace(NODE_POOL, nodes=5)
    for _time in range(3):
        assert ocean.open().ensure_node_pool(CLUSTER, wanted, found).status is ProviderStatus.UPDATING
    assert ocean.changes() == ["POST clusters", f"{PUT}/{{id}}"]


def test_nothing_is_sent_while_the_cluster_is_busy(ocean: DoksSubject) -> None:
    ocean.stand(version="1.32")
    found = ocean.standing()
    ocean.open().ensure_cluster(dataclasses.replace(CLUSTER, version="1.33"))
    sent = ocean.open().ensure_node_pool(CLUSTER, dataclasses.replace(NODE_POOL, nodes=5), found)
    assert (sent.status, sent.nodes) == (ProviderStatus.UPDATING, 4)
    with pytest.raises(OperationInProgress):
        ocean.open().ensure_node_pool(CLUSTER, OTHER, None)
    assert ocean.writes() == 2


def test_a_size_that_gets_no_machines_is_stocked_out_and_can_be_taken_back(ocean: DoksSubject) -> None:
    ocean.stand()
    ocean.run_out()
    driver = ocean.open()
    driver.ensure_node_pool(CLUSTER, dataclasses.replace(NODE_POOL, nodes=6), ocean.standing())
    ocean.settle()
    cluster = ocean.open().get_cluster(CLUSTER)
    assert cluster is not None
    assert (cluster.status, cluster.serves) == (ProviderStatus.DEGRADED, True)
    found = ocean.standing()
    assert isinstance(found.failure, StockedOut)
    driver.ensure_node_pool(CLUSTER, NODE_POOL, found)
    ocean.settle()
    found = ocean.standing()
    assert (found.status, found.failure) == (ProviderStatus.ACTIVE, None)


def test_of_two_of_our_node_pools_of_a_name_one_stays_and_the_other_goes(ocean: DoksSubject) -> None:
    ocean.cloud.readings.unique_names = False
    ocean.stand()
    first = ocean.shown_node_pool()
    ocean.clock.advance(60)
    twin = {key: first[key] for key in ("name", "size", "count", "tags", "labels")}
    for tags in (twin["tags"], ["theirs"]):
        ocean.api.kubernetes.add_node_pool(ocean.shown()["id"], {**twin, "tags": tags})
    ocean.settle()
    driver = ocean.open()
    [found] = driver.get_node_pools(CLUSTER)
    driver.ensure_node_pool(CLUSTER, NODE_POOL, found)
    ocean.settle()
    left = ocean.shown()["node_pools"]
    assert len(left) == 2
    assert {pool["id"] for pool in left if "theirs" not in pool["tags"]} == {first["id"]}
    [found] = driver.get_node_pools(CLUSTER)
    before = ocean.writes()
    assert driver.ensure_node_pool(CLUSTER, NODE_POOL, found) == found
    assert driver.delete_node_pool(CLUSTER, "h100", NODE_POOL.tags) is Deletion.UNDER_WAY
    ocean.settle()
    with pytest.raises(AlreadyExists):
        driver.delete_node_pool(CLUSTER, "h100", NODE_POOL.tags)
    assert ocean.writes() == before + 1


@pytest.mark.parametrize("keeps", [True, False])
def test_the_last_node_pool_goes_with_its_cluster_where_doks_does_not_give_it_up(
    ocean: DoksSubject, keeps: bool
) -> None:
    ocean.cloud.readings.keeps_last_node_pool = keeps
    ocean.stand(NODE_POOL, OTHER)
    driver = ocean.open()
    assert driver.delete_node_pool(CLUSTER, "h100", NODE_POOL.tags) is Deletion.UNDER_WAY
    if keeps:
        for _time in range(2):
            with pytest.raises(InUse):
                driver.delete_node_pool(CLUSTER, "other", OTHER.tags)
            ocean.settle()
    else:
        assert driver.delete_node_pool(CLUSTER, "other", OTHER.tags) is Deletion.UNDER_WAY
    assert driver.delete_cluster(CLUSTER) is Deletion.UNDER_WAY
    assert driver.delete_node_pool(CLUSTER, "other", OTHER.tags) is Deletion.UNDER_WAY
    ocean.settle()
    assert driver.delete_cluster(CLUSTER) is Deletion.GONE
    assert driver.delete_node_pool(CLUSTER, "other", OTHER.tags) is Deletion.GONE
    assert list(ocean.leftovers()) == []


def test_a_refusal_to_delete_the_last_node_pool_is_in_use_whatever_its_words(ocean: DoksSubject) -> None:
    no = Error(status=422, code="unprocessable_entity", message="you shall not")
    ocean.stand(NODE_POOL, OTHER)
    ocean.engine.faults.add("digitalocean", f"{DELETE}/{{id}}", no)
    with pytest.raises(InvalidRequest):
        ocean.open().delete_node_pool(CLUSTER, "h100", NODE_POOL.tags)
    ocean.open().delete_node_pool(CLUSTER, "h100", NODE_POOL.tags)
    ocean.engine.faults.add("digitalocean", f"{DELETE}/{{id}}", no)
    with pytest.raises(InUse, match="you shall not"):
        ocean.open().delete_node_pool(CLUSTER, "other", OTHER.tags)
