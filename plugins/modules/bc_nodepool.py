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
  - Compares with what is recorded. A run that finds everything recorded and ready asks no provider; what somebody
    changed at the provider is put back by C(bc-fleetd), and by M(better_compute.fleet.bc_fleet) with
    O(better_compute.fleet.bc_fleet#module:refresh).
author:
  - better_compute.fleet contributors (@better-compute)
options:
  pool:
    description:
      - The pool whose cluster it is, by name or id. A node pool may name its own.
    type: str
  cluster_id:
    description:
      - The cluster, by its id, instead of its O(pool).
    type: str
  tenant:
    description:
      - The tenant that owns the pools.
    type: str
    default: platform
  node_pools:
    description:
      - The node pools. Others are left alone.
      - What is left out is left as it is; of a new node pool it is left to the provider.
      - A cluster has at most 10 that are not deleted, its flavors included.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description:
          - Its name, also at the provider, 1 to 40 characters of C(a-z), C(0-9) and C(-), a letter first and no C(-)
            last. The name of a deleted one is free again.
        type: str
        required: true
      pool:
        description:
          - The pool whose cluster it is, by name or id, where it is another one than the task's.
        type: str
      cluster_id:
        description:
          - The cluster, by its id, where it is another one than the task's.
        type: str
      machine_type:
        description:
          - The provider's machine type. Required for a new node pool; it never changes in place.
        type: str
      node_count:
        description:
          - Nodes per zone, 0 to 1000. Required for a new node pool.
          - With O(node_pools[].autoscaling) it is the count to begin with, within the bounds; the one that the
            autoscaler has moved to since is left alone, until another count is asked for.
        type: int
      autoscaling:
        description:
          - The bounds within which the cluster's own autoscaler moves the count.
        type: dict
        suboptions:
          enabled:
            description:
              - V(false) turns it off, whatever the bounds; the node pool then has O(node_pools[].node_count) nodes.
            type: bool
            default: true
          min_nodes:
            description:
              - Nodes per zone at least, 0 to 1000. Required when it is enabled.
            type: int
          max_nodes:
            description:
              - Nodes per zone at most, 1 to 1000. Required when it is enabled.
            type: int
      spot:
        description:
          - Whether its machines are Spot. It never changes in place.
        type: bool
      disk_gib:
        description:
          - Its nodes' disks in GiB, 10 to 65536. It never changes in place.
        type: int
      disk_type:
        description:
          - The provider's name of its disks' kind. EKS node groups have none to choose. It never changes in place.
        type: str
      accelerators:
        description:
          - The GPUs of each machine. They never change in place.
        type: dict
        suboptions:
          type:
            description:
              - The provider's name of them, for example V(nvidia-l4).
            type: str
            required: true
          count:
            description:
              - How many each machine has, 1 to 16.
            type: int
            required: true
      zones:
        description:
          - The zones it is spread over, at most 10, of the cluster's region and of the account; all of the account's if
            unset. They never change in place.
        type: list
        elements: str
      labels:
        description:
          - Kubernetes labels of its nodes, at most 32. They never change in place.
        type: dict
      taints:
        description:
          - Kubernetes taints of its nodes, at most 32. They never change in place.
        type: list
        elements: dict
        suboptions:
          key:
            description:
              - The taint's key.
            type: str
            required: true
          value:
            description:
              - The taint's value, at most 63 characters.
            type: str
            default: ""
          effect:
            description:
              - What it does to pods that do not tolerate it.
            type: str
            choices: [NoSchedule, PreferNoSchedule, NoExecute]
            required: true
      idempotency_key:
        description:
          - Makes this a request to create, and nothing else. The same request with the same key returns the node pool
            that the first one made, as it stands now, and never makes a second one; another request with it is refused
            with C(CONFLICT), and so is a name that is taken.
          - Keys are scoped to tenant, caller and cluster. The caller is the operator that the settings name, else the
            login name.
          - 1 to 128 characters of letters, digits, C(.), C(_), C(:) and C(-). Ignored when O(state=absent).
        type: str
  state:
    description:
      - Whether they are to be there. V(absent) looks at the names only.
    type: str
    choices: [present, absent]
    default: present
  wait:
    description:
      - Whether to converge the clusters until these node pools are ready, or gone. The task fails when one is not, with
        the provider's reason. Otherwise one pass is run.
    type: bool
    default: true
  wait_timeout:
    description:
      - How long to wait, in seconds. When it runs out, the task fails and what was asked for stays recorded.
    type: int
    default: 1800
attributes:
  check_mode:
    description: Says exactly what a run would change, and changes nothing.
    support: full
  diff_mode:
    description: Shows the node pools before and after.
    support: full
extends_documentation_fragment:
  - better_compute.fleet.fleet
seealso:
  - module: better_compute.fleet.bc_fleet
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
      description: Nodes per zone; with autoscaling the count that was asked for last.
      type: int
    autoscaling:
      description: The bounds C(min_nodes) and C(max_nodes) per zone, null where the size is fixed.
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
