# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two transactions in each other's way: the second is let run until it waits for the first."""

from __future__ import annotations

import time
from concurrent.futures import Future
from typing import Any

from sqlalchemy import text

from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import Store

_PATIENCE_SECONDS = 5.0


def let_it_wait(store: Store, call: Future[Any]) -> None:
    """Return once the call waits for a lock, or has ended. PostgreSQL: SQLite tells nobody who waits."""
    end = time.monotonic() + _PATIENCE_SECONDS
    while not _somebody_waits(store) and not call.done() and time.monotonic() < end:
        pass


def _somebody_waits(store: Store) -> bool:
    with store._engine.connect() as connection:
        return bool(connection.execute(text("SELECT count(*) FROM pg_locks WHERE NOT granted")).scalar_one())
