# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a life's processes open drivers: each account's once, because boto3's clients are half of what a pass costs."""

from __future__ import annotations

from collections.abc import Callable

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.clock import Clock
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import AccountRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.contract import Driver
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.opening import open_driver


def drivers_opened_once(clock: Clock) -> Callable[[AccountRecord], Driver]:
    """Opens drivers as the product does, and keeps them for as long as the account is not declared differently."""
    opened: dict[str, Driver] = {}

    def driver(account: AccountRecord) -> Driver:
        key = f"{account.id}/{account.generation}"
        if key not in opened:
            opened[key] = open_driver(account, clock=clock)
        return opened[key]

    return driver
