# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How many there are of what, for whoever watches the fleet."""

from __future__ import annotations

from ..model.census import Census
from ..store import census
from .session import Session


def count_fleet(session: Session) -> Census:
    """Count the whole fleet at this moment, in a handful of statements.

    Raises:
        StoreUnavailable: the records cannot be read.
    """
    with session.store.read() as tx:
        return census.take_census(tx)
