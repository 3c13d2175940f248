# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pool nodes and Kubernetes Nodes as a test names them, and a match of the two with nothing unusual about it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import NodeId, PoolId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.liveness import Listening
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import ClusterNode
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import Device, PoolNode
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import NodeState
from ansible_collections.better_compute.fleet.plugins.module_utils._core.nodes.matching import Matching, match
from ansible_collections.better_compute.fleet.tests.support.rows import START

NOW = START + timedelta(hours=1)
LISTENING = Listening(since=START, heard_at=NOW)
POOL = PoolId("pool_00000000000000000000000000")

SILENT = NOW - timedelta(minutes=2)
"""Last heard long enough ago to be disconnected at NOW."""


def devices(name: str, count: int = 2) -> tuple[Device, ...]:
    """The GPUs of the machine of that name."""
    return tuple(Device(id=f"GPU-{name}-{number}", model="H100") for number in range(count))


def machine(name: str, *, seen: datetime = NOW, joined: datetime = START, **different: Any) -> PoolNode:
    """A machine that reports the Node `name`; joined an hour ago and is heard, unless told otherwise."""
    values: dict[str, Any] = {
        "id": NodeId(f"node_{name}"),
        "pool_id": POOL,
        "state": NodeState.JOINED,
        "hostname": name,
        "reported_node_name": name,
        "identity_hash": f"hash of {name}",
        "devices": devices(name),
        "joined_at": joined,
        "last_seen_at": seen,
    }
    return PoolNode(**(values | different))


def matched(name: str, **different: Any) -> PoolNode:
    """A machine that was matched to the Node `name` with UID `uid-<name>`."""
    values: dict[str, Any] = {
        "state": NodeState.MATCHED,
        "node_name": name,
        "node_uid": f"uid-{name}",
        "node_pool": "h100",
    }
    return machine(name, **(values | different))


def listed(name: str, **different: Any) -> ClusterNode:
    """The Node `name` with UID `uid-<name>`."""
    values: dict[str, Any] = {"name": name, "uid": f"uid-{name}", "spot": False, "node_pool": "h100"}
    return ClusterNode(**(values | different))


def compare(nodes: Sequence[PoolNode], cluster: Sequence[ClusterNode] | None, **different: Any) -> Matching:
    """The match at NOW while a gateway listens and nobody wants more Nodes than there are."""
    values: dict[str, Any] = {"listening": LISTENING, "desired_total": 0, "vanished_at": None, "now": NOW}
    return match(nodes, cluster, **(values | different))


def retired(matching: Matching) -> set[str]:
    """The names of the machines to retire."""
    return {departure.node.hostname for departure in matching.to_retire}
