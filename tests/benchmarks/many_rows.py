# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A database of very many pools: their document, applied."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.load import parse_document
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.settings import load_settings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations import fleet
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import open_session

from .documents import many_pools


def database_of(count: int, file: Path, *, flavors: int = 2) -> str:
    """The URL of a new SQLite database in which `documents.many_pools(count, flavors=flavors)` is recorded."""
    url = f"sqlite:///{file}"
    with open_session(load_settings(environ={"BC_FLEET_STORE_DATABASE_URL": url})) as session:
        document = parse_document(many_pools(count, flavors=flavors))
        fleet.apply_fleet(session, fleet.plan_fleet(session, document, prune=False, refresh=False))
    return url
