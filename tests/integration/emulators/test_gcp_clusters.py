# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""GKE clusters, as the real client sees them."""

from __future__ import annotations

from typing import Any

import pytest
from google.api_core import exceptions

from .gke_client import REGION, ZONE, Gcp, gcp

__all__ = ["gcp"]


def test_a_cluster_is_running_once_its_control_plane_and_first_nodes_are_up(gcp: Gcp) -> None:
    begun = gcp.create_cluster()
    assert (begun.operation_type.name, begun.status.name, begun.end_time) == ("CREATE_CLUSTER", "RUNNING", "")
    assert begun.self_link.startswith("https://container.googleapis.com/v1/projects/123456789012/locations/us-central1")
    assert begun.target_link.endswith("/projects/123456789012/locations/us-central1/clusters/one")
    making = gcp.cluster()
    assert (making.status.name, making.endpoint) == ("PROVISIONING", "")
    gcp.clock.advance(300)
    made = gcp.cluster()
    assert made.status.name == "RUNNING"
    assert made.endpoint == "127.0.0.1:9"
    assert (
        made.self_link == "https://container.googleapis.com/v1/projects/my-project/locations/us-central1/clusters/one"
    )
    assert [pool.name for pool in made.node_pools] == ["default-pool"]
    assert made.current_node_count == 3
    done = gcp.operation(begun)
    assert (done.status.name, done.error.code) == ("DONE", 0)
    assert done.end_time != ""
    assert gcp.engine.inventory.machines() == 3


def test_a_zonal_cluster_has_zones_in_its_links(gcp: Gcp) -> None:
    begun = gcp.create_cluster(parent=ZONE)
    assert "/projects/123456789012/zones/us-central1-a/operations/" in begun.self_link
    gcp.clock.advance(300)
    made = gcp.cluster(parent=ZONE)
    assert made.self_link.endswith("/projects/my-project/zones/us-central1-a/clusters/one")
    assert made.current_node_count == 1


def test_a_zonal_cluster_is_read_by_either_form_of_its_name(gcp: Gcp) -> None:
    gcp.running_cluster(parent=ZONE)
    for kind in ("locations", "zones"):
        name = f"projects/my-project/{kind}/us-central1-a/clusters/one"
        assert gcp.call("get_cluster", {"name": name}).name == "one"


def test_a_cluster_has_the_server_s_defaults(gcp: Gcp) -> None:
    made = gcp.running_cluster(initial_cluster_version="1.34")
    assert made.current_master_version == "1.34.9-gke.1029000"
    assert made.current_node_version == made.current_master_version
    assert (made.release_channel.channel.name, list(made.locations)) == (
        "REGULAR",
        ["us-central1-a", "us-central1-b", "us-central1-c"],
    )
    assert made.etag != ""
    assert len(made.instance_group_urls) == 3


@pytest.mark.parametrize(
    "private",
    [
        {"private_cluster_config": {"enable_private_nodes": True}},
        {"network_config": {"default_enable_private_nodes": True}},
    ],
)
def test_node_pools_of_a_private_cluster_are_private(gcp: Gcp, private: dict[str, Any]) -> None:
    made = gcp.running_cluster(**private)
    assert made.network_config.default_enable_private_nodes
    assert made.node_pools[0].network_config.enable_private_nodes


def test_a_deleted_cluster_takes_everything_along(gcp: Gcp) -> None:
    gcp.running_cluster()
    begun = gcp.call("delete_cluster", {"name": f"{REGION}/clusters/one"})
    assert gcp.cluster().status.name == "STOPPING"
    gcp.clock.advance(180)
    with pytest.raises(exceptions.NotFound, match="Not found: projects/my-project/locations/us-central1/clusters/one"):
        gcp.cluster()
    assert gcp.operation(begun).status.name == "DONE"
    assert gcp.engine.inventory.items() == ()
    assert gcp.apis.running == set()
