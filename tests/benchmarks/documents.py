# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The documents that are measured with: many pools like the one of a life."""

from __future__ import annotations

from typing import Any

from ansible_collections.better_compute.fleet.tests.support.life.world import document

GPUS = {"type": "nvidia-h100", "count": 8}


def flavor(name: str) -> dict[str, Any]:
    """A flavor without nodes, so that no machine has to be emulated for it."""
    return {"name": name, "machineType": "p5.48xlarge", "nodes": 0, "gpus": GPUS}


def idle_pools(*flavors: int) -> dict[str, Any]:
    """A document with a pool for each number, of so many flavors without nodes: pool-0, pool-1, …"""
    pools = []
    for number, count in enumerate(flavors):
        [pool] = document()["pools"]
        pool["name"] = f"pool-{number}"
        pool["policy"]["substrate"]["flavors"] = [flavor(f"flavor-{n}") for n in range(count)]
        pools.append(pool)
    return document(pools=pools, quotas=[])


def many_pools(count: int, *, flavors: int = 2) -> dict[str, Any]:
    """A document with so many pools, each with one or two flavors and a quota."""
    [pool], [quota] = document()["pools"], document()["quotas"]
    del pool["policy"]["substrate"]["flavors"][flavors:]
    names = [pool_name(number) for number in range(count)]
    return document(
        pools=[{**pool, "name": name} for name in names], quotas=[{**quota, "pool": name} for name in names]
    )


def pools_with_nodes(count: int, *, nodes: int) -> dict[str, Any]:
    """A document with so many pools of one flavor. Arguments: nodes: in each of its two zones."""
    [pool] = document()["pools"]
    pool["policy"]["substrate"]["flavors"] = [{**flavor("h100"), "nodes": nodes}]
    return document(pools=[{**pool, "name": pool_name(number)} for number in range(count)], quotas=[])


def pool_name(number: int) -> str:
    """The name of one of many pools: all of one length."""
    return f"pool-{number:05}"
