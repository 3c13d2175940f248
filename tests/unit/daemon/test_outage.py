# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A database that is away: told once, left alone for longer and longer, told when it is back."""

from __future__ import annotations

import pytest

from ansible_collections.better_compute.fleet.daemon.service.outage import Outage
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import StoreUnavailable

AWAY = StoreUnavailable("nobody answers")


class Seconds:
    """Seconds that a test moves on."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_it_is_told_once_and_once_more_when_it_is_over(caplog: pytest.LogCaptureFixture) -> None:
    seconds = Seconds()
    outage = Outage(monotonic=seconds)
    with caplog.at_level("INFO"):
        for _ in range(5):
            seconds.now += outage.failed(AWAY)
        outage.over()
        outage.over()
    assert [record.getMessage() for record in caplog.records] == [
        "the database is not to be had: nobody answers; trying again until it is",
        "the database answers again",
    ]


def test_the_pauses_grow_to_half_a_minute() -> None:
    seconds = Seconds()
    outage = Outage(monotonic=seconds)
    pauses = []
    for _ in range(7):
        pauses.append(outage.failed(AWAY))
        seconds.now += pauses[-1]
    assert pauses == [1, 2, 4, 8, 16, 30, 30]


def test_of_calls_that_failed_together_one_counts() -> None:
    seconds = Seconds()
    outage = Outage(monotonic=seconds)
    assert outage.failed(AWAY) == 1
    seconds.now += 0.25
    assert outage.failed(AWAY) == 0.75


def test_it_lasts_until_the_pause_is_over() -> None:
    seconds = Seconds()
    outage = Outage(monotonic=seconds)
    assert not outage.lasts()
    outage.failed(AWAY)
    assert outage.lasts()
    seconds.now += 1
    assert not outage.lasts()


def test_the_next_one_begins_with_a_short_pause_again() -> None:
    seconds = Seconds()
    outage = Outage(monotonic=seconds)
    for _ in range(4):
        seconds.now += outage.failed(AWAY)
    outage.over()
    assert outage.failed(AWAY) == 1
