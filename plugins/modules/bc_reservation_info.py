#!/usr/bin/python
# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ansible module bc_reservation_info: what is booked, by whom and where."""

from __future__ import annotations

DOCUMENTATION = r"""
module: bc_reservation_info
short_description: Read what is booked, by whom and where
version_added: 0.1.0
description:
  - Returns reservations as they are recorded, of one pool or of all, of one tenant or of all. Changes none.
author:
  - better_compute.fleet contributors (@better-compute)
options:
  pool:
    description:
      - The pool's name or id, also of one that is gone. Without it, the reservations in all pools.
      - Of several pools of one name, those in all are returned.
    type: str
  tenant:
    description:
      - Only what is booked for this tenant, whoever owns the pool. Without it, what is booked for anybody.
      - With it, a O(pool) must concern the tenant, else it is not found. Its own do, those where it has a quota, and
        those where it booked before.
    type: str
  names:
    description:
      - Only reservations of these names. Two tenants may use the same one, and so may two callers of a tenant.
    type: list
    elements: str
  states:
    description:
      - Only reservations in one of these states. Without V(released) and V(preempted), those that ended are left out.
    type: list
    elements: str
    choices: [pending, bound, released, preempted]
    default: [pending, bound]
extends_documentation_fragment:
  - better_compute.fleet.fleet
  - better_compute.fleet.fleet.read_only
seealso:
  - module: better_compute.fleet.bc_reservation
  - module: better_compute.fleet.bc_node_info
"""

EXAMPLES = r"""
- name: Read what is booked in a pool, by anybody
  better_compute.fleet.bc_reservation_info:
    pool: gpu-fleet
  register: read

- name: Name what waits for a machine
  ansible.builtin.debug:
    msg: "{{ item.tenant_id }}: {{ item.gpus }} GPUs since {{ item.since }}"
  loop: "{{ read.reservations | selectattr('state', 'eq', 'pending') }}"
  loop_control:
    label: "{{ item.id }}"

- name: Read what the provider took away from a tenant
  better_compute.fleet.bc_reservation_info:
    tenant: acme
    states: [preempted]
"""

RETURN = r"""
reservations:
  description: The reservations, oldest first.
  returned: always, unless the call is refused
  type: list
  elements: dict
  contains:
    id:
      description: Its id.
      type: str
    name:
      description: Its name. Null where that name is another reservation's by now.
      type: str
    booked_by:
      description: The caller whose name it is, as the settings or the login name told it. Null without a name.
      type: str
    pool:
      description: The name of the pool in which it is.
      type: str
    pool_id:
      description: The pool's id.
      type: str
    tenant_id:
      description: The tenant that the GPUs are booked for.
      type: str
    state:
      description: C(pending) until a node has room, C(bound), C(released) or C(preempted).
      type: str
    gpus:
      description: How many GPUs it is for.
      type: int
    spot:
      description: Whether it stands on Spot nodes.
      type: bool
    node_id:
      description: The pool node it stands on while it is bound, else null.
      type: str
    node_name:
      description: The name of that node's Kubernetes Node, else null.
      type: str
    device_ids:
      description: The GPUs it holds.
      type: list
      elements: str
    since:
      description: When it was made, UTC. Its GPUs are charged from then on.
      type: str
      sample: "2026-11-02T09:30:00Z"
    ended_at:
      description: When it ended, UTC; null before.
      type: str
      sample: "2026-11-02T10:30:00Z"
    message:
      description: Why it ended; while it is C(pending), what it waits for.
      type: str
code:
  description: C(NOT_FOUND) for a pool that does not exist or does not concern the tenant.
  returned: on failure, where there is one
  type: str
"""

from ..module_utils._core.ansible_io.reservation_info import run_reservation_info


def main() -> None:
    """Run the module."""
    run_reservation_info()


if __name__ == "__main__":
    main()
