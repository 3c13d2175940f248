#!/usr/bin/python
# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ansible module bc_nodepool: node pools of a cluster beside its flavors."""

from __future__ import annotations

DOCUMENTATION = r"""
module: bc_nodepool
short_description: Add, resize and delete node pools of clusters
version_added: 0.1.0
description:
  - Manages node pools that stand on a pool's cluster beside its flavors, for example one of ordinary machines for what
    is not a GPU workload. Their nodes do not join the pool.
  - A flavor's own node pool is changed in the FleetConfig document only.
  - Takes a list, of one cluster or of many, because each module run costs seconds of start-up. Either all of it is
    recorded or nothing.
  - Runs M(better_compute.fleet.bc_nodepool_plan) first, which is quick, and ends there when nothing is to be done.
  - Compares with what is recorded. A run that finds everything recorded and ready asks no provider; what somebody
    changed at the provider is put back by C(bc-fleetd), and by M(better_compute.fleet.bc_fleet) with
    O(better_compute.fleet.bc_fleet#module:refresh).
author:
  - better_compute.fleet contributors (@better-compute)
attributes:
  check_mode:
    description: Says exactly what a run would change, and changes nothing.
    support: full
  diff_mode:
    description: Shows the node pools before and after.
    support: full
extends_documentation_fragment:
  - better_compute.fleet.fleet
  - better_compute.fleet.node_pools
seealso:
  - module: better_compute.fleet.bc_fleet
  - module: better_compute.fleet.bc_nodepool_plan
  - module: better_compute.fleet.bc_nodepool_info
"""

EXAMPLES = r"""
- name: Two ordinary machines beside the GPUs
  better_compute.fleet.bc_nodepool:
    pool: gpu-fleet
    node_pools:
      - name: system
        machine_type: m7i.large
        node_count: 1

- name: Let the autoscaler move it between one and five in each zone
  better_compute.fleet.bc_nodepool:
    pool: gpu-fleet
    node_pools:
      - name: system
        autoscaling:
          min_nodes: 1
          max_nodes: 5

- name: Keep it at three in each zone
  better_compute.fleet.bc_nodepool:
    pool: gpu-fleet
    node_pools:
      - name: system
        node_count: 3
        autoscaling:
          enabled: false

- name: Node pools of two clusters in one task
  better_compute.fleet.bc_nodepool:
    node_pools:
      - name: system
        pool: gpu-fleet
        machine_type: m7i.large
        node_count: 1
      - name: inference
        pool: gpu-fleet-eu
        machine_type: g6.xlarge
        node_count: 1
        accelerators:
          type: nvidia-l4
          count: 1
        spot: true
        labels:
          team: inference
        taints:
          - key: dedicated
            value: inference
            effect: NoSchedule

- name: Take them away again
  better_compute.fleet.bc_nodepool:
    pool: gpu-fleet
    node_pools:
      - name: system
    state: absent
"""

RETURN = r"""
node_pools:
  description:
    - The named node pools as they are recorded, without those that are gone. In check mode as they stand before it.
  returned: always, unless the call is refused
  type: list
  elements: dict
  contains:
    pool:
      description: The name of the pool whose cluster it is on, null on a cluster of the tenant's own.
      type: str
    id:
      description: Its id.
      type: str
    cluster_id:
      description: The cluster's id.
      type: str
    name:
      description: Its name, also at the provider.
      type: str
    machine_type:
      description: The provider's machine type.
      type: str
    node_count:
      description: Nodes per zone, on DOKS in all; with autoscaling the count that was asked for last.
      type: int
    autoscaling:
      description: The bounds C(min_nodes) and C(max_nodes) per zone, on DOKS in all, null where the size is fixed.
      type: dict
    spot:
      description: Whether its machines are Spot.
      type: bool
    disk_gib:
      description: Its nodes' disks in GiB, null where the provider decides.
      type: int
    disk_type:
      description: The kind of its nodes' disks, null where the provider decides.
      type: str
    accelerators:
      description: The C(type) and C(count) of a machine's GPUs, null where none are declared.
      type: dict
    zones:
      description: The zones it is spread over, empty for all of the account's.
      type: list
      elements: str
    labels:
      description: The Kubernetes labels that were asked for.
      type: dict
    taints:
      description: The Kubernetes taints that were asked for, each with C(key), C(value) and C(effect).
      type: list
      elements: dict
    flavor:
      description: Whether it is a flavor of the pool.
      type: bool
    state:
      description: C(pending), C(ready), C(updating), C(deleting) or C(error).
      type: str
    message:
      description: The provider's reason, when it refused or is not done.
      type: str
    version:
      description: Raised by every accepted change.
      type: int
code:
  description: The error's code, for example C(INVALID_STATE) or C(QUOTA_EXCEEDED).
  returned: on failure, where there is one
  type: str
problems:
  description: Everything that is wrong with the call, each with its C(path) and a C(message).
  returned: when the call is not valid
  type: list
  elements: dict
"""

from ..module_utils._core.ansible_io.node_pools import run_node_pools


def main() -> None:
    """Run the module."""
    run_node_pools()


if __name__ == "__main__":
    main()
