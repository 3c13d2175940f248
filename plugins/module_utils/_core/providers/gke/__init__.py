# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The driver for Google Kubernetes Engine. The only folder that knows Google's packages, loaded only when needed.

- settings: what the account's config says. credentials, clients: from there to access tokens and Google's client.
- calls: one API call with retries for throttling. errors: Google's errors and conditions in the contract's words.
- addresses, places: resource names; regions and zones. resource_labels: our tags as Google's labels.
- clusters, node_pools: one kind of resource each. node_pool_changes: what is changed of a node pool that stands.
- descriptions, comparison, taints, sizes: node pools as requests, GKE and the contract have them, without a call.
- operations: what became of a change.
- driver: the contract, put together from these.
"""

from __future__ import annotations

from ...model.clock import Clock
from ...model.records import AccountRecord
from .clients import Clients
from .driver import GkeDriver
from .settings import GkeSettings


def open_driver(account: AccountRecord, *, clock: Clock) -> GkeDriver:
    """A driver for this account. Makes no call to GKE.

    Opening costs next to nothing, but for ambient credentials what Google's chain takes to find them. The first call
    imports Google's client, which takes seconds. A driver may be kept, and shared between threads; credentials from
    `env` and `file` are read once, when it is opened.

    Raises:
        PermissionDenied: the credential's source is missing or incomplete; the text says what is missing.
        InvalidRequest: the config lacks a field, or the CA file does not exist.
    """
    settings = GkeSettings.of(account.config)
    return GkeDriver(settings=settings, clients=Clients.open(settings), clock=clock)
