#!/usr/bin/python
# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ansible module bc_fleet_info: what is recorded of the fleet."""

from __future__ import annotations

DOCUMENTATION = r"""
module: bc_fleet_info
short_description: Read what is recorded of the fleet
version_added: 0.1.0
description:
  - Returns the recorded sites, provider accounts, pools, node pools, quotas and substrates.
author:
  - better_compute.fleet contributors (@better-compute)
options:
  drift:
    description:
      - Whether the providers are asked too, so that RV(drift) says where they hold something else than is recorded.
        Nothing is put back; a run of M(better_compute.fleet.bc_fleet) does that.
    type: bool
    default: false
extends_documentation_fragment:
  - better_compute.fleet.fleet
  - better_compute.fleet.fleet.read_only
seealso:
  - module: better_compute.fleet.bc_fleet
"""

EXAMPLES = r"""
- name: Read the fleet
  better_compute.fleet.bc_fleet_info:
  register: fleet

- name: See whether anybody has changed something at the providers
  better_compute.fleet.bc_fleet_info:
    drift: true
  register: fleet
  failed_when: fleet.drift | rejectattr('state', 'eq', 'in_sync') | list | length > 0

- name: Name the pools that are not ready
  ansible.builtin.debug:
    msg: "{{ fleet.substrates | rejectattr('state', 'eq', 'ready') | map(attribute='pool') }}"
"""

RETURN = r"""
sites:
  description: The recorded sites.
  returned: always
  type: list
  elements: dict
  contains:
    name:
      description: Its name.
      type: str
    kind:
      description: Who may stand there, for example C(shared).
      type: str
    region:
      description: Where it is.
      type: str
    tenant_id:
      description: The tenant that owns it.
      type: str
provider_accounts:
  description: The recorded provider accounts, without any credential.
  returned: always
  type: list
  elements: dict
  contains:
    name:
      description: Its name.
      type: str
    provider:
      description: The provider, for example C(aws).
      type: str
    tenant_id:
      description: The tenant that owns it.
      type: str
    config:
      description: As the document declares it. It says where a credential is, never what it is.
      type: dict
    zones:
      description: The zones that its nodes are spread over, empty until they were read from the provider.
      type: list
      elements: str
pools:
  description: The recorded pools that are not archived.
  returned: always
  type: list
  elements: dict
  contains:
    id:
      description: Its id.
      type: str
    name:
      description: Its name.
      type: str
    tenant_id:
      description: The tenant that owns it.
      type: str
    site:
      description: The site it stands at.
      type: str
    class:
      description: Its class, for example C(metal-host).
      type: str
    gpu_model:
      description: What its GPUs are, for example C(H100).
      type: str
    platform_operated:
      description: Whether the platform looks after its nodes.
      type: bool
    node_pools:
      description:
        - Its cluster's node pools that are not deleted, as RV(better_compute.fleet.bc_nodepool#module:node_pools) tells
          them.
      type: list
      elements: dict
quotas:
  description: The recorded quotas.
  returned: always
  type: list
  elements: dict
  contains:
    pool:
      description: The pool's name.
      type: str
    pool_id:
      description: The pool's id. Two tenants may each have a pool of one name.
      type: str
    tenant_id:
      description: Whose quota it is. It need not be the pool's owner.
      type: str
    gpus:
      description: How many GPUs the tenant may hold at once.
      type: int
    used:
      description: How many it holds.
      type: int
substrates:
  description:
    - The substrates that are not deleted, as RV(better_compute.fleet.bc_substrate_info#module:substrates) tells them.
  returned: always
  type: list
  elements: dict
self_check:
  description:
    - What is wrong with the settings and the substrates, as far as settings and records tell. Empty when all is well.
    - C(kubernetes.substrate-agent-missing) when there are pools with a substrate and the settings do not say how C(bcd)
      is run; C(kubernetes.substrate-nodes-not-joining) when listed Nodes have had no joined C(bcd) for 15 minutes.
  returned: always
  type: list
  elements: dict
  contains:
    code:
      description: Its name.
      type: str
    pools:
      description: The names of the pools that it is about.
      type: list
      elements: str
    message:
      description: What is wrong, and what to do.
      type: str
drift:
  description: Each pool that has a substrate, beside what its provider holds.
  returned: when O(drift) is set
  type: list
  elements: dict
  contains:
    pool:
      description: The pool's name.
      type: str
    pool_id:
      description: The pool's id.
      type: str
    state:
      description:
        - C(in_sync), C(drift), or C(unknown) when the provider did not answer or the pool is still being converged.
      type: str
    reason:
      description: Why it is not known; else empty.
      type: str
    fields:
      description: What is not as it is recorded.
      type: list
      elements: dict
      contains:
        resource:
          description: C(cluster) or C(node_pool).
          type: str
        name:
          description: The pool's name; a node pool's after that and a slash.
          type: str
        path:
          description: The field as a document spells it; C(exists) for a resource that is not there any more.
          type: str
        recorded:
          description: The recorded value.
          type: raw
        provider:
          description: The provider's value.
          type: raw
        repaired:
          description: Whether a run puts it back; what no provider changes in place is only told.
          type: bool
  sample:
    - pool: gpu-fleet
      pool_id: pool_01jb2k3m4n5p6q7r8s9t0v1w2x
      state: drift
      reason: ""
      fields:
        - resource: node_pool
          name: gpu-fleet/h100
          path: totalNodes
          recorded: 4
          provider: 2
          repaired: true
"""

from ..module_utils._core.ansible_io.fleet import run_fleet_info


def main() -> None:
    """Run the module."""
    run_fleet_info()


if __name__ == "__main__":
    main()
