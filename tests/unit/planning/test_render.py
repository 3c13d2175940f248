# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plan reads well, as text, as data and as a diff."""

from __future__ import annotations

import json

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.load import parse_document
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning import Plan, Records, plan
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning.desired import desired_rows
from ansible_collections.better_compute.fleet.tests.support.fleet_documents import example
from ansible_collections.better_compute.fleet.tests.support.fleet_records import ZONES, converged, written
from ansible_collections.better_compute.fleet.tests.support.rows import START

TEXT = """\
Fleet plan at serial 1: 2 to create, 1 to update, 1 to delete, 1 blocked

Provider accounts
  + provider account spare
      tenantId                  platform
      provider                  aws
      config.eksClusterRoleArn  arn:aws:iam::111111111111:role/eks-cluster
      config.eksNodeRoleArn     arn:aws:iam::111111111111:role/eks-node
      config.eksSubnetIds       subnet-0000000000000000a, subnet-0000000000000000b
      config.region             us-east-1
      config.zones              us-east-1a, us-east-1b

Pool gpu-fleet
  ! pool gpu-fleet
      gpuModel cannot change in place: create a new pool instead
      gpuModel  H100 -> H200  (identity)
  ~ node pool h100
      nodes  2 -> 3
  + node pool cpu
      nodes        1
      machineType  m7i.large
      spot         false
  - node pool h100-spot
      nodes        1
      machineType  p5.48xlarge
      gpus.type    nvidia-h100
      gpus.count   8
      spot         true

Sizes
  gpu-fleet/h100  3 nodes x 2 zones = 6, 48 GPUs
  gpu-fleet/cpu   1 node x 2 zones = 2
  all             8 nodes, 48 GPUs

Warnings
  * nodes counts per zone at EKS and GKE, and is the total at DOKS: gpu-fleet/h100 comes to 6 here and to 3 there,
    gpu-fleet/cpu comes to 2 here and to 1 there. Give a flavor one zone to have as many at every provider

Plan: 2 to create, 1 to update, 1 to delete, 1 blocked; nothing is done while something is blocked.
"""


def made() -> Plan:
    """A plan with a change of most kinds."""
    first = plan(parse_document(example()), Records(), zones={}, prune=False)
    records = converged(written(Records(), desired_rows(first, Records(), now=START)))
    data = example()
    pool = data["pools"][0]
    pool["gpuModel"] = "H200"
    flavors = pool["policy"]["substrate"]["flavors"]
    flavors[0]["nodes"] = 3
    flavors[1] = {"name": "cpu", "machineType": "m7i.large", "nodes": 1}
    data["providerAccounts"].append(data["providerAccounts"][0] | {"name": "spare"})
    return plan(parse_document(data), records, zones={"managed-k8s": ZONES}, prune=True)


def test_a_plan_as_text_shows_every_change_with_both_values() -> None:
    assert made().render() == TEXT


def test_a_plan_as_data_is_plain_and_has_a_stable_order() -> None:
    data = made().to_data()
    assert json.loads(json.dumps(data)) == data
    assert data == made().to_data()
    assert data["totals"] == {
        "create": 2,
        "update": 1,
        "delete": 1,
        "adopt": 0,
        "give_back": 0,
        "keep": 0,
        "blocked": 1,
    }
    assert data["changes"][2] == {
        "kind": "update",
        "resource": "node_pool",
        "name": "gpu-fleet/h100",
        "fields": [{"path": "nodes", "before": 2, "after": 3, "note": ""}],
        "note": "",
        "drift": False,
    }
    assert data["flavors"][0] == {
        "pool": "gpu-fleet",
        "flavor": "h100",
        "spot": False,
        "nodes": 3,
        "zones": 2,
        "total": 6,
        "gpus": 48,
        "autoscaling": None,
    }


def test_a_diff_has_the_changed_fields_of_what_is_there_before_and_after() -> None:
    diff = made().diff()
    assert diff["before"]["node_pool gpu-fleet/h100"] == {"nodes": 2}
    assert diff["after"]["node_pool gpu-fleet/h100"] == {"nodes": 3}
    assert "node_pool gpu-fleet/cpu" not in diff["before"]
    assert "node_pool gpu-fleet/h100-spot" not in diff["after"]
    assert not any(key == "pool gpu-fleet" for key in (*diff["before"], *diff["after"]))
