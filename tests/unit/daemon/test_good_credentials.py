# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Telling nodes from guessers at an address with too many guesses: what is read, and how often."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from ansible_collections.better_compute.fleet.daemon.gateway.good_credentials import GoodCredentials
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.secret import Secret

NODE, LATER, GUESS = Secret("a node's"), Secret("a later node's"), Secret("a guess")


class Records:
    """A store that counts how often it is read."""

    def __init__(self) -> None:
        self.good = {NODE.sha256()}
        self.reads = 0
        self.seconds = 100.0

    async def read(self) -> frozenset[str]:
        self.reads += 1
        await asyncio.sleep(0)
        return frozenset(self.good)

    def credentials(self) -> GoodCredentials:
        return GoodCredentials(self.read, monotonic=lambda: self.seconds)


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


def test_many_guesses_at_once_cost_one_read() -> None:
    async def guess() -> None:
        records = Records()
        good = records.credentials()
        found = await asyncio.gather(*(good.include(GUESS) for _ in range(100)), good.include(NODE))
        assert found == [False] * 100 + [True]
        assert records.reads == 1

    run(guess())


def test_one_that_came_since_is_found_after_a_few_seconds() -> None:
    async def come() -> None:
        records = Records()
        good = records.credentials()
        assert not await good.include(LATER)
        records.good.add(LATER.sha256())
        records.seconds += 4.9
        assert not await good.include(LATER)
        records.seconds += 0.1
        assert await good.include(LATER)
        assert records.reads == 2

    run(come())


def test_a_known_one_is_told_without_a_read() -> None:
    async def known() -> None:
        records = Records()
        good = records.credentials()
        assert await good.include(NODE)
        records.seconds += 3600
        assert await good.include(NODE)
        assert records.reads == 1

    run(known())
