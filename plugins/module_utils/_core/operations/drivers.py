# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The drivers of a session whose caller asks providers: what open_session takes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ..model.clock import Clock
from ..model.ids import AccountId
from ..model.records import AccountRecord

if TYPE_CHECKING:
    from ..providers.contract import Driver

KEEP_SECONDS: Final = 30.0
"""For which a driver that was opened once serves. Opening one reads the account's credential, so a new one is taken up
within this time; and it costs a tenth of a pass or more (boto3's clients), which a hundred pools would pay each."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    account: AccountRecord
    driver: Driver
    until: float


def kept_drivers(
    clock: Clock,
    *,
    opened: Callable[[Clock], Callable[[AccountRecord], Driver]] = drivers,
    monotonic: Callable[[], float] = time.monotonic,
) -> Callable[[AccountRecord], Driver]:
    """As :func:`drivers`, for a process that runs many passes: each driver serves all of them for KEEP_SECONDS.

    An account that was changed has a new one at once. Safe to share between threads, as the drivers are.

    Arguments:
        opened: opens a driver.
        monotonic: seconds that only grow.
    """
    open_one = opened(clock)
    lock = threading.Lock()
    kept: dict[AccountId, _Kept] = {}

    def give(account: AccountRecord) -> Driver:
        now = monotonic()
        with lock:
            one = kept.get(account.id)
            if one is not None and one.account == account:
                if now < one.until:
                    return one.driver
                # Whoever finds it too old opens the next one; all others go on with this one meanwhile, also when the
                # opening hangs.
                kept[account.id] = _Kept(account=account, driver=one.driver, until=now + KEEP_SECONDS)
            for gone in [other for other, its in kept.items() if now >= its.until + KEEP_SECONDS]:
                del kept[gone]
        try:
            driver = open_one(account)
        except BaseException:
            with lock:
                kept.pop(account.id, None)
            raise
        with lock:
            kept[account.id] = _Kept(account=account, driver=driver, until=monotonic() + KEEP_SECONDS)
        return driver

    return give
