#!/usr/bin/python
# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ansible module bc_substrate: what stands behind one pool, changed without its document."""

from __future__ import annotations

DOCUMENTATION = r"""
module: bc_substrate
short_description: Change or archive one pool of the fleet
version_added: 0.1.0
description:
  - Edits the recorded policy of one pool, the C(policy.substrate) of its FleetConfig, and converges it. What is not
    given keeps its recorded value; with nothing but O(pool), the pool is converged to what is recorded.
  - The edit is planned as M(better_compute.fleet.bc_fleet) plans a document, with the same refusals. Whoever applies
    the document next and wants to keep the edit writes it into the document too.
  - The pool itself must be recorded, that is, declared by a document once.
author:
  - better_compute.fleet contributors (@better-compute)
options:
  pool:
    description:
      - The pool's name or id.
    type: str
    required: true
  tenant:
    description:
      - The tenant that owns the pool.
    type: str
    default: platform
  account:
    description:
      - The name of the recorded provider account. It is the substrate's identity and never changes.
    type: str
  cluster:
    description:
      - The cluster that backs the pool.
    type: dict
    suboptions:
      create:
        description:
          - A cluster that is made for the pool. Its place is the substrate's identity and never changes.
        type: dict
        suboptions:
          location:
            description:
              - The provider's name of the place. On EKS and DOKS the account's region, on GKE a region or a zone.
            type: str
          private_nodes:
            description:
              - On EKS, whether nodes reach the control plane by its private endpoint. On GKE, whether they have no
                public addresses. DOKS has none and refuses it with C(UNSUPPORTED).
            type: bool
          version:
            description:
              - The control plane's Kubernetes version, for example V(1.34). It is raised in place, never lowered.
            type: str
      adopt:
        description:
          - The id of a cluster that is there already, for example V(us-east-1/prod) on EKS. It never changes.
          - On GKE V(<location>/<name>), on EKS V(<region>/<name>), on DOKS the cluster's UUID.
          - It is read, and never created, changed or deleted. Its node pools of this pool are called
            C(bc-<last 6 of the pool's id>-<flavor>).
          - One cluster backs one pool. One that another pool has is refused with C(CONFLICT).
        type: str
  flavors:
    description:
      - The shapes of the pool's nodes, each by its name. A recorded flavor keeps what is not given of it; one that is
        not named is kept, unless O(prune) is set.
    type: list
    elements: dict
    suboptions:
      name:
        description:
          - Its name, which is its node pool's name at the provider too. On an adopted cluster it is the end of that.
        type: str
        required: true
      machine_type:
        description:
          - The provider's machine type, for example V(p5.48xlarge). Required for a new flavor; it never changes.
        type: str
      nodes:
        description:
          - How many nodes, per zone where the provider counts so. Required for a new flavor. With
            O(flavors[].autoscaling) it is the size to begin with.
        type: int
      gpus:
        description:
          - The GPUs of each node. They never change.
        type: dict
        suboptions:
          type:
            description:
              - The account's name for the accelerator, for example V(nvidia-h100).
            type: str
          count:
            description:
              - How many each node has.
            type: int
      spot:
        description:
          - Whether the machines are Spot. It never changes.
        type: bool
      disk_gib:
        description:
          - The nodes' disk in GiB. It never changes.
        type: int
      disk_type:
        description:
          - The provider's name of a kind of disk; EKS and DOKS have none. It never changes.
        type: str
      zones:
        description:
          - The zones to use, of the account's. They never change.
        type: list
        elements: str
      autoscaling:
        description:
          - The bounds within which the cluster's own autoscaler may move the number of nodes.
        type: dict
        suboptions:
          enabled:
            description:
              - V(false) turns autoscaling off; the size is O(flavors[].nodes) then.
            type: bool
          min_nodes:
            description:
              - The fewest nodes, counted as O(flavors[].nodes) is.
            type: int
          max_nodes:
            description:
              - The most nodes, counted as O(flavors[].nodes) is.
            type: int
      labels:
        description:
          - Kubernetes labels of the nodes. They never change.
        type: dict
      taints:
        description:
          - Kubernetes taints of the nodes. They never change.
        type: list
        elements: dict
        suboptions:
          key:
            description:
              - The taint's key.
            type: str
            required: true
          value:
            description:
              - The taint's value.
            type: str
          effect:
            description:
              - V(NoSchedule), V(PreferNoSchedule) or V(NoExecute).
            type: str
            required: true
  upgrades:
    description:
      - V(manual) leaves running machines alone. V(drain) has flavors follow the control plane's version, each once the
        bookings on its machines have ended.
    type: str
    choices: [manual, drain]
  state:
    description:
      - V(present) converges the pool.
      - V(absent) archives it, as taking it out of the document with prune does. Its substrate is torn down once its
        bookings have ended, and its quotas go too. Its site and account stay.
    type: str
    choices: [present, absent]
    default: present
  prune:
    description:
      - Whether recorded flavors that O(flavors) does not name are deleted.
    type: bool
    default: false
  refresh:
    description:
      - Whether the provider is asked what is there, so that drift is part of the plan. One that does not answer is
        named in a warning.
      - A cluster that has never been ready, such as a new pool's, is not looked at, since nothing of it can have
        drifted. The provider account is asked where nodes can be if that was not read yet.
      - With V(false) the plan asks nobody, nor does it with O(state=absent). The passes that follow it ask the provider
        in any case.
    type: bool
    default: true
  wait:
    description:
      - Whether to converge the pool until it is ready, failed or gone. When another process is working on it,
        C(bc-fleetd) for example, it is left to that and watched. The task fails when it is in error, with the reason.
      - Otherwise one pass over it is run, and RV(substrate) says where that left it.
    type: bool
    default: true
  wait_timeout:
    description:
      - How long to wait, in seconds, at most seven days. When it runs out, the task fails and what is recorded stays
        recorded.
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
  - module: better_compute.fleet.bc_fleet
  - module: better_compute.fleet.bc_substrate_info
"""

EXAMPLES = r"""
- name: Give the pool four machines in each zone
  better_compute.fleet.bc_substrate:
    pool: gpu-fleet
    flavors:
      - name: h100
        nodes: 4

- name: Have it between one and eight of them, as the autoscaler sees fit
  better_compute.fleet.bc_substrate:
    pool: gpu-fleet
    flavors:
      - name: h100
        autoscaling:
          min_nodes: 1
          max_nodes: 8

- name: Converge the pool as it is recorded, and say where it stands
  better_compute.fleet.bc_substrate:
    pool: gpu-fleet
  register: result

- name: Archive it
  better_compute.fleet.bc_substrate:
    pool: gpu-fleet
    state: absent
    wait_timeout: 7200
"""

RETURN = r"""
msg:
  description: Where the pool stands, in one line; on failure, why.
  returned: always, unless the pool is not known
  type: str
  sample: "pool gpu-fleet: ready, 4 of 6 Nodes joined"
plan:
  description: What was to be changed, with the fields and both their values.
  returned: always, unless what was given is not valid or could not be planned
  type: dict
  contains:
    changed:
      description: Whether anything was to be changed.
      type: bool
    serial:
      description: How many documents had been accepted when the plan was made.
      type: int
    prune:
      description: Whether what is not named was to go.
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
          description: Its name; a node pool's or a quota's after its pool's and a slash.
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
substrate:
  description:
    - The pool's substrate, as RV(better_compute.fleet.bc_substrate_info#module:substrates) tells it. Null where there
      is none.
  returned: always, unless what was given is not valid or the plan is blocked
  type: dict
code:
  description: The error's code, for example C(INVALID_INPUT), C(INVALID_STATE), C(NOT_FOUND) or C(CONFLICT).
  returned: on failure, where there is one
  type: str
problems:
  description: Everything that is wrong with what was given.
  returned: when it is not valid
  type: list
  elements: dict
  contains:
    path:
      description: Where, for example C(flavors[1].machine_type).
      type: str
    message:
      description: What was expected and what was found.
      type: str
"""

from ..module_utils._core.ansible_io.substrates import run_substrate


def main() -> None:
    """Run the module."""
    run_substrate()


if __name__ == "__main__":
    main()
