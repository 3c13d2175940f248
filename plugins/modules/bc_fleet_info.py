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
provider_accounts:
  description: The recorded provider accounts, without any credential.
  returned: always
  type: list
  elements: dict
pools:
  description: The recorded pools that are not archived, each with its node pools.
  returned: always
  type: list
  elements: dict
quotas:
  description: The recorded quotas and what is used of them, in GPUs.
  returned: always
  type: list
  elements: dict
substrates:
  description: The substrates that are not deleted, as better_compute.fleet.bc_substrate_info returns them.
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
