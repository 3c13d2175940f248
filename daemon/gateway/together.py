# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What many ask within a few milliseconds is one question to the store, and each hears its own answer.

Nothing is remembered from one question to the next.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Generic, TypeVar

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import StoreUnavailable

TOGETHER_SECONDS: Final = 0.04
"""For which the first who asks waits for others. A question costs a millisecond or two of processor time, whoever many
it is for: twenty-five a second are a few hundredths of a core, five hundred would be most of one."""

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")


class Together(Generic[Asked, Answer]):
    """Everybody who waits for an answer. Lives in one event loop."""

    def __init__(
        self,
        answer: Callable[[Sequence[Asked]], Awaitable[Sequence[Answer | Exception]]],
        *,
        together_seconds: float,
        at_once: int,
        most: int,
        seconds: float,
    ) -> None:
        """Nobody waits yet.

        Arguments:
            answer: asks the store: what each hears, or is raised where it waits, in order. What it raises itself is
                raised everywhere.
            together_seconds: for which the first who asks waits for others.
            at_once: questions under way at one time. While so many are, those who come wait for one another.
            most: that one question is for.
            seconds: for which anybody waits, its turn included: whoever asked listens no longer. A server does not tell
                of a client that has hung up; those who come again while the store hangs would become more and more.
        """
        self._answer = answer
        self._together_seconds = together_seconds
        self._most = most
        self._seconds = seconds
        self._turns = asyncio.Semaphore(at_once)
        self._waiting: dict[asyncio.Future[Answer], Asked] = {}
        self._asking: set[asyncio.Task[None]] = set()

    async def ask(self, asked: Asked) -> Answer:
        """The answer to this. Raises whatever the answer is that is an exception.

        Raises:
            StoreUnavailable: there was none in time. If it is being asked already, that may have its effect.
        """
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        if not self._waiting:
            self._begin(self._together_seconds)
        self._waiting[answer] = asked
        try:
            async with asyncio.timeout(self._seconds):
                return await answer
        except TimeoutError:
            raise StoreUnavailable(f"no answer within {self._seconds:g} s") from None

    def _begin(self, seconds: float) -> None:
        asking = asyncio.create_task(self._ask_for_all(seconds))
        self._asking.add(asking)
        asking.add_done_callback(self._asking.discard)

    async def _ask_for_all(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        async with self._turns:
            # Whoever has hung up meanwhile has no question any more.
            waiting = {answer: asked for answer, asked in self._waiting.items() if not answer.done()}
            now, later = list(waiting)[: self._most], list(waiting)[self._most :]
            self._waiting = {answer: waiting[answer] for answer in later}
            if later:
                self._begin(0)
            if not now:
                return
            try:
                found: Sequence[Answer | Exception] = await self._answer([waiting[answer] for answer in now])
            except Exception as error:  # noqa: BLE001 -- it is raised where each of them waits
                found = [error] * len(now)
        for answer, heard in zip(now, found, strict=True):
            if answer.done():
                continue
            if isinstance(heard, Exception):
                answer.set_exception(heard)
            else:
                answer.set_result(heard)
