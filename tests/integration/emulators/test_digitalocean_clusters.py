# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The emulated DigitalOcean answers real pydo over real TLS: clusters and node pools are made, listed and deleted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pydo
import pytest
from azure.core.exceptions import HttpResponseError

from ansible_collections.better_compute.fleet.emulators.digitalocean import DigitalOcean, Timings
from ansible_collections.better_compute.fleet.emulators.engine import Engine, LostReply, VirtualClock

TIMINGS = Timings()
POOL = {"name": "h100", "size": "gpu-h100x1-80gb", "count": 2}
CLUSTER = {"name": "one", "region": "nyc2", "version": "1.34.1-do.0", "node_pools": [POOL]}


@pytest.fixture
def engine() -> Iterator[Engine]:
    engine = Engine(VirtualClock())
    yield engine
    engine.close()


@pytest.fixture
def cloud(engine: Engine, tmp_path: Path) -> Iterator[DigitalOcean]:
    with DigitalOcean(engine=engine, directory=tmp_path, timings=TIMINGS) as cloud:
        yield cloud


def client(cloud: DigitalOcean, token: str | None = None) -> Any:
    return pydo.Client(
        token=token or cloud.token,
        endpoint=cloud.endpoint_url,
        connection_verify=str(cloud.ca_file),
        retry_total=0,
    ).kubernetes


def advance(engine: Engine, seconds: float) -> None:
    assert isinstance(engine.clock, VirtualClock)
    engine.clock.advance(seconds)


def test_a_cluster_is_made_with_its_pool_runs_and_leaves_nothing_when_deleted(
    cloud: DigitalOcean, engine: Engine
) -> None:
    doks = client(cloud)
    made = doks.create_cluster(body=CLUSTER)["kubernetes_cluster"]
    assert (made["status"]["state"], made["endpoint"]) == ("provisioning", "")
    assert {node["name"] for node in made["node_pools"][0]["nodes"]} == {""}
    advance(engine, TIMINGS.cluster_create + TIMINGS.node_create)
    read = doks.get_cluster(made["id"])["kubernetes_cluster"]
    assert read["status"]["state"] == "running"
    assert all(node["name"].startswith("h100-") for node in read["node_pools"][0]["nodes"])
    assert engine.inventory.machines() == 2
    doks.delete_cluster(made["id"])
    assert doks.get_cluster(made["id"])["kubernetes_cluster"]["status"]["state"] == "deleting"
    advance(engine, TIMINGS.delete)
    assert doks.get_cluster(made["id"])["id"] == "not_found"
    assert engine.inventory.items() == ()


def test_a_node_pool_is_added_and_deleted_but_the_last_one_stays(cloud: DigitalOcean) -> None:
    doks = client(cloud)
    made = doks.create_cluster(body=CLUSTER)["kubernetes_cluster"]
    added = doks.add_node_pool(made["id"], body={**POOL, "name": "two"})["node_pool"]
    assert doks.get_node_pool(made["id"], added["id"])["node_pool"]["name"] == "two"
    doks.delete_node_pool(made["id"], added["id"])
    [last] = doks.list_node_pools(made["id"])["node_pools"]
    with pytest.raises(HttpResponseError) as refused:
        doks.delete_node_pool(made["id"], last["id"])
    assert refused.value.status_code == 422


def test_a_list_comes_in_pages_of_twenty(cloud: DigitalOcean) -> None:
    doks = client(cloud)
    for number in range(21):
        doks.create_cluster(body={**CLUSTER, "name": f"c{number}"})
    first = doks.list_clusters()
    assert len(first["kubernetes_clusters"]) == 20
    assert "page=2" in first["links"]["pages"]["next"]
    assert len(doks.list_clusters(page=2)["kubernetes_clusters"]) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"region": "moon1"},
        {"version": "1.0.0-do.0"},
        {"node_pools": []},
        {"node_pools": [{**POOL, "count": 0}]},
        {"node_pools": [{**POOL, "size": "huge"}]},
    ],
)
def test_what_does_not_exist_is_refused(cloud: DigitalOcean, engine: Engine, change: dict[str, Any]) -> None:
    with pytest.raises(HttpResponseError) as refused:
        client(cloud).create_cluster(body={**CLUSTER, **change})
    assert refused.value.status_code == 422
    assert engine.inventory.items() == ()


def test_another_token_is_refused(cloud: DigitalOcean) -> None:
    with pytest.raises(HttpResponseError) as refused:
        client(cloud, token="other").list_clusters()
    assert refused.value.status_code == 401


def test_a_lost_reply_leaves_the_cluster(cloud: DigitalOcean) -> None:
    cloud.faults.add("digitalocean", "POST clusters", LostReply())
    doks = client(cloud)
    with pytest.raises(Exception, match=r"(?i)connection|eof|closed|ssl"):
        doks.create_cluster(body=CLUSTER)
    assert len(doks.list_clusters()["kubernetes_clusters"]) == 1
