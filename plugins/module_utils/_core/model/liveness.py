# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a node's bcd is connected: a pure judgement on when it was last heard and whether anybody was listening.

Silence says something only while the gateway listens. The gateway therefore leaves a mark in the store at each flush of
heartbeats, and whoever judges (a pass in another process, a placement) reads that mark too.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

MARK_LASTS = timedelta(minutes=1)
"""For so long a gateway's own mark says that it runs: it is written every few seconds, unless the database is slow."""

HEARTBEAT_SECONDS = 10
"""How often bcd is told to send a heartbeat (design, section 8)."""

CONNECTED_SECONDS = 3 * HEARTBEAT_SECONDS
"""A bcd is connected until it missed three heartbeats (design, section 8)."""

LISTENING_GAP_SECONDS = HEARTBEAT_SECONDS
"""A gateway that was away longer than this has missed heartbeats: the silence before its return proves nothing.

One that was away for less cost each node one heartbeat at most, so nobody comes near CONNECTED_SECONDS by it.
"""


class Liveness(StrEnum):
    """What is known of a bcd. Nothing is ended, retired or placed on `unknown`."""

    CONNECTED = "connected"
    DISCONNECTED = "disconnected"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Listening:
    """The gateways' mark: one for all gateways of a store; or one gateway's own.

    Attributes:
        since: since when at least one gateway has been listening without a gap.
        heard_at: when the last of them wrote the mark.
    """

    since: datetime
    heard_at: datetime


def is_connected(last_seen_at: datetime, *, now: datetime) -> bool:
    """Whether a bcd that was last heard then counts as connected. A time in the future (a clock set back) does."""
    return now - last_seen_at <= timedelta(seconds=CONNECTED_SECONDS)


def liveness(last_seen_at: datetime, *, listening: Listening | None, now: datetime) -> Liveness:
    """Judge one bcd.

    Arguments:
        last_seen_at: its last heartbeat (or its join).
        listening: the gateways' mark; None when none ever listened.
        now: the present, on the clock that wrote the other times.

    Returns:
        `disconnected` only if a gateway is listening and has listened for longer than three heartbeats take while this
        bcd was silent.
    """
    if is_connected(last_seen_at, now=now):
        return Liveness.CONNECTED
    if listening is None or now - listening.heard_at > timedelta(seconds=LISTENING_GAP_SECONDS):
        return Liveness.UNKNOWN
    if is_connected(max(last_seen_at, listening.since), now=now):
        return Liveness.UNKNOWN
    return Liveness.DISCONNECTED


def listened(previous: Listening | None, *, now: datetime) -> Listening:
    """The mark after a gateway listened until now: a gap since the previous one begins it anew."""
    if previous is None or now - previous.heard_at > timedelta(seconds=LISTENING_GAP_SECONDS):
        return Listening(since=now, heard_at=now)
    return Listening(since=previous.since, heard_at=max(previous.heard_at, now))
