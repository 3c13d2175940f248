# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Something changed: one tells, any number of tasks of the same event loop hear it."""

from __future__ import annotations

import asyncio


class Changes:
    """Changes that can be waited for. Who looks, finds nothing new and then waits misses none: nothing runs between."""

    def __init__(self) -> None:
        """Nobody waits."""
        self._next = asyncio.Event()

    def tell(self) -> None:
        """Wake all who wait now."""
        self._next.set()
        self._next = asyncio.Event()

    async def wait(self) -> None:
        """Return at the next `tell`."""
        await self._next.wait()
