# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The driver for Amazon EKS. The only folder that knows boto3, and it loads it only when a driver is opened.

- settings: what the account's config says. credentials, clients: from there to boto3's clients.
- calls: one API call, with retries for throttling. errors: AWS's errors in the contract's words.
- clusters, node_groups, subnets: one kind of resource each. node_group_changes: what is changed of a group that stands.
- comparison, taints, images: what EKS holds beside what is wanted, without a call (images: one).
- updates, health: what became of a change, and why something failed.
- principal, access, token: who we are, who may use a cluster's API, and the bearer token for it.
- driver: the contract, put together from these.
"""

from __future__ import annotations

from ...model.clock import Clock
from ...model.records import AccountRecord
from .clients import Clients
from .driver import EksDriver
from .settings import EksSettings


def open_driver(account: AccountRecord, *, clock: Clock) -> EksDriver:
    """A driver for this account. Makes no call to EKS.

    Opening costs about 0.03 s of processor time (the first 0.2 s, and importing boto3), and with ambient credentials
    what boto3's chain takes to find them (a role's: a call to STS or to the instance). A driver may be kept, and
    shared between threads; credentials from `env` and `file` are read once, when it is opened.

    Raises:
        PermissionDenied: the credential's source is missing or incomplete; the text says what is missing.
        InvalidRequest: the config lacks a field, or the CA file does not exist.
    """
    settings = EksSettings.of(account.config)
    return EksDriver(settings=settings, clients=Clients.open(settings), clock=clock)
