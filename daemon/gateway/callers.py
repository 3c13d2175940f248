# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who is calling, and what is booked there: one read of the store for all who called within a few milliseconds.

Nothing is remembered from one read to the next: an identity that has ended is refused at once, whichever process ended
it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
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

from .together import TOGETHER_SECONDS, Together

READS_AT_ONCE: Final = 4
"""Threads that read from the database, beside those that write: heartbeats never wait behind a queue of joins."""

_MOST: Final = 1_000
"""Callers of one read: some milliseconds."""

_CALL_SECONDS: Final = 15.0
"""After which bcd gives a call up."""


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
        self._waiting: Together[Secret, Caller] = Together(
            self._look_for,
            together_seconds=together_seconds,
            at_once=READS_AT_ONCE,
            most=_MOST,
            seconds=_CALL_SECONDS,
        )

    async def known(self, identity: Secret) -> Caller:
        """The node whose bcd shows this identity.

        Raises:
            OperationError: UNAUTHENTICATED when it is no node's, or no longer: bcd is to join again.
            StoreUnavailable: it cannot be read.
        """
        return await self._waiting.ask(identity)

    async def _look_for(self, identities: Sequence[Secret]) -> list[Caller | Exception]:
        found = await self._look(frozenset(identities))
        return [found.get(identity) or _nobodys() for identity in identities]


def _nobodys() -> OperationError:
    return OperationError(Code.UNAUTHENTICATED, "this identity is no node's: join again")
