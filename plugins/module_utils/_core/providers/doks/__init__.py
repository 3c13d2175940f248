# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The driver for DigitalOcean Kubernetes (DOKS). The only folder that knows pydo, loaded when a driver is opened.

- settings: what the account's config says. credentials, api: from there to pydo's client.
- calls, pages: one API call with retries for throttling; whole lists. errors: DigitalOcean's in the contract's words.
- tags, naming: the owner's marks as tags, and which resource of a name is ours by them.
- clusters, node_pools, droplets: one kind of resource each. last_reading: one read of a cluster serves for both.
- comparison, taints, sizes, versions, health: what DOKS holds beside what is wanted, without a call (sizes: one).
- access: the credential for a cluster's API. device_plugins: why DigitalOcean's own are off.
- driver: the contract, put together from these.
"""

from __future__ import annotations

from ...model.clock import Clock
from ...model.records import AccountRecord
from .api import open_api
from .driver import DoksDriver
from .settings import DoksSettings


def open_driver(account: AccountRecord, *, clock: Clock) -> DoksDriver:
    """A driver for this account. Makes no call.

    Opening costs about 0.01 s of processor time (the first 0.3 s, and importing pydo 0.7 s). A driver may be kept, and
    shared between threads; the API token is read once, when it is opened.

    Raises:
        PermissionDenied: the credential's source is missing or empty.
        InvalidRequest: the config lacks a field, the CA file does not exist, or the endpoint is not https.
    """
    settings = DoksSettings.of(account.config)
    return DoksDriver(settings=settings, api=open_api(settings), clock=clock)
