# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which driver an account has.

A file of its own: Ansible ships with a module whatever a file of it names, and most modules need no driver.
"""

from __future__ import annotations

from ..model.clock import Clock
from ..model.errors import Code, OperationError
from ..model.records import AccountRecord
from .contract import Driver


def open_driver(account: AccountRecord, *, clock: Clock) -> Driver:
    """The driver of an account's provider, ready to be called.

    Arguments:
        account: whose config names place, roles and credential source.
        clock: tells when credentials expire.

    Raises:
        OperationError: UNSUPPORTED for a provider that this version does not know.
        InvalidRequest: the config lacks a field, or names a file that does not exist.
        PermissionDenied: the credential's source is missing or empty.
    """
    # Each imports its own SDK, and no other's: to load one takes most of a short run's time.
    if account.provider == "aws":
        from . import eks

        return eks.open_driver(account, clock=clock)
    if account.provider == "gcp":
        from . import gke

        return gke.open_driver(account, clock=clock)
    if account.provider == "digitalocean":
        from . import doks

        return doks.open_driver(account, clock=clock)
    raise OperationError(Code.UNSUPPORTED, f"there is no driver for provider {account.provider!r}")
