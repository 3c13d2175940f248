# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a reservation stands: which devices of which node. Pure and deterministic."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from ..model.ids import NodeId
from ..model.liveness import is_connected
from ..model.records import PoolNode
from ..model.states import NodeState


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """A node, and as many of its devices as were asked for."""

    node_id: NodeId
    device_ids: tuple[str, ...]


def place(
    nodes: Sequence[PoolNode],
    held: Mapping[NodeId, Collection[str]],
    *,
    gpus: int,
    spot: bool,
    now: datetime,
) -> Placement | None:
    """Choose devices for a reservation, all on one node; None when nothing fits now.

    Only a node that is matched, not cordoned and connected takes bookings. A reservation that is not Spot never stands
    on a Spot node, and a Spot one on no other. The node that is left with the fewest free devices is taken, so that
    whole machines stay free for those who need them; of equal ones the oldest.

    Arguments:
        held: the devices that are booked on each node; a node that is missing has none.
        gpus: how many devices, 1 and up.
    """
    fitting = []
    for node in nodes:
        if node.state != NodeState.MATCHED or node.spot != spot or not is_connected(node.last_seen_at, now=now):
            continue
        free = sorted({device.id for device in node.devices} - set(held.get(node.id, ())))
        if len(free) >= gpus:
            fitting.append((len(free), node.id, free))
    if not fitting:
        return None
    _free_devices, node_id, free = min(fitting)
    return Placement(node_id=node_id, device_ids=tuple(free[:gpus]))
