# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Since when none has joined: the clock behind "look at bcd's pods" (spec, "What happens"). Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ..model.records import PoolNode
from .matching import Matching


def waiting_since(
    matching: Matching, nodes: Sequence[PoolNode], *, previous: datetime | None, now: datetime
) -> datetime | None:
    """When the last node joined, or the first Node that waits was listed, whichever is later; None when none waits.

    Arguments:
        nodes: the pool's nodes that are not retired.
        previous: what the former pass recorded. An unknown list leaves it as it is.
    """
    if not matching.known:
        return previous
    if not matching.waiting:
        return None
    if previous is None:
        return now
    return max([previous, *(node.joined_at for node in nodes if node.last_seen_at > node.joined_at)])
