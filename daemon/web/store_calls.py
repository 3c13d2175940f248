# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A server's questions to the store: in a bounded number of threads, each for a bounded time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import StoreUnavailable

_AT_ONCE = 16
"""Threads that wait for the database. More would only queue there."""

_SECONDS = 12.0
"""For one question, the wait for a thread included: bcd gives up after 15 s, and nobody needs an answer after that."""

Result = TypeVar("Result")


class StoreCalls:
    """The threads."""

    def __init__(self, *, name: str = "gateway-store", at_once: int = _AT_ONCE, seconds: float | None = None) -> None:
        """They come with the first questions.

        Arguments:
            at_once: how many threads.
            seconds: for one question; None for what bcd waits.
        """
        self._threads = ThreadPoolExecutor(at_once, thread_name_prefix=name)
        self._own_seconds = seconds

    async def ask(self, call: Callable[[], Result]) -> Result:
        """What the call returns or raises.

        A question that is given up while it waits for a thread is not asked any more; one that is under way ends by
        itself, and may have had its effect.

        Raises:
            StoreUnavailable: there was no answer in time.
        """
        seconds = _SECONDS if self._own_seconds is None else self._own_seconds
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.get_running_loop().run_in_executor(self._threads, call)
        except TimeoutError:
            raise StoreUnavailable(f"no answer within {seconds:g} s") from None

    def close(self) -> None:
        """Ask nothing more; what is under way ends by itself."""
        self._threads.shutdown(wait=False, cancel_futures=True)
