# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Revision 0001: the first tables. A revision is history: it is never changed, and imports nothing that may change."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None

MOMENT = sa.String(32).with_variant(sa.DateTime(timezone=True), "postgresql")
VALUES = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _where(condition: str) -> dict[str, Any]:
    return {"sqlite_where": sa.text(condition), "postgresql_where": sa.text(condition)}


def upgrade() -> None:
    """Make every table."""
    op.create_table(
        "accounts",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column("config", VALUES, nullable=False),
        sa.Column("zones", VALUES, nullable=True),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_accounts"),
        sa.UniqueConstraint("tenant_id", "name", name="uq_accounts_tenant_id_name"),
    )
    op.create_table(
        "clusters",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("account_id", sa.Text(), nullable=False),
        sa.Column("substrate_pool_id", sa.Text(), nullable=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("location", sa.Text(), nullable=False),
        sa.Column("private_nodes", sa.Boolean(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("observed_generation", sa.Integer(), nullable=False),
        sa.Column("outputs", VALUES, nullable=True),
        sa.Column("ready_before", sa.Boolean(), nullable=False),
        sa.Column("delete_attempts", sa.Integer(), nullable=False),
        sa.Column("global_id", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_clusters"),
    )
    op.create_index("uq_clusters_global_id", "clusters", ["global_id"], unique=True, **_where("state <> 'deleted'"))
    op.create_index(
        "uq_clusters_name", "clusters", ["account_id", "location", "name"], unique=True, **_where("state <> 'deleted'")
    )
    op.create_index("uq_clusters_pool", "clusters", ["substrate_pool_id"], unique=True, **_where("state <> 'deleted'"))
    op.create_table(
        "events",
        sa.Column("number", NUMBER, nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=True),
        sa.Column("data", VALUES, nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_events"),
        sa.UniqueConstraint("id", name="uq_events_id"),
        sa.UniqueConstraint("subject", "type", "key", name="uq_events_subject_type_key"),
    )
    op.create_table(
        "fleet",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("serial", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_fleet"),
    )
    op.create_table(
        "gateways",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("listening_since", MOMENT, nullable=False),
        sa.Column("heard_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_gateways"),
    )
    op.create_table(
        "idempotency",
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("request_digest", sa.Text(), nullable=False),
        sa.Column("result_id", sa.Text(), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("scope", "key", name="pk_idempotency"),
    )
    op.create_table(
        "pools",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("site_id", sa.Text(), nullable=False),
        sa.Column("class", sa.Text(), nullable=False),
        sa.Column("gpu_model", sa.Text(), nullable=False),
        sa.Column("platform_operated", sa.Boolean(), nullable=False),
        sa.Column("substrate", VALUES, nullable=True),
        sa.Column("intent", sa.Text(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("archived_at", MOMENT, nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_pools"),
    )
    op.create_index("uq_pools_name", "pools", ["tenant_id", "name"], unique=True, **_where("archived_at IS NULL"))
    op.create_table(
        "sites",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("region", sa.Text(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_sites"),
        sa.UniqueConstraint("tenant_id", "name", name="uq_sites_tenant_id_name"),
    )
    op.create_table(
        "work",
        sa.Column("unit", sa.Text(), nullable=False),
        sa.Column("due_at", MOMENT, nullable=False),
        sa.Column("asked_at", MOMENT, nullable=True),
        sa.Column("holder", sa.Text(), nullable=True),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column("lease_until", MOMENT, nullable=True),
        sa.PrimaryKeyConstraint("unit", name="pk_work"),
    )
    op.create_index("ix_work_due_at", "work", ["due_at"], unique=False)
    op.create_table(
        "join_tokens",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("pool_id", sa.Text(), nullable=False),
        sa.Column("token_hash", sa.Text(), nullable=False),
        sa.Column("max_uses", sa.Integer(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("expires_at", MOMENT, nullable=False),
        sa.Column("revoked_at", MOMENT, nullable=True),
        sa.ForeignKeyConstraint(["pool_id"], ["pools.id"], name="fk_join_tokens_pool_id"),
        sa.PrimaryKeyConstraint("id", name="pk_join_tokens"),
        sa.UniqueConstraint("token_hash", name="uq_join_tokens_token_hash"),
    )
    op.create_index("ix_join_tokens_pool_id", "join_tokens", ["pool_id"], unique=False)
    op.create_table(
        "node_pools",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("cluster_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("shape", VALUES, nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("observed_version", sa.Integer(), nullable=False),
        sa.Column("create_attempts", sa.Integer(), nullable=False),
        sa.Column("last_create_at", MOMENT, nullable=True),
        sa.Column("ever_joined", sa.Boolean(), nullable=False),
        sa.Column("of_flavor", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["cluster_id"], ["clusters.id"], name="fk_node_pools_cluster_id"),
        sa.PrimaryKeyConstraint("id", name="pk_node_pools"),
    )
    op.create_index(
        "uq_node_pools_name", "node_pools", ["cluster_id", "name"], unique=True, **_where("state <> 'deleted'")
    )
    op.create_table(
        "pool_nodes",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("pool_id", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("hostname", sa.Text(), nullable=False),
        sa.Column("reported_node_name", sa.Text(), nullable=True),
        sa.Column("identity_hash", sa.Text(), nullable=True),
        sa.Column("devices", VALUES, nullable=False),
        sa.Column("joined_at", MOMENT, nullable=False),
        sa.Column("last_seen_at", MOMENT, nullable=False),
        sa.Column("node_name", sa.Text(), nullable=True),
        sa.Column("node_uid", sa.Text(), nullable=True),
        sa.Column("spot", sa.Boolean(), nullable=False),
        sa.Column("labels", VALUES, nullable=False),
        sa.ForeignKeyConstraint(["pool_id"], ["pools.id"], name="fk_pool_nodes_pool_id"),
        sa.PrimaryKeyConstraint("id", name="pk_pool_nodes"),
        sa.UniqueConstraint("identity_hash", name="uq_pool_nodes_identity_hash"),
    )
    op.create_index("ix_pool_nodes_pool_id_state", "pool_nodes", ["pool_id", "state"], unique=False)
    op.create_table(
        "quotas",
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("pool_id", sa.Text(), nullable=False),
        sa.Column("gpus", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["pool_id"], ["pools.id"], name="fk_quotas_pool_id"),
        sa.PrimaryKeyConstraint("tenant_id", "pool_id", name="pk_quotas"),
    )
    op.create_table(
        "substrates",
        sa.Column("pool_id", sa.Text(), nullable=False),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("account_id", sa.Text(), nullable=False),
        sa.Column("cluster_id", sa.Text(), nullable=False),
        sa.Column("mode", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("observed_generation", sa.Integer(), nullable=False),
        sa.Column("claim_held", sa.Boolean(), nullable=False),
        sa.Column("nodes_listed", sa.Integer(), nullable=False),
        sa.Column("nodes_joined", sa.Integer(), nullable=False),
        sa.Column("waiting_nodes", sa.Integer(), nullable=False),
        sa.Column("waiting_since", MOMENT, nullable=True),
        sa.Column("vanished_at", MOMENT, nullable=True),
        sa.ForeignKeyConstraint(["cluster_id"], ["clusters.id"], name="fk_substrates_cluster_id"),
        sa.ForeignKeyConstraint(["pool_id"], ["pools.id"], name="fk_substrates_pool_id"),
        sa.PrimaryKeyConstraint("pool_id", name="pk_substrates"),
    )
    op.create_table(
        "reservations",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("pool_id", sa.Text(), nullable=False),
        sa.Column("gpus", sa.Integer(), nullable=False),
        sa.Column("spot", sa.Boolean(), nullable=False),
        sa.Column("binding", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("node_id", sa.Text(), nullable=True),
        sa.Column("ended_at", MOMENT, nullable=True),
        sa.Column("message", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["node_id"], ["pool_nodes.id"], name="fk_reservations_node_id"),
        sa.ForeignKeyConstraint(["pool_id"], ["pools.id"], name="fk_reservations_pool_id"),
        sa.PrimaryKeyConstraint("id", name="pk_reservations"),
    )
    op.create_index("ix_reservations_node_id", "reservations", ["node_id"], unique=False)
    op.create_index("ix_reservations_pool_id_tenant_id", "reservations", ["pool_id", "tenant_id"], unique=False)
    op.create_table(
        "token_uses",
        sa.Column("token_id", sa.Text(), nullable=False),
        sa.Column("nonce", sa.Text(), nullable=False),
        sa.Column("node_id", sa.Text(), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["token_id"], ["join_tokens.id"], name="fk_token_uses_token_id"),
        sa.PrimaryKeyConstraint("token_id", "nonce", name="pk_token_uses"),
    )
    op.create_table(
        "held_devices",
        sa.Column("node_id", sa.Text(), nullable=False),
        sa.Column("device_id", sa.Text(), nullable=False),
        sa.Column("reservation_id", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["node_id"], ["pool_nodes.id"], name="fk_held_devices_node_id"),
        sa.ForeignKeyConstraint(["reservation_id"], ["reservations.id"], name="fk_held_devices_reservation_id"),
        sa.PrimaryKeyConstraint("node_id", "device_id", name="pk_held_devices"),
    )
    op.create_index("ix_held_devices_reservation_id", "held_devices", ["reservation_id"], unique=False)
    op.create_table(
        "refunds",
        sa.Column("reservation_id", sa.Text(), nullable=False),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("pool_id", sa.Text(), nullable=False),
        sa.Column("gpus", sa.Integer(), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["pool_id"], ["pools.id"], name="fk_refunds_pool_id"),
        sa.ForeignKeyConstraint(["reservation_id"], ["reservations.id"], name="fk_refunds_reservation_id"),
        sa.PrimaryKeyConstraint("reservation_id", name="pk_refunds"),
    )
    op.create_index("ix_refunds_pool_id_tenant_id", "refunds", ["pool_id", "tenant_id"], unique=False)
