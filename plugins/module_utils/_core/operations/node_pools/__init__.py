# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubernetesNodePools: node pools of a cluster that a caller adds, resizes and deletes.

`calls` has the API's four methods, `planning` says what a call for many node pools of many clusters changes and
`converging` records it (bc_nodepool), `reading` tells what is recorded (bc_nodepool_info). All decide by the same pure
functions: `constraints` says what is wrong with a request, `deciding` what it changes. A flavor's node pool is changed
in the document only. Each is imported from its own file: whoever only looks loads nothing that writes.

Idempotency keys are scoped to tenant, caller and cluster. A request with a key is one to create, and nothing else: its
repetition is answered with the node pool that the first one made, as that stands now, resized or deleted meanwhile or
not, and never makes a second one.
"""
