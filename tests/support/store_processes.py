# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the store's tests run in processes of their own: spawned children import it by this module's full name."""

from __future__ import annotations

from multiprocessing.synchronize import Barrier

from ansible_collections.better_compute.fleet.daemon.migrations import migrate
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import fleet, open_store
from ansible_collections.better_compute.fleet.tests.support import rows


def open_and_write(url: str, together: Barrier, number: int) -> None:
    """Open the store with others at once, and write a site of that number to it."""
    together.wait()
    store = open_store(url)
    with store.write() as tx:
        fleet.put_site(tx, rows.site(name=f"site-{number}"))
    store.close()


def migrate_it(url: str, together: Barrier, _number: int) -> None:
    """Migrate the database with others at once."""
    together.wait()
    migrate(url)
