# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The drivers of a session whose caller asks providers: what open_session takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..model.clock import Clock
from ..model.records import AccountRecord

if TYPE_CHECKING:
    from ..providers.contract import Driver


def drivers(clock: Clock) -> Callable[[AccountRecord], Driver]:
    """What gives the driver of an account.

    Arguments:
        clock: tells when credentials expire.
    """

    def open_one(account: AccountRecord) -> Driver:
        # Loaded with the first account: most runs find nothing to do and ask nobody.
        from ..providers.opening import open_driver

        return open_driver(account, clock=clock)

    return open_one
