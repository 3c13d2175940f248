# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the product's records say: where pools stand, which machines they have, how bookings ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.settings import load_settings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import PLATFORM_TENANT
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations import reservations
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.machines import (
    Machines,
    machines_of,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import Session, open_session
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.substrates import list_substrates


class Records:
    """Looks into the database that a settings file names."""

    def __init__(self, settings_file: Path, environment: Mapping[str, str]) -> None:
        """Nothing is opened yet: each look opens and closes it."""
        self._settings_file = settings_file
        self._environment = environment

    def pools(self) -> list[dict[str, Any]]:
        """Where each pool's substrate stands, as `bc_substrate_info` returns it."""
        with self._session() as session:
            return [view.to_data() for view in list_substrates(session)]

    def booking(self, name: str, *, pool: str) -> dict[str, Any]:
        """The latest booking of a name, as `bc_reservation` returns it; empty when there is none."""
        with self._session() as session:
            last = reservations.find(session, pool=pool, tenant_id=PLATFORM_TENANT, name=name).last
        return reservations.to_data(last) if last is not None else {}

    def machines(self, pool: str) -> Machines:
        """The machines that ever joined a pool, and what is charged for them."""
        with self._session() as session:
            return machines_of(session, pool=pool)

    @contextmanager
    def _session(self) -> Iterator[Session]:
        with open_session(load_settings(self._settings_file, environ=self._environment)) as session:
            yield session
