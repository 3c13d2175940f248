#!/usr/bin/python
# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ansible module bc_substrate_info: what stands behind a pool."""

from __future__ import annotations

DOCUMENTATION = r"""
module: bc_substrate_info
short_description: Read the managed Kubernetes cluster behind a pool
version_added: 0.1.0
description:
  - Returns the state of a pool's substrate, the Nodes that its cluster last listed, and how many of them joined it.
  - Never returns a token or a credential.
author:
  - better_compute.fleet contributors (@better-compute)
options:
  pool:
    description:
      - The pool's name or id. Without it, all substrates that are not deleted are returned.
    type: str
  tenant:
    description:
      - The tenant that owns the pool.
    type: str
    default: platform
extends_documentation_fragment:
  - better_compute.fleet.fleet
  - better_compute.fleet.fleet.read_only
seealso:
  - module: better_compute.fleet.bc_fleet
  - module: better_compute.fleet.bc_substrate
"""

EXAMPLES = r"""
- name: Wait until every Node has joined
  better_compute.fleet.bc_substrate_info:
    pool: gpu-fleet
  register: read
  until: read.substrates[0].nodes_joined == read.substrates[0].nodes_listed
  retries: 30
  delay: 10
"""

RETURN = r"""
substrates:
  description: The substrates.
  returned: always
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
    provider:
      description: The provider of its account, for example C(aws).
      type: str
    provider_account:
      description: The account's name.
      type: str
    provider_account_id:
      description: The account's id.
      type: str
    mode:
      description: C(create) for a cluster that was made for it, C(adopt) for one that was there before.
      type: str
    cluster_id:
      description: The id of its cluster's record.
      type: str
    state:
      description: C(pending), C(provisioning), C(ready), C(updating), C(error), C(deleting) or C(deleted).
      type: str
    message:
      description: What there is to fix or to wait for.
      type: str
    nodes_listed:
      description: Nodes that the cluster last listed.
      type: int
    nodes_joined:
      description: Of those, the ones whose bcd joined the pool.
      type: int
    waiting_to_join:
      description: The listed Nodes that have no joined bcd; null when there is none.
      type: dict
      contains:
        nodes:
          description: How many.
          type: int
        since:
          description: Since when none has joined, UTC.
          type: str
          sample: "2026-11-02T09:30:00Z"
    upgrade:
      description: The upgrade that waits for bookings to end; null when there is none.
      type: dict
      contains:
        version:
          description: The Kubernetes version that flavors are brought to.
          type: str
        since:
          description: Since when it waits, UTC.
          type: str
          sample: "2026-11-02T09:30:00Z"
code:
  description: C(NOT_FOUND) for a pool that does not exist or has no substrate.
  returned: on failure, where there is one
  type: str
"""

from ..module_utils._core.ansible_io.substrates import run_substrate_info


def main() -> None:
    """Run the module."""
    run_substrate_info()


if __name__ == "__main__":
    main()
