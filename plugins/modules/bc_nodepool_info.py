#!/usr/bin/python
# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ansible module bc_nodepool_info: the node pools of a cluster, a tenant, and what became of them."""

from __future__ import annotations

DOCUMENTATION = r"""
module: bc_nodepool_info
short_description: Read the node pools of clusters
version_added: 0.1.0
description:
  - Returns the node pools that are not deleted as they are recorded, flavors and others, of one cluster or of all.
  - Asks no provider.
author:
  - better_compute.fleet contributors (@better-compute)
options:
  pool:
    description:
      - The pool whose cluster it is, by name or id. Without it and O(cluster_id), those of all the tenant's clusters.
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
  names:
    description:
      - Only the node pools of these names.
    type: list
    elements: str
extends_documentation_fragment:
  - better_compute.fleet.fleet
  - better_compute.fleet.fleet.read_only
seealso:
  - module: better_compute.fleet.bc_nodepool
"""

EXAMPLES = r"""
- name: Read what stands beside the flavors of a pool
  better_compute.fleet.bc_nodepool_info:
    pool: gpu-fleet
  register: read

- name: Name those that the provider refused, with its reason
  ansible.builtin.debug:
    msg: "{{ item.name }}: {{ item.message }}"
  loop: "{{ read.node_pools | selectattr('state', 'eq', 'error') }}"
  loop_control:
    label: "{{ item.name }}"
"""

RETURN = r"""
node_pools:
  description: The node pools, by pool and name.
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
  description: C(NOT_FOUND) for a pool or cluster that the tenant does not have.
  returned: on failure, where there is one
  type: str
"""

from ..module_utils._core.ansible_io.node_pool_info import run_node_pool_info


def main() -> None:
    """Run the module."""
    run_node_pool_info()


if __name__ == "__main__":
    main()
