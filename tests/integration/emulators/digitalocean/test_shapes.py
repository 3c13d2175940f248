# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Answers beside the shapes that pydo knows: nothing more than they have (conftest), and all that readers need."""

from __future__ import annotations

from typing import Any

import pytest
from pydo.operations import KubernetesOperations

from tests.support.pydo_shapes import differences, shapes

from .conftest import Account

RARE_OF_CLUSTERS = {
    "amd_gpu_dra_driver",
    "cluster_autoscaler_configuration",
    "control_plane_firewall",
    "coredns_autoscaler",
    "gpu_operator_ready",
    "isolated_workers",
    "nfs_csi_plugin",
    "p2p_oci_registry_plugin",
    "registries",
    "routing_agent",
    "sso",
    "worker_subnet_uuid",
}
"""Parts of DOKS that the product has nothing to do with."""

NODE_POOL: dict[str, Any] = shapes(KubernetesOperations.get_node_pool.__doc__ or "")[200]


def test_a_cluster_a_node_pool_and_a_node_have_every_field_that_pydo_knows(account: Account) -> None:
    cluster = account.running()
    known = shapes(KubernetesOperations.get_cluster.__doc__ or "")[200]["kubernetes_cluster"]
    assert set(known) - set(cluster) <= RARE_OF_CLUSTERS
    [pool] = cluster["node_pools"]
    assert set(NODE_POOL["node_pool"]) - set(pool) == {"gpu_partition_mode"}
    assert set(pool["nodes"][0]) == set(NODE_POOL["node_pool"]["nodes"][0])


def test_credentials_and_options_have_every_field_that_pydo_knows(account: Account) -> None:
    cluster = account.running()
    credentials = account.doks.get_credentials(cluster["id"])
    assert set(credentials) == set(shapes(KubernetesOperations.get_credentials.__doc__ or "")[200])
    options = account.doks.list_options()["options"]
    known = shapes(KubernetesOperations.list_options.__doc__ or "")[200]["options"]
    assert {kind: set(entries[0]) for kind, entries in options.items()} == {
        kind: set(entries[0]) for kind, entries in known.items()
    }


@pytest.mark.parametrize(
    ("answer", "wrong"),
    [
        ({"node_pool": {"name": "one", "labels": {"any": "key"}, "nodes": []}}, []),
        ({"node_pool": {"colour": "red"}}, [".node_pool.colour is not known"]),
        ({"node_pool": {"count": "2"}}, [".node_pool.count is of type str, not int"]),
        ({"node_pool": {"nodes": [{"droplet_id": 7}]}}, [".node_pool.nodes[].droplet_id is of type int, not str"]),
        ({"node_pool": {"taints": {}}}, [".node_pool.taints is of type dict, not list"]),
    ],
)
def test_what_the_shapes_do_not_have_is_found(answer: Any, wrong: list[str]) -> None:
    assert list(differences(answer, NODE_POOL)) == wrong


def test_an_operation_without_an_example_is_not_passed_over() -> None:
    with pytest.raises(ValueError, match="no example"):
        shapes("An operation that pydo documents in another way.")
