# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The names of everything that we keep in a cluster: chosen once, known to the leftover check and to the machines."""

from __future__ import annotations

FIELD_MANAGER = "better-compute"
"""Our name in managedFields, at creates and at server-side applies."""

ACCESS_NAMESPACE = "bc-access"
ACCESS_ACCOUNT = "bc-substrate"
ACCESS_BINDING = "bc-substrate"
"""The cluster-admin binding of `bc-access/bc-substrate`."""

CLAIM_NAMESPACE = "kube-system"
CLAIM = "better-compute-substrate"
"""The ConfigMap that says which pool holds the cluster (spec)."""

AGENT_NAMESPACE = "better-compute"
AGENT = "bcd"
"""bcd's DaemonSet and its ConfigMap."""

AGENT_PLACE = f"{AGENT_NAMESPACE}/{AGENT}"
"""How messages name the DaemonSet."""

JOIN_SECRET = "bcd-join"  # noqa: S105 -- a Secret's name, not a secret
JOIN_SECRET_KEY = "token"  # noqa: S105 -- the key in that Secret, and the file's name where it is mounted

EDIT_ROLE = "better-compute:edit"
"""What a subject may do in its namespaces (spec)."""

EDIT_CLUSTER_ROLE = "better-compute:edit-cluster"
"""What it may read beyond them."""

ACCESS_GUARD = "better-compute-access-guard"
"""The admission policy, and its binding."""
