# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Passes that a test holds up at the provider's door one by one, and a clock that makes them old."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import AccountRecord, PoolRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.contract import Driver
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import Store
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store.tables import tables


@dataclass(slots=True)
class Seconds:
    """Seconds that grow when a test says so."""

    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


@dataclass(slots=True)
class Arrival:
    """One pass at the door: it goes on, into a fault, when it is let go."""

    account: str
    let_go: threading.Event = field(default_factory=threading.Event)


class Arrivals:
    """Every pass that came to the door so far, in order."""

    def __init__(self, *, slow: Callable[[str], bool] = lambda _account: True) -> None:
        """Arguments: slow: whether the passes of the account with this name are held up."""
        self._slow = slow
        self._changed = threading.Condition()
        self._open = False
        self.all: list[Arrival] = []

    def __call__(self, account: AccountRecord) -> Driver:
        arrival = Arrival(account.name)
        with self._changed:
            self.all.append(arrival)
            self._changed.notify_all()
            held_up = self._slow(account.name) and not self._open
        if held_up:
            wait_for_ever(arrival.let_go)
        raise RuntimeError("the provider's door is jammed")

    def until(self, count: int) -> list[Arrival]:
        """Return when so many have come in all."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.all) >= count, timeout=30)
            return list(self.all)

    def let_all_go(self) -> None:
        """Nobody is held up any more."""
        with self._changed:
            self._open = True
        for arrival in self.all:
            arrival.let_go.set()


def wait_for_ever(event: threading.Event) -> None:
    """The call that does not come back."""
    event.wait()


def lapse(store: Store, *pools: PoolRecord) -> None:
    """The leases on these pools end now."""
    work = tables().work
    with store.write() as tx:
        ended = work.update().where(work.c.unit.in_([pool.id for pool in pools]))
        tx.execute(ended.values(lease_until=tx.now))
