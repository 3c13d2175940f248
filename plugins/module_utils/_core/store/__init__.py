# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fleet's database: the unit of work, leases, due times, the outbox. The only place that knows SQL.

One file for each kind of row; every function takes the transaction first: ``fleet.pools(tx)``,
``work.renew(tx, lease)``.
"""

from __future__ import annotations

from .opening import open_for_reading, open_store
from .schema import create_schema
from .transaction import Tx
from .unit_of_work import Store

__all__ = ["Store", "Tx", "create_schema", "open_for_reading", "open_store"]
