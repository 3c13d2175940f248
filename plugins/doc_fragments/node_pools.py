# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Doc fragment with the options of bc_nodepool, which bc_nodepool_plan takes as well."""

from __future__ import annotations


class ModuleDocFragment:
    """ansible-doc finds the class by this name."""

    DOCUMENTATION = r"""
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
          - Nodes per zone, 0 to 1000; on DOKS, which has no zones, all of them. Required for a new node pool.
          - DOKS takes 0 only with O(node_pools[].autoscaling) from 0.
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
          - Its nodes' disks in GiB, 10 to 65536; on DOKS the machine type decides. It never changes in place.
        type: int
      disk_type:
        description:
          - The provider's name of its disks' kind. EKS and DOKS have none to choose. It never changes in place.
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
"""
