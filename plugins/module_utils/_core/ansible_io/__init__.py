# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The edge to Ansible: argument specs, results, diffs, missing libraries. The only place that knows AnsibleModule."""

from __future__ import annotations

import gc

_ALLOCATIONS_BETWEEN_COLLECTIONS = 100_000
"""Python's own 700 has a module's short process look again and again through the libraries that it is just loading."""

# Here, because it is the first thing that a module's process loads of ours.
gc.set_threshold(_ALLOCATIONS_BETWEEN_COLLECTIONS)
