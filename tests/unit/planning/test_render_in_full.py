# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole plans as a person reads them: what is new, what changes and what does not, what was changed at the provider."""

from __future__ import annotations

import json
from typing import Any

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import (
    Difference,
    ObservedCluster,
    ObservedNodePool,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import ProviderStatus
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning import ObservedPool, Plan, Records
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning.render import WIDTH
from ansible_collections.better_compute.fleet.tests.support.fleet_documents import changed, put
from ansible_collections.better_compute.fleet.tests.support.fleet_records import ZONES, converged
from ansible_collections.better_compute.fleet.tests.support.planned_fleet import (
    CONFIG,
    FLAVOR,
    SUBSTRATE,
    planned,
    recorded,
)

CREATE = f"{SUBSTRATE}.cluster.create"
SUBNETS = [f"subnet-{number:017x}" for number in range(8)]


NEW = """\
Fleet plan at serial 0: 7 to create

Sites
  + site k8s
      tenantId  platform
      region    us-east-1
      kind      shared

Provider accounts
  + provider account acme:managed-k8s
      tenantId                  acme
      provider                  aws
      config.eksClusterRoleArn  arn:aws:iam::111111111111:role/eks-cluster
      config.eksNodeRoleArn     arn:aws:iam::111111111111:role/eks-node
      config.eksSubnetIds       subnet-00000000000000000, subnet-00000000000000001, subnet-00000000000000002,
                                subnet-00000000000000003, subnet-00000000000000004, subnet-00000000000000005,
                                subnet-00000000000000006, subnet-00000000000000007
      config.region             us-east-1
      config.zones              us-east-1a, us-east-1b

Pool acme:gpu-fleet
  + pool acme:gpu-fleet
      tenantId                            acme
      site                                k8s
      class                               metal-host
      gpuModel                            H100
      policy.kubernetes.platformOperated  true
  + cluster
      policy.substrate.account                      managed-k8s
      policy.substrate.cluster.create.location      us-east-1
      policy.substrate.cluster.create.privateNodes  false
      policy.substrate.cluster.create.version       1.33
      policy.substrate.upgrades                     drain
  + node pool h100
      nodes                           2
      autoscaling.minNodes            1
      autoscaling.maxNodes            6
      machineType                     p5.48xlarge
      gpus.type                       nvidia-h100
      gpus.count                      8
      spot                            false
      diskGiB                         200
      labels.example.com/cost-centre  42
      labels.team                     ml
      taints.gpu:NoSchedule           h100
      taints.spare:PreferNoSchedule   ""
  + node pool h100-spot
      nodes        1
      machineType  p5.48xlarge
      gpus.type    nvidia-h100
      gpus.count   8
      spot         true
  + quota of platform
      gpus  16

Sizes
  acme:gpu-fleet/h100              2 nodes x 2 zones = 4, 32 GPUs, autoscaling 1..6 per zone = 2..12
  acme:gpu-fleet/h100-spot (Spot)  1 node x 2 zones = 2, 16 GPUs
  all                              6 nodes, 48 GPUs; with autoscaling 4..14 nodes

Warnings
  * nodes counts per zone at EKS and GKE, and is the total at DOKS: acme:gpu-fleet/h100 comes to 4 here and to 2 there,
    acme:gpu-fleet/h100-spot comes to 2 here and to 1 there. Give a flavor one zone to have as many at every provider

Plan: 7 to create.
"""

CHANGED = """\
Fleet plan at serial 1: 1 to create, 2 kept, 3 blocked

Provider accounts
  ! provider account managed-k8s
      config.eksSubnetIds cannot change in place: add another provider account, and create a new pool on it, instead
      config.eksSubnetIds  - subnet-00000000000000000  (fixed)
                           + subnet-000000000000000ff

Pool gpu-fleet
  ! cluster
      policy.substrate.cluster.create.version is never lowered: leave it at 1.33 or above, or create a new pool instead
      policy.substrate.cluster.create.version  1.33 -> 1.32  (lowered)
  ! node pool h100
      labels, taints cannot change in place: add another flavor instead
      labels.team                    ml -> vision  (fixed)
      labels.shift                   not set -> night  (fixed)
      taints.gpu:NoSchedule          h100 -> h200  (fixed)
      taints.spare:PreferNoSchedule  "" -> not set  (fixed)
  + node pool small
      nodes                 1
      autoscaling.minNodes  0
      autoscaling.maxNodes  3
      machineType           g6.xlarge
      spot                  false
      zones                 us-east-1a
  = node pool h100-spot
      not in the document: kept, needs prune
  = quota of platform
      not in the document: kept, needs prune

Sizes
  gpu-fleet/h100   2 nodes x zones not known yet, autoscaling 1..6 per zone
  gpu-fleet/small  1 node x 1 zone = 1, autoscaling 0..3 per zone = 0..3
  all              1 node, 0 GPUs, and those not known yet; with autoscaling 0..3 nodes

Warnings
  * the zones of provider account managed-k8s are not known yet: its flavors count nodes per zone, and their totals are
    shown once the zones were read

Plan: 1 to create, 2 kept, 3 blocked; nothing is done while something is blocked.
"""

DRIFTED = """\
Fleet plan at serial 1: 1 to create, 1 to update, 2 of these for drift

Pool gpu-fleet
  ~ node pool h100
      drift: it was changed at the provider, and is put back
      totalNodes             14 -> 12  (drift)
      autoscaling.maxNodes   20 -> 12  (drift)
      labels.team            x -> ml  (drift)
      labels.who             me -> not set  (drift)
      taints.gpu:NoSchedule  not set -> h100  (drift)
  + node pool h100-spot
      drift: it is not at the provider any more, and is made again
      nodes        1  (drift)
      machineType  p5.48xlarge  (drift)
      gpus.type    nvidia-h100  (drift)
      gpus.count   8  (drift)
      spot         true  (drift)

Sizes
  gpu-fleet/h100              2 nodes x 2 zones = 4, 32 GPUs, autoscaling 1..6 per zone = 2..12
  gpu-fleet/h100-spot (Spot)  1 node x 2 zones = 2, 16 GPUs
  all                         6 nodes, 48 GPUs; with autoscaling 4..14 nodes

Warnings
  * node pool gpu-fleet/h100: diskGiB is 100 at the provider and 200 in the records: it cannot be changed in place; add
    another flavor, and remove this one

Plan: 1 to create, 1 to update, 2 of these for drift.
"""


def in_full() -> dict[str, Any]:
    """The example with every field of a flavor that it lacks."""
    data: dict[str, Any] = put(
        changed(f"{FLAVOR}.autoscaling", {"minNodes": 1, "maxNodes": 6}), f"{FLAVOR}.diskGiB", 200
    )
    put(data, f"{FLAVOR}.labels", {"team": "ml", "example.com/cost-centre": "42"})
    taints = [{"key": "gpu", "value": "h100", "effect": "NoSchedule"}, {"key": "spare", "effect": "PreferNoSchedule"}]
    put(data, f"{FLAVOR}.taints", taints)
    put(data, f"{CONFIG}.eksSubnetIds", SUBNETS)
    put(data, f"{SUBSTRATE}.upgrades", "drain")
    put(data, f"{CREATE}.version", "1.33")
    return data


def new_plan() -> Plan:
    """A pool of acme's, with everything that it can say."""
    data = in_full()
    data["providerAccounts"][0]["tenantId"] = data["pools"][0]["tenantId"] = "acme"
    return planned(data, Records(), zones={"managed-k8s": ZONES})


def changed_plan() -> Plan:
    """Something of each kind, allowed and not."""
    records = converged(recorded(in_full()))
    data = put(in_full(), f"{FLAVOR}.labels", {"team": "vision", "shift": "night", "example.com/cost-centre": "42"})
    put(data, f"{FLAVOR}.taints", [{"key": "gpu", "value": "h200", "effect": "NoSchedule"}])
    put(data, f"{CREATE}.version", "1.32")
    put(data, f"{CONFIG}.eksSubnetIds", [*SUBNETS[1:], "subnet-000000000000000ff"])
    data["pools"][0]["policy"]["substrate"]["flavors"][1] = {
        "name": "small",
        "machineType": "g6.xlarge",
        "nodes": 1,
        "zones": ["us-east-1a"],
        "autoscaling": {"minNodes": 0, "maxNodes": 3},
    }
    data["quotas"] = []
    return planned(data, records)


def drift_plan() -> Plan:
    """What was changed by hand, or taken away, at the provider."""
    data = in_full()
    records = converged(recorded(data))
    node_pool = ObservedNodePool(
        name="h100",
        status=ProviderStatus.ACTIVE,
        machine_type="p5.48xlarge",
        nodes=14,
        spot=False,
        disk_gib=100,
        labels={},
        tags={},
    )
    differences = (
        Difference(path="diskGiB", held=100, wanted=200, in_place=False),
        Difference(path="totalNodes", held=14, wanted=12, in_place=True),
        Difference(path="autoscaling.maxNodes", held=20, wanted=12, in_place=True),
        Difference(path="labels", held={"team": "x", "who": "me"}, wanted={"team": "ml"}, in_place=True),
        Difference(
            path="taints", held=[], wanted=[{"key": "gpu", "value": "h100", "effect": "NoSchedule"}], in_place=True
        ),
    )
    cluster = ObservedCluster(
        name="c", status=ProviderStatus.ACTIVE, message="", outputs=None, private_nodes=False, tags={}
    )
    seen = ObservedPool(cluster=cluster, node_pools={"h100": node_pool}, differences={"h100": differences})
    return planned(data, records, zones={"managed-k8s": ZONES}, observed={records.pools[0].id: seen})


def test_a_new_pool_is_shown_with_all_that_it_has() -> None:
    assert new_plan().render() == NEW


def test_a_change_is_shown_with_both_values_and_what_cannot_be_with_the_way_out() -> None:
    assert changed_plan().render() == CHANGED


def test_what_was_changed_at_the_provider_is_marked_as_drift() -> None:
    assert drift_plan().render() == DRIFTED


def test_data_and_diff_hold_the_whole_values() -> None:
    made = drift_plan()
    (change,) = [change for change in made.to_data()["changes"] if change["kind"] == "update"]
    assert change["drift"] is True
    assert {"path": "labels", "before": {"team": "x", "who": "me"}, "after": {"team": "ml"}, "note": "drift"} in change[
        "fields"
    ]
    assert made.diff()["after"]["node_pool gpu-fleet/h100"]["totalNodes"] == 12
    assert set(new_plan().diff()["after"]) >= {"pool acme:gpu-fleet", "node_pool acme:gpu-fleet/h100"}


def test_no_line_is_wider_than_a_terminal_whatever_the_values() -> None:
    data = in_full()
    put(data, f"{FLAVOR}.labels", {f"{'a' * 40}.example.com/{'k' * 8}": "v" * 63, "k": "v" * 63})
    put(data, "pools.0.gpuModel", "M" * 63)
    made = planned(data, converged(recorded()), zones={"managed-k8s": ZONES})
    assert max(len(line) for line in made.render().splitlines()) <= WIDTH
    assert f"{'v' * 30}…" in made.render()
    assert "v" * 63 in json.dumps(made.to_data())
