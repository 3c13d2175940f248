# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What stands, as opposed to history: told in the very words of the partial indexes (tables.py).

A database uses such an index only for a condition that it knows to say the same. A value that comes as a parameter says
nothing when the statement is planned, so none of these has any.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from .tables import tables

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement


@cache
def not_retired() -> ColumnElement[bool]:
    """Nodes that are not retired."""
    from sqlalchemy import literal_column

    return tables().pool_nodes.c.state != literal_column("'retired'")


@cache
def not_ended() -> ColumnElement[bool]:
    """Reservations that are pending or bound: whoever ends one says when."""
    return tables().reservations.c.ended_at.is_(None)


@cache
def node_pool_stands() -> ColumnElement[bool]:
    """Node pools that are not deleted."""
    from sqlalchemy import literal_column

    return tables().node_pools.c.state != literal_column("'deleted'")


@cache
def cluster_stands() -> ColumnElement[bool]:
    """Clusters that are not deleted."""
    from sqlalchemy import literal_column

    return tables().clusters.c.state != literal_column("'deleted'")
