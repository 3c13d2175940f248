# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a fleet forgets by and by."""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """Kinds of history, in the order in which they can go: each waits for what refers to it or tells of it."""

    EVENTS = "events"
    RESERVATIONS = "reservations"
    JOIN_TOKENS = "join_tokens"
    NODES = "nodes"
    NODE_POOLS = "node_pools"
    POOLS = "pools"
    CLUSTERS = "clusters"
