# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a bcd counts as connected, and when its silence says nothing."""

from __future__ import annotations

from datetime import timedelta

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.liveness import (
    Listening,
    Liveness,
    listened,
    liveness,
)
from ansible_collections.better_compute.fleet.tests.support.rows import START

SECOND = timedelta(seconds=1)


@pytest.mark.parametrize(
    ("silent_seconds", "expected"), [(0, "connected"), (30, "connected"), (31, "disconnected"), (-5, "connected")]
)
def test_three_missed_heartbeats_disconnect(silent_seconds: int, expected: str) -> None:
    now = START + timedelta(hours=1)
    mark = Listening(since=START, heard_at=now)
    assert liveness(now - silent_seconds * SECOND, listening=mark, now=now) == expected


def test_after_a_gateway_start_everybody_silent_is_unknown_for_three_intervals() -> None:
    started = START + timedelta(hours=1)
    for seconds, expected in [(0, Liveness.UNKNOWN), (30, Liveness.UNKNOWN), (31, Liveness.DISCONNECTED)]:
        now = started + seconds * SECOND
        assert liveness(START, listening=Listening(since=started, heard_at=now), now=now) == expected


def test_while_no_gateway_listens_nobody_is_disconnected() -> None:
    now = START + timedelta(hours=1)
    assert liveness(START, listening=None, now=now) == Liveness.UNKNOWN
    away = Listening(since=START, heard_at=now - 11 * SECOND)
    assert liveness(START, listening=away, now=now) == Liveness.UNKNOWN


def test_a_gateway_that_was_away_for_a_heartbeat_or_less_goes_on_listening() -> None:
    mark = Listening(since=START, heard_at=START + timedelta(hours=1))
    assert listened(mark, now=mark.heard_at + 10 * SECOND).since == START
    assert listened(mark, now=mark.heard_at + 11 * SECOND).since == mark.heard_at + 11 * SECOND


def test_the_first_gateway_begins_the_mark() -> None:
    assert listened(None, now=START) == Listening(since=START, heard_at=START)


def test_the_mark_never_moves_backwards() -> None:
    mark = Listening(since=START, heard_at=START + SECOND)
    assert listened(mark, now=START) == mark
