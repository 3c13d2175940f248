# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The arguments that say whether and how long a module waits. By themselves, because reading them needs no pass."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from ..model.errors import InvalidInput, Problem

WAIT_ARGUMENTS: dict[str, dict[str, Any]] = {
    "wait": {"type": "bool", "default": True},
    "wait_timeout": {"type": "int", "default": 1800},
}

_MOST_SECONDS = 7 * 24 * 3600
"""Nobody waits longer for a run to end; a teardown may wait for bookings, which is what bc-fleetd is for."""


def wait_timeout(params: Mapping[str, Any]) -> timedelta:
    """How long to wait. Called before anything is recorded.

    Raises:
        InvalidInput: below nothing, or longer than anybody waits.
    """
    seconds: int = params["wait_timeout"]
    if not 0 <= seconds <= _MOST_SECONDS:
        raise InvalidInput([Problem(path="wait_timeout", message=f"expected 0 to {_MOST_SECONDS} seconds")])
    return timedelta(seconds=seconds)
