# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The node-pools API's limits: the one table that documents (flavors) and operations (node pools) both go by.

Patterns are ASCII and anchored, as pydantic takes them. In Python they are used with ``re.fullmatch`` and ``re.ASCII``:
`$` alone would let a newline through. Source of all: spec, kubernetesNodePools.
"""

from __future__ import annotations

NODE_POOL_NAME = "^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$"
CLUSTER_NAME = NODE_POOL_NAME
"""Also the provider's name of a tenant's own cluster: what GKE and DOKS take (40 characters); EKS takes more."""

MACHINE_TYPE = "^[a-z0-9][a-z0-9.-]{0,62}$"
DISK_TYPE = "^[a-z][a-z0-9-]{1,40}$"
ACCELERATOR = "^[a-z0-9][a-z0-9-]{0,62}$"
ZONE = "^[a-z0-9][a-z0-9-]{0,62}$"
TENANT = "^[A-Za-z0-9._:-]{1,128}$"
IDEMPOTENCY_KEY = "^[A-Za-z0-9._:-]{1,128}$"
CLUSTER_ID = "^kcl_[0-9a-hjkmnp-tv-z]{26,52}$"
NODE_POOL_ID = "^knp_[0-9a-hjkmnp-tv-z]{26,52}$"
POOL_ID = "^pool_[0-9a-hjkmnp-tv-z]{26,52}$"
"""Also the spec's kubernetesSubstrates."""

MOST_NODES = 1000
"""Per zone; `nodeCount` and both bounds. A `maxNodes` is at least 1."""

LEAST_DISK_GIB = 10
MOST_DISK_GIB = 65536
MOST_ACCELERATORS = 16
"""Of one machine; at least 1."""

MOST_ZONES = 10
MOST_LABELS = 32
MOST_TAINTS = 32
TAINT_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")

EXPECTED = {
    NODE_POOL_NAME: "1 to 40 lower-case ASCII letters, digits or '-', a letter first and no '-' last",
    MACHINE_TYPE: "a machine type in lower case, e.g. p5.48xlarge",
    DISK_TYPE: "a disk type in lower case, e.g. pd-balanced",
    ACCELERATOR: "an accelerator's name in lower case, e.g. nvidia-h100",
    ZONE: "a place's name in lower case, e.g. us-east-1",
    TENANT: "1 to 128 ASCII letters, digits, '.', '_', ':' or '-'",
    CLUSTER_ID: "a cluster's id, kcl_…",
    NODE_POOL_ID: "a node pool's id, knp_…",
    POOL_ID: "a pool's id, pool_…",
}
"""Pattern -> what was expected, for a person. IDEMPOTENCY_KEY is TENANT."""
