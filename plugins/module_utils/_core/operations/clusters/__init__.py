# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kubernetesClusters calls: clusters of a tenant's own, which back no pool (spec).

`calls` has the API's methods, `planning` says what a call for many clusters changes and `converging` records it
(bc_cluster), `reading` tells what is recorded (bc_cluster_info). All decide by the same pure functions: `constraints`
says what is wrong with a request, `deciding` what it changes. The cluster of a pool is changed in the document only.
Each is imported from its own file: whoever only looks loads nothing that writes.

A cluster stands on the tenant's own provider account or on one of the platform's: both are named alike, and the
tenant's own comes first. Its name is also the provider's: unique among the tenant's clusters that are not deleted, and
in its account's location whoever else has clusters there.

Idempotency keys are scoped to tenant and caller, and mean what they mean for node pools (operations/node_pools).
"""
