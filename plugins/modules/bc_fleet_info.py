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
    tenant_id:
      description: Whose quota it is.
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
"""

from ..module_utils._core.ansible_io.fleet import run_fleet_info


def main() -> None:
    """Run the module."""
    run_fleet_info()


if __name__ == "__main__":
    main()
