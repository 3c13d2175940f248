#!/usr/bin/python
# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ansible module bc_cluster: clusters of a tenant's own, which back no pool."""

from __future__ import annotations

DOCUMENTATION = r"""
module: bc_cluster
short_description: Create, upgrade and delete a tenant's own clusters
version_added: 0.1.0
description:
  - Manages managed Kubernetes clusters that back no pool. They are the tenant's to use as it likes. This module puts
    nothing into them, and their nodes join no pool. M(better_compute.fleet.bc_cluster_credentials) lets people in.
  - A cluster stands on the tenant's own provider account, or on one of the platform's. Accounts are declared in a
    FleetConfig document with M(better_compute.fleet.bc_fleet).
  - The cluster behind a pool is changed in the FleetConfig document only.
  - Takes a list, because each module run costs seconds of start-up, and clusters take many minutes that they can spend
    side by side. Either all of it is recorded or nothing.
  - Compares with what is recorded. A run that finds everything recorded and ready asks no provider; what somebody
    changed at the provider is put back by C(bc-fleetd).
author:
  - better_compute.fleet contributors (@better-compute)
options:
  tenant:
    description:
      - The tenant that owns the clusters.
    type: str
    default: platform
  clusters:
    description:
      - The clusters. Others are left alone.
      - What is left out is left as it is; of a new cluster it is left to the provider.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description:
          - Its name, also at the provider, 1 to 40 characters of C(a-z), C(0-9) and C(-), a letter first and no C(-)
            last. Unique among the tenant's clusters; the name of a deleted one is free again.
          - A name that somebody else's cluster has in the same location of the same account is refused with
            C(CONFLICT).
        type: str
      cluster_id:
        description:
          - A cluster that is there, by its id, instead of its O(clusters[].name).
        type: str
      account:
        description:
          - The provider account's name. The tenant's own of that name is meant, else the platform's.
          - Required for a new cluster; it never changes.
        type: str
      location:
        description:
          - The provider's name of the place. On EKS and DOKS the account's region, on GKE a region or a zone.
          - Required for a new cluster; it never changes.
        type: str
      mode:
        description:
          - V(standard) has node pools. In V(autopilot) the provider runs the nodes, and there are none; only GKE has
            it, elsewhere it is refused with C(UNSUPPORTED).
          - A new cluster is V(standard) when it is left out. It never changes.
        type: str
        choices: [standard, autopilot]
      version:
        description:
          - The control plane's Kubernetes version without its patch, for example V(1.34). It is raised in place, one
            minor version after the other, and never lowered.
          - Node pools keep theirs, but on DOKS, which upgrades them with it and gives them new machines, and on an
            autopilot cluster.
        type: str
      private_nodes:
        description:
          - Whether its nodes have no public addresses, as far as the provider decides it. It never changes.
          - DOKS has no such nodes and refuses it with C(UNSUPPORTED).
        type: bool
      node_pools:
        description:
          - The first node pools of a new cluster. On one that stands, these are added or resized, as
            M(better_compute.fleet.bc_nodepool) does, and others are left alone.
          - GKE and DOKS make no standard cluster without nodes. A new one without node pools waits, V(pending), until
            one is recorded.
          - An autopilot cluster has none. They are refused with C(INVALID_STATE).
          - A cluster has at most 10 that are not deleted.
        type: list
        elements: dict
        suboptions:
          name:
            description:
              - Its name, also at the provider, 1 to 40 characters of C(a-z), C(0-9) and C(-), a letter first and no
                C(-) last.
            type: str
            required: true
          machine_type:
            description:
              - The provider's machine type. Required for a new node pool; it never changes in place.
            type: str
          node_count:
            description:
              - Nodes per zone, 0 to 1000; on DOKS, which has no zones, all of them. Required for a new node pool.
              - DOKS takes 0 only with O(clusters[].node_pools[].autoscaling) from 0.
              - With O(clusters[].node_pools[].autoscaling) it is the count to begin with, within the bounds.
            type: int
          autoscaling:
            description:
              - The bounds within which the cluster's own autoscaler moves the count.
            type: dict
            suboptions:
              enabled:
                description:
                  - V(false) turns it off, whatever the bounds.
                type: bool
                default: true
              min_nodes:
                description:
                  - Nodes per zone at least, 0 to 1000. Required when it is enabled.
                type: int
              max_nodes:
                description:
                  - Nodes per zone at most, 1 to 1000. Required when it is enabled.
                type: int
          spot:
            description:
              - Whether its machines are Spot. It never changes in place.
            type: bool
          disk_gib:
            description:
              - Its nodes' disks in GiB, 10 to 65536; on DOKS the machine type decides. It never changes in place.
            type: int
          disk_type:
            description:
              - The provider's name of its disks' kind. EKS and DOKS have none to choose. It never changes in place.
            type: str
          accelerators:
            description:
              - The GPUs of each machine. They never change in place.
            type: dict
            suboptions:
              type:
                description:
                  - The provider's name of them, for example V(nvidia-l4).
                type: str
                required: true
              count:
                description:
                  - How many each machine has, 1 to 16.
                type: int
                required: true
          zones:
            description:
              - The zones it is spread over, at most 10, of the cluster's region and of the account; all of the
                account's if unset. They never change in place.
            type: list
            elements: str
          labels:
            description:
              - Kubernetes labels of its nodes, at most 32. They never change in place.
            type: dict
          taints:
            description:
              - Kubernetes taints of its nodes, at most 32. They never change in place.
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
                  - The taint's value, at most 63 characters.
                type: str
                default: ""
              effect:
                description:
                  - What it does to pods that do not tolerate it.
                type: str
                choices: [NoSchedule, PreferNoSchedule, NoExecute]
                required: true
      idempotency_key:
        description:
          - Makes this a request to create, and nothing else. The same request with the same key returns the cluster
            that the first one made, as it stands now, and never makes a second one; another request with it is refused
            with C(CONFLICT), and so is a name that is taken.
          - Keys are scoped to tenant and caller. The caller is the operator that the settings name, else the login
            name.
          - 1 to 128 characters of letters, digits, C(.), C(_), C(:) and C(-). Ignored when O(state=absent).
        type: str
  state:
    description:
      - Whether they are to be there. V(absent) looks at names and ids only, and deletes their node pools with them.
    type: str
    choices: [present, absent]
    default: present
  wait:
    description:
      - Whether to converge the clusters until they and their node pools are ready, or gone. The task fails when one is
        not, with the provider's reason. Otherwise one pass is run.
    type: bool
    default: true
  wait_timeout:
    description:
      - How long to wait, in seconds. When it runs out, the task fails and what was asked for stays recorded.
    type: int
    default: 1800
attributes:
  check_mode:
    description: Says exactly what a run would change, and changes nothing.
    support: full
  diff_mode:
    description: Shows what is declared of the clusters before and after.
    support: full
extends_documentation_fragment:
  - better_compute.fleet.fleet
seealso:
  - module: better_compute.fleet.bc_cluster_credentials
  - module: better_compute.fleet.bc_cluster_info
  - module: better_compute.fleet.bc_nodepool
  - module: better_compute.fleet.bc_fleet
"""

EXAMPLES = r"""
- name: A cluster for a tenant on the platform's account
  better_compute.fleet.bc_cluster:
    tenant: acme
    clusters:
      - name: acme-web
        account: aws-main
        location: us-east-1
        version: "1.33"
        node_pools:
          - name: system
            machine_type: m7i.large
            node_count: 1

- name: Upgrade its control plane in place
  better_compute.fleet.bc_cluster:
    tenant: acme
    clusters:
      - name: acme-web
        version: "1.34"

- name: Two clusters on the tenant's own account, made side by side
  better_compute.fleet.bc_cluster:
    tenant: acme
    clusters:
      - name: acme-staging
        account: acme-aws
        location: eu-west-1
      - name: acme-production
        account: acme-aws
        location: eu-west-1
        private_nodes: true
    wait_timeout: 3600

- name: Delete one with its node pools
  better_compute.fleet.bc_cluster:
    tenant: acme
    clusters:
      - name: acme-staging
    state: absent
"""

RETURN = r"""
clusters:
  description:
    - The named clusters as they are recorded, without those that are gone. In check mode as they stand before it.
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
  description: The error's code, for example C(INVALID_STATE), C(CONFLICT) or C(UNSUPPORTED).
  returned: on failure, where there is one
  type: str
problems:
  description: Everything that is wrong with the call, each with its C(path) and a C(message).
  returned: when the call is not valid
  type: list
  elements: dict
"""

from ..module_utils._core.ansible_io.clusters import run_clusters


def main() -> None:
    """Run the module."""
    run_clusters()


if __name__ == "__main__":
    main()
