# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What Compute Engine has no room for, and what the project's quota does not allow: scripted."""

from __future__ import annotations

from threading import Lock
from typing import Final

STOCKOUT: Final = "GCE_STOCKOUT"
QUOTA: Final = "GCE_QUOTA_EXCEEDED"


class Capacity:
    """All there is, but for what was taken away. Thread-safe."""

    def __init__(self) -> None:
        """Plenty of everything."""
        self._short: dict[tuple[str, str, bool | None], str] = {}
        self._quotas: dict[str, int] = {}
        self._lock = Lock()

    def take_away(self, machine_type: str, zone: str, *, spot: bool | None = None, code: str = STOCKOUT) -> None:
        """Start no more machines of a type in a zone.

        Arguments:
            spot: neither Spot nor others (None), or only one of the two.
            code: the condition that shows it: STOCKOUT or QUOTA (quota that was used up after the call).
        """
        with self._lock:
            self._short[machine_type, zone, spot] = code

    def limit(self, machine_type: str, machines: int) -> None:
        """The region's quota for machines of a type, all pools together: more is refused at the call."""
        with self._lock:
            self._quotas[machine_type] = machines

    def give_back(self) -> None:
        """Plenty of everything again."""
        with self._lock:
            self._short.clear()
            self._quotas.clear()

    def lacks(self, machine_type: str, zone: str, *, spot: bool) -> str | None:
        """Why a machine cannot be started: the condition's code; None when it can."""
        with self._lock:
            return self._short.get((machine_type, zone, None)) or self._short.get((machine_type, zone, spot))

    def quota(self, machine_type: str) -> int | None:
        """How many machines of a type there may be; None for any number."""
        with self._lock:
            return self._quotas.get(machine_type)
