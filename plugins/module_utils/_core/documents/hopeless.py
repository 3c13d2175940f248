# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a document may say, and what yet no plan of it can be made with, whatever stands already.

For who looks at a document alone: a plan refuses the same as QUOTA_EXCEEDED, and counts what stands already as well.
"""

from __future__ import annotations

from ..model.capabilities import MAX_NODE_POOLS
from ..model.declared import FleetConfig
from ..model.errors import Problem
from .spelling import path_text


def hopeless(config: FleetConfig) -> tuple[Problem, ...]:
    """Every flavor that is one too many for its pool's cluster."""
    return tuple(
        Problem(
            path=path_text(("pools", index, "policy", "substrate", "flavors", MAX_NODE_POOLS)),
            message=f"a cluster has at most {MAX_NODE_POOLS} node pools, found {len(pool.substrate.flavors)} flavors",
        )
        for index, pool in enumerate(config.pools)
        if pool.substrate and len(pool.substrate.flavors) > MAX_NODE_POOLS
    )
