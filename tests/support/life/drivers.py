# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a life's processes open drivers: each account's once, because boto3's clients are half of what a pass costs."""

from __future__ import annotations

import json
from collections.abc import Callable

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.clock import Clock
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import AccountRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.contract import Driver
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.opening import open_driver


def drivers_opened_once(clock: Clock) -> Callable[[AccountRecord], Driver]:
    """Opens drivers as the product does, and keeps each for as long as its account is declared in the same way.

    A plan asks for the driver of an account that is not recorded yet, and the passes after it for the same one.
    """
    opened: dict[str, Driver] = {}

    def driver(account: AccountRecord) -> Driver:
        key = json.dumps([account.name, account.provider, dict(account.config)], sort_keys=True)
        if key not in opened:
            opened[key] = open_driver(account, clock=clock)
        return opened[key]

    return driver
