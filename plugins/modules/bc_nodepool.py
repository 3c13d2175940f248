#!/usr/bin/python
# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ansible module bc_nodepool: node pools of a cluster beside its flavors."""

from __future__ import annotations

DOCUMENTATION = r"""
module: bc_nodepool
short_description: Add, resize and delete node pools of a cluster
version_added: 0.1.0
description:
  - Manages node pools that stand on a pool's cluster beside its flavors, for example one of ordinary machines for what
    is not a GPU workload. Their nodes do not join the pool.
  - A flavor's own node pool is changed in the FleetConfig document only.
  - Takes a list, because each module run costs seconds of start-up.
author:
  - better_compute.fleet contributors (@better-compute)
options:
  pool:
    description:
      - The pool whose cluster it is, by name or id.
    type: str
    required: true
  tenant:
    description:
      - The tenant that owns the pool.
    type: str
    default: platform
  node_pools:
    description:
      - The node pools. Others are left alone.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description:
          - Its name, also at the provider.
        type: str
        required: true
      machine_type:
        description:
          - The provider's machine type. Required for a new node pool; it never changes in place.
        type: str
      node_count:
        description:
          - Nodes per zone. Required for a new node pool.
        type: int
      spot:
        description:
          - Whether its machines are Spot. It never changes in place.
        type: bool
      disk_gib:
        description:
          - Its nodes' disks in GiB. It never changes in place.
        type: int
      zones:
        description:
          - The zones it is spread over, all of the account's if unset. They never change in place.
        type: list
        elements: str
  state:
    description:
      - Whether they are to be there.
    type: str
    choices: [present, absent]
    default: present
  wait:
    description:
      - Whether to converge the cluster until these node pools are ready, or gone. The task fails when one is not, with
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
"""

EXAMPLES = r"""
- name: Two ordinary machines beside the GPUs
  better_compute.fleet.bc_nodepool:
    pool: gpu-fleet
    node_pools:
      - name: system
        machine_type: m7i.large
        node_count: 1

- name: Take them away again
  better_compute.fleet.bc_nodepool:
    pool: gpu-fleet
    node_pools:
      - name: system
    state: absent
"""

RETURN = r"""
node_pools:
  description: The named node pools as they are recorded, without those that are gone.
  returned: always, unless the call is refused
  type: list
  elements: dict
  contains:
    id:
      description: Its id.
      type: str
    name:
      description: Its name, also at the provider.
      type: str
    machine_type:
      description: The provider's machine type.
      type: str
    node_count:
      description: Nodes per zone.
      type: int
    gpus:
      description: The C(type) and C(count) of a machine's GPUs, null where none are declared.
      type: dict
    spot:
      description: Whether its machines are Spot.
      type: bool
    disk_gib:
      description: Its nodes' disks in GiB, null where the provider decides.
      type: int
    zones:
      description: The zones it is spread over, empty for all of the account's.
      type: list
      elements: str
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
