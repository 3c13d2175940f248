# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes down what matching found: matches, and nodes whose machines are gone. Called by the pass, under its lease."""

from __future__ import annotations

from ..model.records import PoolNode, PoolRecord
from ..store import Tx, fleet, pool_nodes
from .matching import Matching
from .retiring import end_bookings, retire_gone


def record(tx: Tx, *, pool: PoolRecord, matching: Matching) -> tuple[PoolNode, ...]:
    """Record the matches and retire what is gone; nothing is written when nothing differs.

    Each node's retirement with the end of its bookings is whole within this transaction, and so is the end of those
    on a machine that was made anew. An unknown list has none of this.

    Returns:
        The nodes that were retired.
    """
    changing = [one.node_id for one in matching.to_record] + [one.node.id for one in matching.to_retire]
    if changing:
        fleet.lock_pool(tx, pool.id)
        pool_nodes.lock_nodes(tx, changing)
    for one in matching.to_record:
        if one.new_machine:
            end_bookings(tx, pool=pool, node_id=one.node_id)
        pool_nodes.set_match(
            tx,
            one.node_id,
            node_name=one.node_name,
            node_uid=one.node_uid,
            node_pool=one.node_pool,
            spot=one.spot,
            labels=one.labels,
            state=one.state,
        )
    return tuple(one.node for one in matching.to_retire if retire_gone(tx, pool=pool, departure=one))
