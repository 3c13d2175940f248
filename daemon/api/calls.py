# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every call of the API."""

from __future__ import annotations

from .call import Call
from .clusters import CALLS as CLUSTERS
from .node_pools import CALLS as NODE_POOLS
from .substrates import CALLS as SUBSTRATES

CALLS: tuple[Call, ...] = (*CLUSTERS, *NODE_POOLS, *SUBSTRATES)
