# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which droplets there is no room for, and how many the account may have: scripted."""

from __future__ import annotations

from threading import Lock


class Capacity:
    """All there is, but for what was taken away. Thread-safe."""

    def __init__(self) -> None:
        """Plenty of everything."""
        self._short: set[tuple[str, bool | None]] = set()
        self._droplet_limit: int | None = None
        self._lock = Lock()

    def take_away(self, size: str, *, spot: bool | None = None) -> None:
        """Start no more droplets of a size: neither Spot nor others, or only one of the two."""
        with self._lock:
            self._short.add((size, spot))

    def limit(self, droplets: int) -> None:
        """How many droplets the account may have; more is refused at the call."""
        with self._lock:
            self._droplet_limit = droplets

    def give_back(self) -> None:
        """Plenty of everything again."""
        with self._lock:
            self._short.clear()
            self._droplet_limit = None

    def has(self, size: str, *, spot: bool) -> bool:
        """Whether a droplet can be started."""
        with self._lock:
            return not self._short & {(size, None), (size, spot)}

    @property
    def droplet_limit(self) -> int | None:
        """How many droplets there may be; None for any number."""
        with self._lock:
            return self._droplet_limit
