# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every table of the fleet's database. What "exactly once" rests on is a unique key here, not a check in the code.

Enumerations are text. Names that become free again when their row is deleted are unique by partial indexes. A change
here needs a revision in daemon/migrations and a new ``schema.HEAD``; a test proves that both lead to the same schema.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from .column_types import json_value, row_number, utc_time

if TYPE_CHECKING:
    from sqlalchemy import Index, MetaData, Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """The tables, and the metadata that holds them all."""

    metadata: MetaData
    fleet: Table
    sites: Table
    accounts: Table
    pools: Table
    quotas: Table
    clusters: Table
    node_pools: Table
    substrates: Table
    work: Table
    gateways: Table
    pool_nodes: Table
    join_tokens: Table
    token_uses: Table
    reservations: Table
    held_devices: Table
    refunds: Table
    events: Table
    idempotency: Table
    api_tokens: Table


@cache
def tables() -> Tables:
    """The tables, built once: SQLAlchemy is imported by the first call and not before."""
    from sqlalchemy import Boolean, Column, ForeignKey, Index, Integer, MetaData, Table, Text, UniqueConstraint, text

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )

    def unique_where(name: str, condition: str, *columns: str) -> Index:
        # To name another database's options is to load its dialect: schema.create_schema does that where it is used.
        return Index(name, *columns, unique=True, sqlite_where=text(condition))

    def index_where(name: str, condition: str, *columns: str) -> Index:
        # Of what counts now: history, which only grows, is not in it (standing.py).
        return Index(name, *columns, sqlite_where=text(condition))

    def words(name: str, *, key: bool = False, null: bool = False) -> Column[str]:
        return Column(name, Text, primary_key=key, nullable=null)

    def number(name: str) -> Column[int]:
        return Column(name, Integer, nullable=False)

    def flag(name: str) -> Column[bool]:
        return Column(name, Boolean, nullable=False)

    def refers(name: str, target: str, *, key: bool = False, null: bool = False) -> Column[str]:
        return Column(name, Text, ForeignKey(target), primary_key=key, nullable=null)

    fleet = Table(
        "fleet",
        metadata,
        # One row: the serial that every accepted document raises.
        Column("id", Integer, primary_key=True, autoincrement=False),
        number("serial"),
    )
    sites = Table(
        "sites",
        metadata,
        words("id", key=True),
        words("tenant_id"),
        words("name"),
        words("kind"),
        words("region"),
        number("generation"),
        UniqueConstraint("tenant_id", "name"),
    )
    accounts = Table(
        "accounts",
        metadata,
        words("id", key=True),
        words("tenant_id"),
        words("name"),
        words("provider"),
        Column("config", json_value(), nullable=False),
        Column("places", json_value(), nullable=True),
        number("generation"),
        UniqueConstraint("tenant_id", "name"),
    )
    pools = Table(
        "pools",
        metadata,
        words("id", key=True),
        words("tenant_id"),
        words("name"),
        # No foreign key: an archived pool outlives its site.
        words("site_id"),
        words("class"),
        words("gpu_model"),
        flag("platform_operated"),
        Column("substrate", json_value(), nullable=True),
        words("intent"),
        number("generation"),
        Column("archived_at", utc_time(), nullable=True),
        unique_where("uq_pools_name", "archived_at IS NULL", "tenant_id", "name"),
    )
    quotas = Table(
        "quotas",
        metadata,
        words("tenant_id", key=True),
        refers("pool_id", "pools.id", key=True),
        number("gpus"),
    )
    clusters = Table(
        "clusters",
        metadata,
        words("id", key=True),
        words("tenant_id"),
        # No foreign keys: a deleted cluster's row outlives its account.
        words("account_id"),
        words("substrate_pool_id", null=True),
        words("name"),
        words("location"),
        flag("private_nodes"),
        words("version", null=True),
        # The default is what clusters had that were recorded before there was a choice.
        Column("mode", Text, nullable=False, server_default="standard"),
        # So here: each of them was created.
        Column("adopted", Boolean, nullable=False, server_default="0"),
        words("state"),
        words("message"),
        number("generation"),
        number("observed_generation"),
        Column("outputs", json_value(), nullable=True),
        flag("ready_before"),
        number("delete_attempts"),
        # The claim on the provider's cluster, whichever account reads it.
        words("global_id", null=True),
        unique_where("uq_clusters_pool", "state <> 'deleted'", "substrate_pool_id"),
        # Also: one pool, and no cluster of ours, has an adopted cluster through one account.
        unique_where("uq_clusters_name", "state <> 'deleted'", "account_id", "location", "name"),
        unique_where("uq_clusters_global_id", "state <> 'deleted'", "global_id"),
    )
    node_pools = Table(
        "node_pools",
        metadata,
        words("id", key=True),
        refers("cluster_id", "clusters.id"),
        words("name"),
        Column("shape", json_value(), nullable=False),
        words("state"),
        words("message"),
        number("version"),
        number("observed_version"),
        number("sized_version"),
        words("update_id", null=True),
        Column("last_update_at", utc_time(), nullable=True),
        number("create_attempts"),
        Column("last_create_at", utc_time(), nullable=True),
        flag("ever_joined"),
        flag("of_flavor"),
        unique_where("uq_node_pools_name", "state <> 'deleted'", "cluster_id", "name"),
    )
    substrates = Table(
        "substrates",
        metadata,
        refers("pool_id", "pools.id", key=True),
        words("tenant_id"),
        words("account_id"),
        refers("cluster_id", "clusters.id"),
        words("mode"),
        words("state"),
        words("message"),
        number("observed_generation"),
        flag("claim_held"),
        number("nodes_listed"),
        number("nodes_joined"),
        number("waiting_nodes"),
        Column("waiting_since", utc_time(), nullable=True),
        Column("vanished_at", utc_time(), nullable=True),
        words("upgrade_version", null=True),
        Column("upgrade_since", utc_time(), nullable=True),
    )
    work = Table(
        "work",
        metadata,
        words("unit", key=True),
        Column("due_at", utc_time(), nullable=False, index=True),
        # The earliest time that was asked for since the lease was taken: the end of that pass cannot push it later.
        Column("asked_at", utc_time(), nullable=True),
        words("holder", null=True),
        number("fence"),
        Column("lease_until", utc_time(), nullable=True),
    )
    gateways = Table(
        "gateways",
        metadata,
        # Row 1: the mark that at least one gateway is listening for heartbeats. Each that runs has one of its own, too.
        Column("id", Integer, primary_key=True, autoincrement=False),
        Column("listening_since", utc_time(), nullable=False),
        Column("heard_at", utc_time(), nullable=False),
    )
    pool_nodes = Table(
        "pool_nodes",
        metadata,
        words("id", key=True),
        refers("pool_id", "pools.id"),
        words("state"),
        words("hostname"),
        words("reported_node_name", null=True),
        # Null once the node is retired.
        words("identity_hash", null=True),
        Column("devices", json_value(), nullable=False),
        Column("joined_at", utc_time(), nullable=False),
        Column("last_seen_at", utc_time(), nullable=False),
        words("node_name", null=True),
        words("node_uid", null=True),
        flag("spot"),
        Column("labels", json_value(), nullable=False),
        words("node_pool", null=True),
        UniqueConstraint("identity_hash"),
        Index(None, "pool_id", "state"),
        index_where("ix_pool_nodes_standing", "state <> 'retired'", "pool_id"),
    )
    join_tokens = Table(
        "join_tokens",
        metadata,
        words("id", key=True),
        refers("pool_id", "pools.id"),
        words("token_hash"),
        number("max_uses"),
        Column("created_at", utc_time(), nullable=False),
        Column("expires_at", utc_time(), nullable=False),
        Column("revoked_at", utc_time(), nullable=True),
        UniqueConstraint("token_hash"),
        # Those that have not expired stand together, of one pool and of all.
        Index(None, "pool_id", "expires_at"),
        Index(None, "expires_at"),
    )
    token_uses = Table(
        "token_uses",
        metadata,
        # One use per machine: a join that is repeated with its nonce costs no second one.
        refers("token_id", "join_tokens.id", key=True),
        words("nonce", key=True),
        # No foreign key: the use is written before the node that it admits.
        words("node_id"),
        Column("at", utc_time(), nullable=False),
    )
    reservations = Table(
        "reservations",
        metadata,
        words("id", key=True),
        words("tenant_id"),
        refers("pool_id", "pools.id"),
        number("gpus"),
        flag("spot"),
        words("binding"),
        words("state"),
        Column("created_at", utc_time(), nullable=False),
        refers("node_id", "pool_nodes.id", null=True),
        Column("ended_at", utc_time(), nullable=True),
        words("message"),
        Index(None, "pool_id", "tenant_id"),
        index_where("ix_reservations_standing", "ended_at IS NULL", "pool_id", "tenant_id"),
        Index(None, "node_id"),
    )
    held_devices = Table(
        "held_devices",
        metadata,
        # A GPU is booked by one reservation at a time.
        refers("node_id", "pool_nodes.id", key=True),
        words("device_id", key=True),
        Column("reservation_id", Text, ForeignKey("reservations.id"), nullable=False, index=True),
    )
    refunds = Table(
        "refunds",
        metadata,
        # A reservation is refunded once, in the transaction that ends it: what a tenant holds is what has not ended.
        refers("reservation_id", "reservations.id", key=True),
        words("tenant_id"),
        refers("pool_id", "pools.id"),
        number("gpus"),
        Column("at", utc_time(), nullable=False),
        Index(None, "pool_id", "tenant_id"),
    )
    events = Table(
        "events",
        metadata,
        Column("number", row_number(), primary_key=True),
        words("id"),
        Column("at", utc_time(), nullable=False, index=True),
        words("tenant_id"),
        words("subject"),
        words("type"),
        # Told once for each (subject, type, key); without a key, each time.
        words("key", null=True),
        Column("data", json_value(), nullable=False),
        UniqueConstraint("id"),
        UniqueConstraint("subject", "type", "key"),
    )
    idempotency = Table(
        "idempotency",
        metadata,
        words("scope", key=True),
        words("key", key=True),
        words("request_digest"),
        Column("result_id", Text, nullable=False, index=True),
        Column("at", utc_time(), nullable=False),
    )
    api_tokens = Table(
        "api_tokens",
        metadata,
        words("id", key=True),
        words("tenant_id"),
        words("name"),
        Column("permissions", json_value(), nullable=False),
        words("token_hash"),
        words("issued_by"),
        Column("created_at", utc_time(), nullable=False),
        Column("expires_at", utc_time(), nullable=False),
        Column("revoked_at", utc_time(), nullable=True),
        UniqueConstraint("token_hash"),
        unique_where("uq_api_tokens_name", "revoked_at IS NULL", "tenant_id", "name"),
    )
    return Tables(
        metadata=metadata,
        fleet=fleet,
        sites=sites,
        accounts=accounts,
        pools=pools,
        quotas=quotas,
        clusters=clusters,
        node_pools=node_pools,
        substrates=substrates,
        work=work,
        gateways=gateways,
        pool_nodes=pool_nodes,
        join_tokens=join_tokens,
        token_uses=token_uses,
        reservations=reservations,
        held_devices=held_devices,
        refunds=refunds,
        events=events,
        idempotency=idempotency,
        api_tokens=api_tokens,
    )
