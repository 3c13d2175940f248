#!/usr/bin/python
# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ansible module bc_cluster_info: the clusters of a tenant, and what became of them."""

from __future__ import annotations

DOCUMENTATION = r"""
module: bc_cluster_info
short_description: Read the clusters of a tenant
version_added: 0.1.0
description:
  - Returns the clusters that are not deleted as they are recorded, the tenant's own and those behind its pools.
  - Asks no provider.
author:
  - better_compute.fleet contributors (@better-compute)
options:
  tenant:
    description:
      - The tenant that owns the clusters.
    type: str
    default: platform
  cluster_id:
    description:
      - Only the cluster of this id.
    type: str
  names:
    description:
      - Only the clusters of these names.
    type: list
    elements: str
extends_documentation_fragment:
  - better_compute.fleet.fleet
  - better_compute.fleet.fleet.read_only
seealso:
  - module: better_compute.fleet.bc_cluster
  - module: better_compute.fleet.bc_nodepool_info
"""

EXAMPLES = r"""
- name: Read a tenant's clusters
  better_compute.fleet.bc_cluster_info:
    tenant: acme
  register: read

- name: Say where the API of each that is ready is
  ansible.builtin.debug:
    msg: "{{ item.name }}: {{ item.endpoint }}"
  loop: "{{ read.clusters | selectattr('state', 'eq', 'ready') }}"
  loop_control:
    label: "{{ item.name }}"
"""

RETURN = r"""
clusters:
  description: The clusters, by name.
  returned: always, unless the call is refused
  type: list
  elements: dict
  contains:
    id:
      description: Its id.
      type: str
    tenant_id:
      description: The tenant that owns it.
      type: str
    name:
      description: Its name, also at the provider.
      type: str
    pool:
      description: The name of the pool that it backs, null on a cluster of the tenant's own.
      type: str
    provider:
      description: The account's provider.
      type: str
    account:
      description: The provider account's name.
      type: str
    location:
      description: Where it is.
      type: str
    mode:
      description: C(standard) or C(autopilot).
      type: str
    adopted:
      description: Whether a pool adopted it. It is somebody else's then, and is never changed or deleted.
      type: bool
    private_nodes:
      description: Whether its nodes have no public addresses, null for an adopted one.
      type: bool
    version:
      description: The control plane's version that was asked for, null where it is left to the provider.
      type: str
    running_version:
      description: The control plane's version as it was last seen, null until it was.
      type: str
    endpoint:
      description: The URL of its Kubernetes API, null until it has one.
      type: str
    global_id:
      description: The provider's own id of it (EKS its ARN, GKE its selfLink, DOKS its UUID), null until it has one.
      type: str
    state:
      description: C(pending), C(provisioning), C(ready), C(updating), C(deleting) or C(error).
      type: str
    message:
      description: The provider's reason, when it refused or is not done.
      type: str
    node_pools:
      description:
        - Its node pools that are not deleted, each as M(better_compute.fleet.bc_nodepool_info) returns it, without
          C(pool).
      type: list
      elements: dict
code:
  description: C(NOT_FOUND) for a cluster that the tenant does not have.
  returned: on failure, where there is one
  type: str
"""

from ..module_utils._core.ansible_io.cluster_info import run_cluster_info


def main() -> None:
    """Run the module."""
    run_cluster_info()


if __name__ == "__main__":
    main()
