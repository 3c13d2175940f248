# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which instances EC2 has no room for: scripted stockouts."""

from __future__ import annotations

from threading import Lock


class Capacity:
    """All there is, but for what was taken away. Thread-safe."""

    def __init__(self) -> None:
        """Plenty of everything."""
        self._short: set[tuple[str, str, bool | None]] = set()
        self._lock = Lock()

    def take_away(self, instance_type: str, zone: str, *, spot: bool | None = None) -> None:
        """Launch no more of a type in a zone: neither Spot nor On-Demand, or only one of the two."""
        with self._lock:
            self._short.add((instance_type, zone, spot))

    def give_back(self) -> None:
        """Plenty of everything again."""
        with self._lock:
            self._short.clear()

    def has(self, instance_type: str, zone: str, *, spot: bool) -> bool:
        """Whether an instance can be launched."""
        with self._lock:
            return not self._short & {(instance_type, zone, None), (instance_type, zone, spot)}
