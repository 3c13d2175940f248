#!/usr/bin/python
# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ansible module bc_node_info: the machines of pools, each with what is booked on it."""

from __future__ import annotations

DOCUMENTATION = r"""
module: bc_node_info
short_description: Read the machines of pools, and what is booked on them
version_added: 0.1.0
description:
  - Returns the machines whose bcd joined a pool, of one pool or of all, as they are recorded.
  - Asks no provider and no cluster. Never returns a secret, nor its hash.
author:
  - better_compute.fleet contributors (@better-compute)
options:
  pool:
    description:
      - The pool's name or id, also of one that is being torn down. Without it, the machines of all pools.
      - Of several pools of one name, those of all are returned.
    type: str
  tenant:
    description:
      - Only machines of pools that this tenant owns. Without it, those of all tenants' pools.
      - What is booked on them is told whoever booked it.
    type: str
  states:
    description:
      - Only machines in one of these states. Without V(retired), the ones that are gone are left out.
    type: list
    elements: str
    choices: [joined, matched, cordoned, retired]
    default: [joined, matched, cordoned]
extends_documentation_fragment:
  - better_compute.fleet.fleet
  - better_compute.fleet.fleet.read_only
seealso:
  - module: better_compute.fleet.bc_reservation_info
  - module: better_compute.fleet.bc_substrate_info
"""

EXAMPLES = r"""
- name: Read the machines of a pool
  better_compute.fleet.bc_node_info:
    pool: gpu-fleet
  register: read

- name: Name the machines that are not heard
  ansible.builtin.debug:
    msg: "{{ item.node_name or item.hostname }}: last heard {{ item.last_heard }}"
  loop: "{{ read.nodes | rejectattr('connection', 'eq', 'connected') }}"
  loop_control:
    label: "{{ item.id }}"

- name: Wait until nothing is booked on the machines of a node pool
  better_compute.fleet.bc_node_info:
    pool: gpu-fleet
  register: read
  until: read.nodes | selectattr('node_pool', 'eq', 'h100-spot') | selectattr('bookings') | length == 0
  retries: 30
  delay: 60
"""

RETURN = r"""
nodes:
  description: The machines, by pool and name.
  returned: always, unless the call is refused
  type: list
  elements: dict
  contains:
    id:
      description: The pool node's id, as bookings name it.
      type: str
    pool:
      description: The pool's name.
      type: str
    pool_id:
      description: The pool's id. Two tenants may each have a pool of one name.
      type: str
    tenant_id:
      description: The tenant that owns the pool.
      type: str
    hostname:
      description: What the machine calls itself.
      type: str
    reported_node_name:
      description: The Kubernetes Node that its bcd says it runs on, null from one that does not know it.
      type: str
    node_name:
      description: The Kubernetes Node that it was matched to, null until then.
      type: str
    node_uid:
      description: That Node's UID, null until it was matched.
      type: str
    node_pool:
      description: The provider's name of its node pool, null until it was matched, or where nobody says.
      type: str
    state:
      description:
        - C(joined) until its Node is found in the cluster's list, then C(matched).
        - C(cordoned) when it takes no more bookings, C(retired) when it is gone.
      type: str
    spot:
      description: Whether it is a Spot machine.
      type: bool
    connection:
      description:
        - Whether its bcd is C(connected) or C(disconnected).
        - C(unknown) when it is silent, and no gateway was there to hear it.
      type: str
    last_heard:
      description: When its bcd was last heard, UTC.
      type: str
      sample: "2026-11-02T09:30:00Z"
    joined_at:
      description: When it joined, the last time, UTC.
      type: str
      sample: "2026-11-02T09:30:00Z"
    gpus:
      description: Its GPUs by model. A retired one has none.
      type: list
      elements: dict
      contains:
        model:
          description: The model.
          type: str
          sample: H100
        count:
          description: How many it has.
          type: int
        booked:
          description: How many of them bookings hold.
          type: int
    bookings:
      description:
        - What stands on it, as RV(better_compute.fleet.bc_reservation_info#module:reservations) tells it, oldest first.
      type: list
      elements: dict
waiting_to_join:
  description:
    - For each of the pools whose cluster last listed Nodes without a joined bcd, how many these are.
    - Which they are is not recorded.
  returned: always, unless the call is refused
  type: list
  elements: dict
  contains:
    pool:
      description: The pool's name.
      type: str
    pool_id:
      description: The pool's id.
      type: str
    tenant_id:
      description: The tenant that owns it.
      type: str
    nodes:
      description: How many.
      type: int
    since:
      description: Since when none has joined, UTC.
      type: str
      sample: "2026-11-02T09:30:00Z"
pending:
  description:
    - The bookings of the pools that wait for a machine with room, as
      RV(better_compute.fleet.bc_reservation_info#module:reservations) tells them, oldest first.
  returned: always, unless the call is refused
  type: list
  elements: dict
code:
  description: C(NOT_FOUND) for a pool that does not exist or is not the tenant's.
  returned: on failure, where there is one
  type: str
"""

from ..module_utils._core.ansible_io.node_info import run_node_info


def main() -> None:
    """Run the module."""
    run_node_info()


if __name__ == "__main__":
    main()
