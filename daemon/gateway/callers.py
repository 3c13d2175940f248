# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who is calling, and what is booked there: one read of the store for all who called within a few milliseconds.

Nothing is remembered from one read to the next: an identity that has ended is refused at once, whichever process ended
it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final

from ansible_collections.better_compute.fleet.plugins.module_utils._core.booking.standing import (
    Bookings,
    bookings_for_nodes,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import Code, OperationError
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import NodeIdentity
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.secret import Secret
from ansible_collections.better_compute.fleet.plugins.module_utils._core.nodes.heartbeat import authenticate
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import Store

TOGETHER_SECONDS: Final = 0.04
"""For which the first caller of a read waits for others. A read costs a millisecond or two of processor time, whoever
many it is for: twenty-five a second are a few hundredths of a core, five hundred would be most of one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """A node that calls, and what stands on it."""

    node: NodeIdentity
    standing: Bookings


Look = Callable[[frozenset[Secret]], Awaitable[Mapping[Secret, Caller]]]


def callers(store: Store, identities: frozenset[Secret]) -> dict[Secret, Caller]:
    """Read who shows these identities. One that is no node's, or no longer, is left out."""
    with store.read() as tx:
        nodes = authenticate(tx, identities)
        standing = bookings_for_nodes(tx, {node.id for node in nodes.values()})
    return {identity: Caller(node=node, standing=standing[node.id]) for identity, node in nodes.items()}


class Callers:
    """Everybody who waits to be known. Lives in one event loop."""

    def __init__(self, look: Look, *, together_seconds: float = TOGETHER_SECONDS) -> None:
        """Nobody waits yet.

        Arguments:
            look: reads who shows these identities.
            together_seconds: for which the first caller of a read waits for others.
        """
        self._look = look
        self._together_seconds = together_seconds
        self._waiting: dict[asyncio.Future[Caller | None], Secret] = {}
        self._looking: set[asyncio.Task[None]] = set()

    async def known(self, identity: Secret) -> Caller:
        """The node whose bcd shows this identity.

        Raises:
            OperationError: UNAUTHENTICATED when it is no node's, or no longer: bcd is to join again.
            StoreUnavailable: it cannot be read.
        """
        answer: asyncio.Future[Caller | None] = asyncio.get_running_loop().create_future()
        if not self._waiting:
            looking = asyncio.create_task(self._look_for_all())
            self._looking.add(looking)
            looking.add_done_callback(self._looking.discard)
        self._waiting[answer] = identity
        caller = await answer
        if caller is None:
            raise OperationError(Code.UNAUTHENTICATED, "this identity is no node's: join again")
        return caller

    async def _look_for_all(self) -> None:
        await asyncio.sleep(self._together_seconds)
        waiting, self._waiting = self._waiting, {}
        try:
            found = await self._look(frozenset(waiting.values()))
        except Exception as error:  # noqa: BLE001 -- it is raised where each of them waits
            for answer in waiting:
                if not answer.done():
                    answer.set_exception(error)
            return
        for answer, identity in waiting.items():
            if not answer.done():
                answer.set_result(found.get(identity))
