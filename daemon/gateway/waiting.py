# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Long polls: many nodes wait for a change of their bookings, one look a second at the store serves them all."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from ansible_collections.better_compute.fleet.plugins.module_utils._core.booking.standing import Bookings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import NodeId

_LOOK_AGAIN_SECONDS = 1.0
"""How soon a booking is seen, whichever process made it."""

Look = Callable[[frozenset[NodeId]], Awaitable[Mapping[NodeId, Bookings]]]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Waiter:
    node_id: NodeId
    version: str
    changed: asyncio.Future[Bookings | None]


class BookingsWatch:
    """Everybody who waits. Lives in one event loop; no thread is held while nothing changes."""

    def __init__(self, look: Look) -> None:
        """Nobody waits yet.

        Arguments:
            look: reads what stands on these nodes now.
        """
        self._look = look
        self._waiters: set[_Waiter] = set()
        self._looking: asyncio.Task[None] | None = None
        self._stopped = False

    async def changed(self, node_id: NodeId, version: str, *, seconds: float) -> Bookings | None:
        """The node's bookings as soon as their version is another one; None when that does not happen in time.

        Raises:
            StoreUnavailable: they cannot be read.
        """
        if self._stopped or seconds <= 0:
            return None
        waiter = _Waiter(node_id=node_id, version=version, changed=asyncio.get_running_loop().create_future())
        self._waiters.add(waiter)
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._keep_looking())
        try:
            async with asyncio.timeout(seconds):
                return await waiter.changed
        except TimeoutError:
            return None
        finally:
            self._waiters.discard(waiter)

    def stop(self) -> None:
        """Let everybody go, and nobody wait any more."""
        self._stopped = True
        for waiter in self._waiters:
            _settle(waiter, None)

    async def _keep_looking(self) -> None:
        """Look until nobody waits."""
        while True:
            await asyncio.sleep(_LOOK_AGAIN_SECONDS)
            waiting = frozenset(self._waiters)
            if not waiting:
                return
            try:
                standing = await self._look(frozenset(waiter.node_id for waiter in waiting))
            except Exception as error:  # noqa: BLE001 -- it is raised where each of them waits
                for waiter in waiting:
                    if not waiter.changed.done():
                        waiter.changed.set_exception(error)
                continue
            for waiter in waiting:
                if standing[waiter.node_id].version != waiter.version:
                    _settle(waiter, standing[waiter.node_id])


def _settle(waiter: _Waiter, bookings: Bookings | None) -> None:
    if not waiter.changed.done():
        waiter.changed.set_result(bookings)
