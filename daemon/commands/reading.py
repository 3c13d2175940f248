# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The session of a command that only reads: it makes no database, and says so where there is none yet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.settings import Settings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import (
    Drivers,
    Session,
    no_drivers,
    open_session,
)

from ..logs import tell


@contextmanager
def reading_session(settings: Settings, *, drivers: Drivers = no_drivers) -> Iterator[Session]:
    """A session in which a fleet without a database is an empty one.

    Arguments:
        drivers: see open_session.

    Raises:
        StoreUnavailable, SchemaMismatch: the database cannot be used; the text says what to do.
    """
    with open_session(settings, drivers=drivers, if_missing="empty") as session:
        if session.store.absent:
            tell(
                f"there is no database yet ({session.store.name}), so nothing is recorded; "
                "if the fleet is recorded elsewhere, correct database_url in the settings"
            )
        yield session
