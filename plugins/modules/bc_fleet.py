#!/usr/bin/python
# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ansible module bc_fleet: converge declared pools of GPUs."""

from __future__ import annotations

DOCUMENTATION = r"""
module: bc_fleet
short_description: Converge the GPU pools that a FleetConfig document declares
version_added: 0.1.0
description:
  - Plans and applies one FleetConfig document. Each of its pools is backed by a managed Kubernetes cluster that is
    created at a provider account, with one node pool for each flavor, and with C(bcd) on its nodes.
  - What is declared is recorded first. Then the pools are converged, by this run as long as it waits, and by
    C(bc-fleetd) from then on.
  - A document that is already converged changes nothing, and a run says so.
author:
  - better_compute.fleet contributors (@better-compute)
options:
  config:
    description:
      - The document itself.
    type: dict
  src:
    description:
      - A file with the document, JSON or YAML. It is read on the controller, and may be a vault file, unless
        O(remote_src) is set.
    type: path
  remote_src:
    description:
      - Whether O(src) is a file on the target.
    type: bool
    default: false
  state:
    description:
      - V(present) converges to the document.
      - V(absent) takes away everything that the document names. It also needs O(prune), as every deletion does.
    type: str
    choices: [present, absent]
    default: present
  prune:
    description:
      - Whether what is recorded and no longer declared is torn down. Without it, it is kept, and the plan says so.
    type: bool
    default: false
  refresh:
    description:
      - Whether the provider is asked what is there, so that drift is part of the plan.
    type: bool
    default: true
  wait:
    description:
      - Whether to converge the pools until they are ready, failed or gone. Otherwise one pass over each is run.
    type: bool
    default: true
  wait_timeout:
    description:
      - How long to wait, in seconds. What is declared stays declared when it runs out.
    type: int
    default: 1800
attributes:
  check_mode:
    description: Says exactly what a run would change, and changes nothing.
    support: full
  diff_mode:
    description: Shows the changed records before and after.
    support: full
extends_documentation_fragment:
  - better_compute.fleet.fleet
seealso:
  - module: better_compute.fleet.bc_fleet_info
  - module: better_compute.fleet.bc_substrate_info
"""

EXAMPLES = r"""
- name: Converge the fleet
  better_compute.fleet.bc_fleet:
    src: fleet.json

- name: Show what a run would change
  better_compute.fleet.bc_fleet:
    src: fleet.json
  check_mode: true
  diff: true

- name: Tear down what the document no longer declares
  better_compute.fleet.bc_fleet:
    src: fleet.json
    prune: true
    wait_timeout: 3600
"""

RETURN = r"""
plan:
  description: What was to be changed, with the fields and both their values.
  returned: always, unless the document is not valid
  type: dict
  contains:
    changed:
      description: Whether anything was to be changed.
      type: bool
    changes:
      description: Each change; C(kind) is create, update, delete, keep or blocked.
      type: list
      elements: dict
    flavors:
      description: For each flavor, nodes times zones and the total.
      type: list
      elements: dict
    warnings:
      description: What is worth knowing beforehand.
      type: list
      elements: str
  sample: {"changed": false, "changes": []}
substrates:
  description:
    - The substrates of the document's pools and of those torn down, as better_compute.fleet.bc_substrate_info returns
      them.
  returned: always, unless the document is not valid
  type: list
  elements: dict
code:
  description: The error's code, for example C(INVALID_INPUT) or C(CONFLICT).
  returned: on failure
  type: str
problems:
  description: Everything that is wrong with the document, each with its path.
  returned: when the document is not valid
  type: list
  elements: dict
"""

from ..module_utils._core.ansible_io.fleet import run_fleet


def main() -> None:
    """Run the module."""
    run_fleet()


if __name__ == "__main__":
    main()
