# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every credential that the gateway would take, as hashes: to tell a node from a guesser without asking each time."""

from __future__ import annotations

from ..store import Store, join_tokens, pool_nodes


def good_credentials(store: Store) -> frozenset[str]:
    """SHA-256 of each join token that is neither revoked nor expired, and of each identity of a node."""
    with store.read() as tx:
        return join_tokens.live_hashes(tx) | pool_nodes.identity_hashes(tx)
