# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The emulated project: its ids, its locations, and the access tokens that it knows."""

from __future__ import annotations

import hashlib
import re
import secrets
from datetime import datetime, timedelta
from threading import Lock
from typing import Final

from grpc import StatusCode

from ..engine import Clock
from .errors import GcpError

PROJECT_ID: Final = "my-project"
"""The spec's example project."""

PROJECT_NUMBER: Final = "123456789012"

OPERATOR: Final = "operator@my-project.iam.gserviceaccount.com"
"""Whose token the world hands out."""

ZONES: Final = {
    "us-central1": ("us-central1-a", "us-central1-b", "us-central1-c", "us-central1-f"),
    "us-east4": ("us-east4-a", "us-east4-b", "us-east4-c"),
    "europe-west4": ("europe-west4-a", "europe-west4-b", "europe-west4-c"),
}

_DEFAULT_ZONES: Final = 3
"""A regional cluster has its nodes in three of the region's zones."""

_REGION: Final = re.compile(r"[a-z]+-[a-z]+[0-9]+")


def is_zone(location: str) -> bool:
    """Whether it is a zone, not a region."""
    return any(location in zones for zones in ZONES.values())


def default_zones(location: str) -> tuple[str, ...]:
    """Where the nodes of a cluster are that does not say it."""
    return (location,) if is_zone(location) else ZONES[location][:_DEFAULT_ZONES]


def region(location: str) -> str:
    """The region of a zone, or the region itself."""
    found = _REGION.match(location)
    return found.group() if found is not None else location


def check_location(location: str) -> None:
    """Refuse one that does not exist, in Google's words.

    Raises:
        GcpError: 403.
    """
    if location not in ZONES and not is_zone(location):
        text = f"Permission denied on 'locations/{location}' (or it may not exist)."
        raise GcpError(StatusCode.PERMISSION_DENIED, text)


class Tokens:
    """The access tokens that were issued. Thread-safe; holds digests only."""

    def __init__(self, clock: Clock) -> None:
        """Arguments: clock: against which their life is judged."""
        self._clock = clock
        self._issued: dict[str, tuple[str, datetime | None]] = {}
        self._lock = Lock()

    def issue(self, account: str, *, seconds: float | None = None) -> str:
        """A token of a service account. Arguments: seconds: its life; None for one that does not end."""
        token = f"ya29.{secrets.token_urlsafe(48)}"
        ends = None if seconds is None else self._clock.now() + timedelta(seconds=seconds)
        with self._lock:
            self._issued[_digest(token)] = (account, ends)
        return token

    def account(self, token: str) -> str | None:
        """Whose token it is; None when it is nobody's, or has ended."""
        with self._lock:
            account, ends = self._issued.get(_digest(token), (None, None))
        return None if ends is not None and ends <= self._clock.now() else account


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
