# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is booked, summed up by whose it is and where it stands."""

from __future__ import annotations

from dataclasses import dataclass

from .ids import PoolId, TenantId


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A tenant's bookings that stand on the nodes of one node pool.

    Attributes:
        node_pool: the provider's name of it; None for nodes of which nobody knows it.
        gpus: of all of them.
    """

    pool_id: PoolId
    tenant_id: TenantId
    node_pool: str | None
    bookings: int
    gpus: int
