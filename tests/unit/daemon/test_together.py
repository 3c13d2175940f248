# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is asked within a moment is one question: how many at once, how large, and what each hears."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from ansible_collections.better_compute.fleet.daemon.gateway.together import Together
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import StoreUnavailable


class Store:
    """Answers each number with its square once it is let, odd ones with an error if it is told to."""

    def __init__(self, *, odd_fail: bool = False) -> None:
        self.asked: list[list[int]] = []
        self.under_way = self.most_under_way = 0
        self.may_answer = asyncio.Event()
        self._odd_fail = odd_fail

    async def answer(self, numbers: Sequence[int]) -> list[int | Exception]:
        self.asked.append(list(numbers))
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        await self.may_answer.wait()
        self.under_way -= 1
        return [KeyError(number) if self._odd_fail and number % 2 else number * number for number in numbers]


async def rounds() -> None:
    """Let everything happen that can."""
    for _round in range(20):
        await asyncio.sleep(0)


def test_each_hears_its_own_answer_or_its_own_error() -> None:
    async def play() -> None:
        store = Store(odd_fail=True)
        store.may_answer.set()
        together = Together(store.answer, together_seconds=0, at_once=1, most=9, seconds=9)
        heard = await asyncio.gather(*map(together.ask, (2, 3, 4)), return_exceptions=True)
        assert [heard[0], heard[2]] == [4, 16]
        assert isinstance(heard[1], KeyError)
        assert store.asked == [[2, 3, 4]]

    asyncio.run(play())


def test_while_so_many_questions_are_under_way_those_who_come_wait_for_one_another() -> None:
    async def play() -> None:
        store = Store()
        together = Together(store.answer, together_seconds=0, at_once=2, most=9, seconds=9)
        calls = []
        for number in range(6):
            calls.append(asyncio.create_task(together.ask(number)))
            await rounds()
        assert store.asked == [[0], [1]]
        store.may_answer.set()
        assert await asyncio.gather(*calls) == [0, 1, 4, 9, 16, 25]
        assert store.asked == [[0], [1], [2, 3, 4, 5]]
        assert store.most_under_way == 2

    asyncio.run(play())


def test_a_crowd_is_several_questions_in_the_order_in_which_they_came() -> None:
    async def play() -> None:
        store = Store()
        store.may_answer.set()
        together = Together(store.answer, together_seconds=0, at_once=1, most=3, seconds=9)
        assert await asyncio.gather(*map(together.ask, range(7))) == [number**2 for number in range(7)]
        assert store.asked == [[0, 1, 2], [3, 4, 5], [6]]

    asyncio.run(play())


def test_one_who_hung_up_is_asked_for_no_more_and_nobody_waits_for_an_answer_in_vain() -> None:
    async def play() -> None:
        store = Store()
        store.may_answer.set()
        together = Together(store.answer, together_seconds=0.001, at_once=1, most=2, seconds=9)
        gone, stays = (asyncio.create_task(together.ask(number)) for number in (1, 2))
        await asyncio.sleep(0)
        gone.cancel()
        assert await stays == 4
        alone = asyncio.create_task(together.ask(3))
        await asyncio.sleep(0)
        alone.cancel()
        await asyncio.sleep(0.01)
        assert await together.ask(4) == 16
        assert store.asked == [[2], [4]]

    asyncio.run(play())


def test_what_the_question_itself_raises_is_raised_everywhere_and_the_next_one_is_asked() -> None:
    async def play() -> None:
        fails = True

        async def answer(numbers: Sequence[int]) -> list[int | Exception]:
            if fails:
                raise ConnectionError("away")
            return list(numbers)

        together = Together(answer, together_seconds=0, at_once=1, most=9, seconds=9)
        told = await asyncio.gather(together.ask(1), together.ask(2), return_exceptions=True)
        assert [type(one) for one in told] == [ConnectionError] * 2
        fails = False
        assert await together.ask(3) == 3

    asyncio.run(play())


def test_nobody_waits_longer_than_it_listens_and_who_has_gone_is_asked_for_no_more() -> None:
    """A server does not tell of a client that hangs up: what a database that hangs leaves behind would be endless."""

    async def play() -> None:
        store = Store()
        together = Together(store.answer, together_seconds=0, at_once=1, most=9, seconds=0.05)
        told = await asyncio.gather(*map(together.ask, (1, 2, 3)), return_exceptions=True)
        told += await asyncio.gather(*map(together.ask, (4, 5)), return_exceptions=True)
        assert [type(one) for one in told] == [StoreUnavailable] * 5
        store.may_answer.set()
        assert await together.ask(6) == 36
        assert store.asked == [[1, 2, 3], [6]]

    asyncio.run(asyncio.wait_for(play(), 5))
