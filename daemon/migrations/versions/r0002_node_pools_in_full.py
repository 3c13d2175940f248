# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Revision 0002: places with their zones, the sizes of autoscaled node pools, sent changes, wanted versions, modes,
upgrades, and of which node pool a node is.

Zones that were recorded do not say which subnet each is of: the next pass of each account reads the places anew. Of
which node pool each node is, the next Node list says.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0002"
down_revision = "0001"

MOMENT = sa.String(32).with_variant(sa.DateTime(timezone=True), "postgresql")
VALUES = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")


def upgrade() -> None:
    """Bring the tables of revision 0001 to this one; every row stays."""
    with op.batch_alter_table("accounts") as table:
        table.add_column(sa.Column("places", VALUES, nullable=True))
        table.drop_column("zones")
    with op.batch_alter_table("clusters") as table:
        table.add_column(sa.Column("version", sa.Text(), nullable=True))
        # There was no other mode. The default stays: taking it away would make the table anew, which others refer to.
        table.add_column(sa.Column("mode", sa.Text(), nullable=False, server_default="standard"))
    with op.batch_alter_table("node_pools") as table:
        # Nobody could ask for another size of an autoscaled node pool yet: the first version asked for all of them.
        table.add_column(sa.Column("sized_version", sa.Integer(), nullable=False, server_default="1"))
        table.add_column(sa.Column("update_id", sa.Text(), nullable=True))
        table.add_column(sa.Column("last_update_at", MOMENT, nullable=True))
    with op.batch_alter_table("node_pools") as table:
        table.alter_column("sized_version", server_default=None)
    with op.batch_alter_table("substrates") as table:
        table.add_column(sa.Column("upgrade_version", sa.Text(), nullable=True))
        table.add_column(sa.Column("upgrade_since", MOMENT, nullable=True))
    with op.batch_alter_table("pool_nodes") as table:
        table.add_column(sa.Column("node_pool", sa.Text(), nullable=True))
