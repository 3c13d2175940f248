# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Revision 0003: clusters that are adopted. Every one that was recorded before was created."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Bring the tables of revision 0002 to this one; every row stays."""
    with op.batch_alter_table("clusters") as table:
        # Neither an expression as its default nor taking that away again: either would make the table anew on SQLite,
        # and others refer to it.
        table.add_column(sa.Column("adopted", sa.Boolean(), nullable=False, server_default="0"))
