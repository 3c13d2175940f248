# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who calls: one read for all who call within a moment, and nothing kept from it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from ansible_collections.better_compute.fleet.daemon.gateway.callers import Caller, Callers
from ansible_collections.better_compute.fleet.plugins.module_utils._core.booking.standing import Bookings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model import ids
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    Code,
    OperationError,
    StoreUnavailable,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import NodeIdentity
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.secret import Secret
from ansible_collections.better_compute.fleet.tests.support.rows import START

MINE, ANOTHERS, NOBODYS = Secret("mine"), Secret("another's"), Secret("nobody's")


def caller(identity: Secret) -> Caller:
    node = NodeIdentity(
        id=ids.new_node_id(START),
        pool_id=ids.new_pool_id(START),
        identity_hash=identity.sha256(),
        last_seen_at=START,
    )
    return Caller(node=node, standing=Bookings(version="none", bookings=()))


@dataclass
class Reads:
    """A store that remembers what it was asked."""

    known: dict[Secret, Caller] = field(default_factory=dict)
    asked: list[frozenset[Secret]] = field(default_factory=list)

    async def look(self, identities: frozenset[Secret]) -> Mapping[Secret, Caller]:
        self.asked.append(identities)
        return {identity: self.known[identity] for identity in identities & self.known.keys()}


def test_all_who_call_within_a_moment_are_one_read_and_each_hears_of_itself() -> None:
    async def play() -> None:
        reads = Reads({identity: caller(identity) for identity in (MINE, ANOTHERS)})
        callers = Callers(reads.look)
        called = (MINE, ANOTHERS, NOBODYS, MINE)
        mine, anothers, nobodys, again = await asyncio.gather(*map(callers.known, called), return_exceptions=True)
        assert (mine, anothers, again) == (reads.known[MINE], reads.known[ANOTHERS], reads.known[MINE])
        assert isinstance(nobodys, OperationError)
        assert nobodys.code == Code.UNAUTHENTICATED
        assert reads.asked == [frozenset(called)]

    asyncio.run(play())


def test_an_identity_that_has_ended_is_nobodys_at_the_next_call() -> None:
    async def play() -> None:
        reads = Reads({MINE: caller(MINE)})
        callers = Callers(reads.look)
        await callers.known(MINE)
        del reads.known[MINE]
        with pytest.raises(OperationError, match="join again"):
            await callers.known(MINE)

    asyncio.run(play())


def test_a_store_that_cannot_be_read_is_told_to_all_who_wait_and_asked_again_for_the_next() -> None:
    async def play() -> None:
        reads = Reads({MINE: caller(MINE)})
        away = True

        async def look(identities: frozenset[Secret]) -> Mapping[Secret, Caller]:
            if away:
                raise StoreUnavailable("away")
            return await reads.look(identities)

        callers = Callers(look)
        told = await asyncio.gather(callers.known(MINE), callers.known(ANOTHERS), return_exceptions=True)
        assert [type(one) for one in told] == [StoreUnavailable] * 2
        away = False
        assert await callers.known(MINE) == reads.known[MINE]

    asyncio.run(play())


def test_one_who_hangs_up_while_it_waits_takes_nothing_from_the_others() -> None:
    async def play() -> None:
        reads = Reads({MINE: caller(MINE)})
        callers = Callers(reads.look)
        gone, stays = (asyncio.create_task(callers.known(MINE)) for _call in range(2))
        await asyncio.sleep(0)
        gone.cancel()
        assert await stays == reads.known[MINE]

    asyncio.run(play())
