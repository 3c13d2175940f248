#!/usr/bin/python
# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ansible module bc_cluster_credentials: a tenant's way into a created cluster."""

from __future__ import annotations

DOCUMENTATION = r"""
module: bc_cluster_credentials
short_description: Let a subject into a created cluster with a kubeconfig
version_added: 0.1.0
description:
  - Writes a kubeconfig for one subject to a file. It holds a token of a bounded life, which is stored nowhere else and
    is never part of a result.
  - The cluster is one of the tenant's own, or the one that was created for a pool of the tenant's. An adopted cluster
    is refused with C(INVALID_STATE). Reach that one with the provider's credentials.
  - In the cluster the subject is a service account in the namespace C(bc-access). In its O(namespaces), and nowhere
    else, it may do what Kubernetes' own C(edit) role allows. Beyond them it reads nodes, namespaces and classes.
  - It reaches neither C(bcd) and the join token, nor C(bc-access), nor other namespaces. RBAC grants none of that, and
    an admission policy, the access guard, refuses its writes outside of tenants' namespaces even where somebody grants
    it more. The guard needs Kubernetes 1.30; on an older cluster nobody is let in (C(UNSUPPORTED)).
  - Namespaces that it makes enforce the Pod Security level C(baseline), because who gets onto a node's host reaches
    what lies there. GPUs need no more than that.
  - Every run that issues a token puts back what somebody changed of all this.
author:
  - better_compute.fleet contributors (@better-compute)
options:
  tenant:
    description:
      - The tenant that owns the cluster.
    type: str
    default: platform
  pool:
    description:
      - The pool whose cluster it is, by name or id. Either this or O(cluster_id) is required.
    type: str
  cluster_id:
    description:
      - The cluster, by its id.
    type: str
  subject:
    description:
      - Who is let in, 1 to 256 printable characters. Each has an account of its own.
      - Without it the caller, which is the operator that the settings name, else the login name.
    type: str
  namespaces:
    description:
      - Where the subject works, 1 to 50 names. They are made where they are missing. One that stands there and that
        this module did not make is refused with C(CONFLICT).
      - It works in these only. Access to others that an earlier run gave is taken back; the namespaces stay.
      - The first is where C(kubectl) works unless it is told otherwise. Several subjects may share one.
      - Required when O(state=present).
    type: list
    elements: str
  dest:
    description:
      - The file for the kubeconfig. Its folder must exist. Its mode is C(0600) unless O(mode) says otherwise.
      - A file that is there and is no kubeconfig of this module's is refused.
      - Required when O(state=present).
    type: path
  expires_seconds:
    description:
      - How long the token lives, 600 to 86400 seconds. A provider may give a shorter life.
    type: int
    default: 3600
  renew_before:
    description:
      - A kubeconfig that says all that is asked for and is valid for longer than so many seconds is left alone; no
        provider and no cluster is asked.
    type: int
    default: 900
  state:
    description:
      - V(absent) takes the subject's access to the cluster, which ends all of its tokens at once, and removes O(dest)
        where that is its kubeconfig. What the subject made in its namespaces stays.
    type: str
    choices: [present, absent]
    default: present
attributes:
  check_mode:
    description: Says what a run would change, and changes nothing.
    support: full
  diff_mode:
    description: Shows what the kubeconfig says of itself, without its token.
    support: full
extends_documentation_fragment:
  - better_compute.fleet.fleet
  - ansible.builtin.files
seealso:
  - module: better_compute.fleet.bc_cluster
  - module: better_compute.fleet.bc_cluster_info
"""

EXAMPLES = r"""
- name: Deploy into the cluster behind a pool for an hour
  better_compute.fleet.bc_cluster_credentials:
    tenant: acme
    pool: gpu-fleet
    namespaces: [training]
    dest: "{{ ansible_user_dir }}/.kube/gpu-fleet"

- name: Let a colleague into one of the tenant's own clusters for a day
  better_compute.fleet.bc_cluster_credentials:
    tenant: acme
    cluster_id: kcl_01kb5c0000000000000000000a
    subject: alice@acme.example
    namespaces: [web, jobs]
    expires_seconds: 86400
    dest: /home/alice/.kube/acme-web
    owner: alice

- name: Take that access back
  better_compute.fleet.bc_cluster_credentials:
    tenant: acme
    cluster_id: kcl_01kb5c0000000000000000000a
    subject: alice@acme.example
    state: absent
"""

RETURN = r"""
dest:
  description: The file with the kubeconfig.
  returned: when O(state=present)
  type: str
cluster_id:
  description: The cluster's id.
  returned: success
  type: str
cluster_name:
  description: The cluster's name, which is also the name of the kubeconfig's context.
  returned: success
  type: str
endpoint:
  description: The URL of the cluster's Kubernetes API.
  returned: when O(state=present)
  type: str
subject:
  description: Who is let in.
  returned: success
  type: str
account:
  description: The subject's service account in C(bc-access).
  returned: success
  type: str
namespaces:
  description: Where the subject works.
  returned: when O(state=present)
  type: list
  elements: str
expires_at:
  description: When the token ends, ISO 8601 with its time zone. Null in check mode when one would be issued.
  returned: when O(state=present)
  type: str
code:
  description: The error's code, for example C(INVALID_STATE), C(UNSUPPORTED), C(CONFLICT) or C(UNAVAILABLE).
  returned: on failure, where there is one
  type: str
problems:
  description: Everything that is wrong with the call, each with its C(path) and a C(message).
  returned: when the call is not valid
  type: list
  elements: dict
"""

from ..module_utils._core.ansible_io.cluster_credentials import run_cluster_credentials


def main() -> None:
    """Run the module."""
    run_cluster_credentials()


if __name__ == "__main__":
    main()
