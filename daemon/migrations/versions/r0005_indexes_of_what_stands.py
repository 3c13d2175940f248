# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Revision 0005: indexes of what stands, so that nobody reads history to find it; and those that find what is to go."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

NOT_RETIRED = sa.text("state <> 'retired'")
NOT_ENDED = sa.text("ended_at IS NULL")


def upgrade() -> None:
    """Bring the indexes of revision 0004 to this one; every row stays."""
    op.create_index(
        "ix_pool_nodes_standing", "pool_nodes", ["pool_id"], sqlite_where=NOT_RETIRED, postgresql_where=NOT_RETIRED
    )
    op.create_index(
        "ix_reservations_standing",
        "reservations",
        ["pool_id", "tenant_id"],
        sqlite_where=NOT_ENDED,
        postgresql_where=NOT_ENDED,
    )
    op.create_index("ix_join_tokens_pool_id_expires_at", "join_tokens", ["pool_id", "expires_at"])
    op.drop_index("ix_join_tokens_pool_id", "join_tokens")
    op.create_index("ix_join_tokens_expires_at", "join_tokens", ["expires_at"])
    op.create_index("ix_events_at", "events", ["at"])
    op.create_index("ix_idempotency_result_id", "idempotency", ["result_id"])
