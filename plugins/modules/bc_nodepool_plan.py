#!/usr/bin/python
# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ansible module bc_nodepool_plan: what bc_nodepool would change."""

from __future__ import annotations

DOCUMENTATION = r"""
module: bc_nodepool_plan
short_description: Say what bc_nodepool would change
version_added: 0.1.0
description:
  - Says what M(better_compute.fleet.bc_nodepool) with the same options would change, as its check mode does, and
    whether there is anything for it to do. Changes nothing itself.
  - M(better_compute.fleet.bc_nodepool) runs it first. It reads the records and no more, so it is quick to ship and to
    start.
  - O(wait) and O(wait_timeout) make no difference here.
author:
  - better_compute.fleet contributors (@better-compute)
attributes:
  check_mode:
    description: Changes nothing anyhow.
    support: full
  diff_mode:
    description: Shows the node pools before and after.
    support: full
extends_documentation_fragment:
  - better_compute.fleet.fleet
  - better_compute.fleet.node_pools
seealso:
  - module: better_compute.fleet.bc_nodepool
"""

EXAMPLES = r"""
- name: Would it be resized?
  better_compute.fleet.bc_nodepool_plan:
    pool: gpu-fleet
    node_pools:
      - name: system
        node_count: 3
  register: planned

- name: Say so
  ansible.builtin.debug:
    msg: "{{ planned.diff.before }} becomes {{ planned.diff.after }}"
  when: planned.changed
"""

RETURN = r"""
settled:
  description:
    - Whether M(better_compute.fleet.bc_nodepool) has nothing to do. Else something is to be changed, or is on its way.
  returned: always, unless the call is refused
  type: bool
node_pools:
  description:
    - The named node pools as they are recorded, without those that are gone.
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

from ..module_utils._core.ansible_io.node_pool_looks import run_node_pool_plan


def main() -> None:
    """Run the module."""
    run_node_pool_plan()


if __name__ == "__main__":
    main()
