# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A database as revision 0001 held it: the same rows without what came later, written past the store.

Columns and keys that are new are left out; what they came in the place of is put back as it was written then.
"""

from __future__ import annotations

from typing import Any

from alembic import command
from sqlalchemy import Engine, MetaData, create_engine, text

from ansible_collections.better_compute.fleet.daemon.migrations import alembic_config
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store.schema import changing_schema

REVISION = "0001"

Rows = dict[str, list[dict[str, Any]]]

_NEW_IN_FLAVORS = ("autoscaling", "disk_type", "labels", "taints")


def turn_back(url: str) -> Rows:
    """Make a database of this version one of revision 0001 with the same history; gives its rows by table."""
    engine = create_engine(url)
    rows = _as_they_were(read_rows(engine))
    with engine.begin() as connection:
        metadata = MetaData()
        metadata.reflect(connection)
        metadata.drop_all(connection)
    with changing_schema(url) as connection:
        config = alembic_config()
        config.attributes["connection"] = connection
        command.upgrade(config, REVISION)
    with engine.begin() as connection:
        metadata = MetaData()
        metadata.reflect(connection)
        for table in metadata.sorted_tables:
            columns = set(table.c.keys())
            kept = [{key: value for key, value in row.items() if key in columns} for row in rows.get(table.name, [])]
            if kept:
                connection.execute(table.insert(), kept)
        if connection.dialect.name == "postgresql":
            last = "SELECT setval(pg_get_serial_sequence('events', 'number'), (SELECT max(number) FROM events))"
            connection.execute(text(last))
    written = read_rows(engine)
    engine.dispose()
    return written


def read_rows(engine: Engine) -> Rows:
    """Every row of every table but Alembic's own, in the order of its key."""
    metadata = MetaData()
    with engine.connect() as connection:
        metadata.reflect(connection)
        return {
            table.name: [dict(row._mapping) for row in connection.execute(table.select().order_by(*table.primary_key))]
            for table in metadata.sorted_tables
            if table.name != "alembic_version"
        }


def _as_they_were(rows: Rows) -> Rows:
    for account in rows["accounts"]:
        places = account["places"]
        account["zones"] = None if places is None else sorted(set(places.values()))
    for pool in rows["pools"]:
        if pool["substrate"] is not None:
            pool["substrate"] = _former_substrate(pool["substrate"])
    for node_pool in rows["node_pools"]:
        node_pool["shape"] = _former_flavor(node_pool["shape"])
    return rows


def _former_substrate(substrate: dict[str, Any]) -> dict[str, Any]:
    cluster = {key: value for key, value in substrate["cluster"].items() if key != "version"}
    flavors = [_former_flavor(flavor) for flavor in substrate["flavors"]]
    return {"account": substrate["account"], "cluster": cluster, "flavors": flavors}


def _former_flavor(flavor: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in flavor.items() if key not in _NEW_IN_FLAVORS}
