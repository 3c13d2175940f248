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
      - A relative path is looked for as the files of any task are, in an ad-hoc run in the folder that it is run in.
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
      - Whether the providers are asked what is there, so that drift is part of the plan. One that does not answer is
        named in a warning.
      - No cluster is looked at that has never been ready, such as a new pool's, since nothing of it can have drifted.
        Its provider account is asked where nodes can be if it is new, has changed or was not read yet. When the
        provider refuses a new or changed account, or does not know what it names, the task fails and records nothing.
      - With V(false) the plan asks nobody. Sizes whose zones are not known yet have no total then, and are not held
        against the provider's limits. The passes that follow the plan ask the provider in any case.
    type: bool
    default: true
  wait:
    description:
      - Whether to converge the pools until they are ready, failed or gone. A pool that another process is working on,
        C(bc-fleetd) for example, is left to it and watched. The task fails when one is in error, with its reason.
      - Otherwise one pass over each is run, and RV(substrates) says where that left them.
    type: bool
    default: true
  wait_timeout:
    description:
      - How long to wait, in seconds, at most seven days. When it runs out, the task fails and what is declared stays
        declared.
    type: int
    default: 1800
attributes:
  check_mode:
    description: Says exactly what a run would change, and changes nothing.
    support: full
  diff_mode:
    description: Shows the changed records before and after.
    support: full
  async:
    description: Can be run in the background, which suits a wait of many minutes.
    support: full
extends_documentation_fragment:
  - better_compute.fleet.fleet
seealso:
  - module: better_compute.fleet.bc_fleet_info
  - module: better_compute.fleet.bc_substrate
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
  returned: always, unless the document is not valid or could not be planned
  type: dict
  contains:
    changed:
      description: Whether anything was to be changed.
      type: bool
    serial:
      description: How many documents had been accepted when the plan was made.
      type: int
    prune:
      description: Whether what is no longer declared was to go.
      type: bool
    changes:
      description: Each resource that is changed, kept or blocked.
      type: list
      elements: dict
      contains:
        kind:
          description:
            - C(create), C(update), C(delete), C(keep) or C(blocked). For a cluster that is somebody else's, C(adopt) or
              C(give_back).
          type: str
        resource:
          description: C(site), C(account), C(pool), C(cluster), C(node_pool) or C(quota).
          type: str
        name:
          description:
            - Its name; a node pool's or a quota's after its pool's and a slash, and where the owner is not C(platform),
              all that after the owner and a colon.
          type: str
        fields:
          description: What differs, each with its C(path), C(before), C(after) and a C(note).
          type: list
          elements: dict
        note:
          description: Why it is kept or blocked and what to do, or what is worth knowing.
          type: str
        drift:
          description: Whether it was changed at the provider, and is put back.
          type: bool
    flavors:
      description: How large each declared flavor is.
      type: list
      elements: dict
      contains:
        pool:
          description: Its pool's name.
          type: str
        flavor:
          description: Its name.
          type: str
        spot:
          description: Whether its machines are Spot.
          type: bool
        nodes:
          description: Nodes as declared, per zone where the provider counts so.
          type: int
        zones:
          description: How many zones it is spread over, null while that is not known.
          type: int
        total:
          description: Nodes over all zones, null while the zones are not known.
          type: int
        gpus:
          description: The GPUs of all these nodes, null while the zones are not known.
          type: int
        autoscaling:
          description: Between which sizes its autoscaler may move it; null for a fixed size.
          type: dict
          contains:
            min_nodes:
              description: The fewest nodes as declared.
              type: int
            max_nodes:
              description: The most nodes as declared.
              type: int
            least:
              description: The fewest over all zones, null while the zones are not known.
              type: int
            most:
              description: The most over all zones, null while the zones are not known.
              type: int
    warnings:
      description: What is worth knowing beforehand.
      type: list
      elements: str
    totals:
      description: How many changes there are of each kind.
      type: dict
    text:
      description: The plan for a person to read.
      type: str
  sample: {"changed": false, "changes": [], "warnings": []}
substrates:
  description:
    - The substrates of the document's pools and of those that are torn down, as
      RV(better_compute.fleet.bc_substrate_info#module:substrates) tells them.
  returned: always, unless the document is not valid or the plan is blocked
  type: list
  elements: dict
code:
  description: The error's code, for example C(INVALID_INPUT) or C(CONFLICT).
  returned: on failure, where there is one
  type: str
problems:
  description: Everything that is wrong with the document.
  returned: when the document is not valid
  type: list
  elements: dict
  contains:
    path:
      description: Where, for example C(pools[0].policy.substrate.flavors[1].nodes).
      type: str
    message:
      description: What was expected and what was found.
      type: str
"""

from ..module_utils._core.ansible_io.fleet import run_fleet


def main() -> None:
    """Run the module."""
    run_fleet()


if __name__ == "__main__":
    main()
