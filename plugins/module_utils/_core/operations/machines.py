# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The machines of a pool as they are recorded, for whoever looks: which joined, which are retired, what is charged."""

from __future__ import annotations

from dataclasses import dataclass

from ..model.ids import PLATFORM_TENANT, TenantId
from ..model.records import PoolNode
from ..store import pool_nodes, reservations
from .pool_names import resolve_pool
from .session import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Machines:
    """What is recorded of a pool's machines.

    Attributes:
        nodes: every one that ever joined, oldest first, the retired ones among them.
        held_gpus: how many GPUs of theirs are charged to the tenant and not refunded.
    """

    nodes: tuple[PoolNode, ...]
    held_gpus: int


def machines_of(session: Session, *, pool: str, tenant_id: TenantId = PLATFORM_TENANT) -> Machines:
    """Look at a pool's machines, in one read.

    Raises:
        OperationError: NOT_FOUND for an unknown pool.
    """
    with session.store.read() as tx:
        record = resolve_pool(tx, pool=pool, tenant_id=tenant_id)
        return Machines(
            nodes=pool_nodes.pool_nodes(tx, record.id, retired=True),
            held_gpus=reservations.held(tx, tenant_id, record.id),
        )
