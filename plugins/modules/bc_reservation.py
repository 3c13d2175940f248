#!/usr/bin/python
# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ansible module bc_reservation: book GPUs of a pool, and give them back."""

from __future__ import annotations

DOCUMENTATION = r"""
module: bc_reservation
short_description: Book GPUs of a pool, and give them back
version_added: 0.1.0
description:
  - A reservation holds GPUs of one node. It is known by its O(name), so a task that is run again finds it.
  - GPUs are charged against the tenant's quota on the pool; a tenant without a quota has none. They are given back
    once, when the reservation is released or the machine is gone.
  - A tenant books in its own pools, and in the platform's and other tenants' where it has a quota. Where it has none,
    another's pool is not found; but what it booked there before is found by its O(name) and given back.
author:
  - better_compute.fleet contributors (@better-compute)
options:
  name:
    description:
      - The reservation's name, unique among the caller's in the pool. A name is free again when its reservation ended.
    type: str
    required: true
  pool:
    description:
      - The pool's name or id. One that is being torn down is found by its name too, to give back what is booked there.
      - Of several pools of one name, the one is meant in which a reservation of that O(name) stands; else the tenant's
        own; else the platform's, then another tenant's, where the tenant has a quota. An id names any of them.
    type: str
    required: true
  tenant:
    description:
      - The tenant that the GPUs are booked for, whoever owns the pool.
    type: str
    default: platform
  gpus:
    description:
      - How many GPUs, 1 to 16, all on one node. Required when O(state=present). A reservation never changes its size.
    type: int
  spot:
    description:
      - Whether to book on Spot nodes, which the provider may take away at any time. Others are never placed there.
    type: bool
    default: false
  state:
    description:
      - V(present) books, V(absent) gives back.
    type: str
    choices: [present, absent]
    default: present
  wait:
    description:
      - Whether to wait until the GPUs are there, that is until RV(reservation.state) is C(bound). The task fails when
        they are not in time, or never will be, with what the reservation waits for. It stays booked all the same.
      - Waiting places nothing. C(bc-fleetd), or a run that converges the pool, does that as nodes join, and so does
        whoever gives GPUs back.
      - Without it, a reservation that has no room yet is returned as C(pending). O(state=absent) never waits.
    type: bool
    default: false
  wait_timeout:
    description:
      - How long to wait, in seconds, at most seven days.
    type: int
    default: 1800
attributes:
  check_mode:
    description: Says exactly what a run would change, or why it would be refused, and changes nothing.
    support: full
  diff_mode:
    description: A booking has no difference worth showing.
    support: none
extends_documentation_fragment:
  - better_compute.fleet.fleet
seealso:
  - module: better_compute.fleet.bc_reservation_info
"""

EXAMPLES = r"""
- name: Book one GPU
  better_compute.fleet.bc_reservation:
    name: train-1
    pool: gpu-fleet
    gpus: 1

- name: Book GPUs of the platform's pool for a tenant that has a quota there
  better_compute.fleet.bc_reservation:
    name: train-1
    tenant: acme
    pool: shared
    gpus: 8

- name: Book a whole machine, and go on when it is there
  better_compute.fleet.bc_reservation:
    name: train-2
    pool: gpu-fleet
    gpus: 8
    wait: true
    wait_timeout: 3600

- name: Give it back, or learn how it ended
  better_compute.fleet.bc_reservation:
    name: train-1
    pool: gpu-fleet
    state: absent
"""

RETURN = r"""
reservation:
  description:
    - The reservation. With O(state=absent), one of that name that has ended already is told as it ended, for
      as long as it is remembered (C(retention.days) of the settings).
    - Null when there is none.
  returned: success
  type: dict
  contains:
    id:
      description: Its id.
      type: str
    pool_id:
      description: The id of the pool in which it is.
      type: str
    tenant_id:
      description: The tenant that the GPUs are booked for.
      type: str
    state:
      description: C(pending) until a node has room, C(bound), C(released) or C(preempted).
      type: str
    gpus:
      description: How many GPUs it holds.
      type: int
    spot:
      description: Whether it stands on Spot nodes.
      type: bool
    node_id:
      description: The pool node it stands on while it is bound, else null.
      type: str
    device_ids:
      description: The GPUs it holds.
      type: list
      elements: str
    message:
      description:
        - Why it ended.
        - While it is C(pending), what it waits for, as the pool stands now. For example that no node has joined, that
          all GPUs are taken, or that it is not for Spot nodes and no other is there.
      type: str
code:
  description: The error's code, for example C(QUOTA_EXCEEDED) or C(CONFLICT).
  returned: on failure, where there is one
  type: str
problems:
  description: Everything that is wrong with the call, each with its C(path) and a C(message).
  returned: when the call is not valid
  type: list
  elements: dict
"""

from ..module_utils._core.ansible_io.reservations import run_reservation


def main() -> None:
    """Run the module."""
    run_reservation()


if __name__ == "__main__":
    main()
