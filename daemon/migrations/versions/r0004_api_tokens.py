# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Revision 0004: tokens of the HTTP API."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0004"
down_revision = "0003"

MOMENT = sa.String(32).with_variant(sa.DateTime(timezone=True), "postgresql")
VALUES = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
NOT_REVOKED = sa.text("revoked_at IS NULL")


def upgrade() -> None:
    """Bring the tables of revision 0003 to this one; every row stays."""
    op.create_table(
        "api_tokens",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("permissions", VALUES, nullable=False),
        sa.Column("token_hash", sa.Text(), nullable=False),
        sa.Column("issued_by", sa.Text(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("expires_at", MOMENT, nullable=False),
        sa.Column("revoked_at", MOMENT, nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_api_tokens"),
        sa.UniqueConstraint("token_hash", name="uq_api_tokens_token_hash"),
    )
    op.create_index(
        "uq_api_tokens_name",
        "api_tokens",
        ["tenant_id", "name"],
        unique=True,
        sqlite_where=NOT_REVOKED,
        postgresql_where=NOT_REVOKED,
    )
