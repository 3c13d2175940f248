# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Drivers that serve many passes: for how long, for whom, and what becomes of one that cannot be opened."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import PermissionDenied
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import AccountRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.drivers import (
    KEEP_SECONDS,
    kept_drivers,
)
from ansible_collections.better_compute.fleet.tests.support import rows
from ansible_collections.better_compute.fleet.tests.support.rows import START, HandClock


@dataclass
class Opened:
    """Opens drivers, each an object of its own."""

    now: float = 0.0
    seen: list[str] = field(default_factory=list)
    missing: bool = False
    while_opening: Callable[[], object] = lambda: None

    def give(self) -> Callable[[AccountRecord], Any]:
        return kept_drivers(HandClock(START), opened=lambda _clock: self.open, monotonic=lambda: self.now)

    def open(self, account: AccountRecord) -> Any:
        self.seen.append(account.name)
        self.while_opening()
        if self.missing:
            raise PermissionDenied("there is no credential")
        return object()


ACCOUNT = rows.account()


def test_a_driver_serves_for_a_while_and_then_the_credential_is_read_again() -> None:
    opened = Opened()
    give = opened.give()
    first = give(ACCOUNT)
    opened.now += KEEP_SECONDS - 1
    assert give(ACCOUNT) is first
    opened.now += 1
    second = give(ACCOUNT)
    assert second is not first
    assert give(ACCOUNT) is second


def test_each_account_has_its_own_and_a_changed_one_another_at_once() -> None:
    opened = Opened()
    give = opened.give()
    other = rows.account(name="other")
    mine, others = give(ACCOUNT), give(other)
    assert mine is not others
    changed = give(replace(ACCOUNT, generation=2))
    assert changed is not mine
    assert give(replace(ACCOUNT, generation=2)) is changed
    assert give(other) is others


def test_a_credential_that_is_not_there_is_looked_for_at_each_pass() -> None:
    opened = Opened(missing=True)
    give = opened.give()
    for _pass in range(2):
        with pytest.raises(PermissionDenied):
            give(ACCOUNT)
    opened.missing = False
    assert give(ACCOUNT) is give(ACCOUNT)
    assert len(opened.seen) == 3


def test_a_credential_that_has_gone_is_not_served_from_memory_for_ever() -> None:
    opened = Opened()
    give = opened.give()
    give(ACCOUNT)
    opened.now += KEEP_SECONDS
    opened.missing = True
    for _pass in range(2):
        with pytest.raises(PermissionDenied):
            give(ACCOUNT)


def test_while_the_next_one_is_opened_the_others_go_on_with_the_last() -> None:
    opened = Opened()
    give = opened.give()
    first = give(ACCOUNT)
    opened.now += KEEP_SECONDS
    served: list[Any] = []

    def another_pass() -> None:
        opened.while_opening = lambda: None
        served.append(give(ACCOUNT))

    opened.while_opening = another_pass
    second = give(ACCOUNT)
    assert served == [first]
    assert give(ACCOUNT) is second is not first


def test_an_account_that_nobody_asks_for_is_forgotten() -> None:
    opened = Opened()
    give = opened.give()
    first = give(ACCOUNT)
    opened.now += 2 * KEEP_SECONDS
    give(rows.account(name="other"))
    opened.now -= 2 * KEEP_SECONDS
    assert give(ACCOUNT) is not first
