# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One API call after another, with retries for throttling inside one budget, and an SDK's errors turned into ours."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from ..model.errors import ProviderError, Throttled
from ..model.telemetry import telemetry

P = ParamSpec("P")
T = TypeVar("T")

THROTTLE_BUDGET_SECONDS = 4.0
"""How long one method of a driver may wait for throttling in all: outlasts a burst, and no lease is lost to it."""

_FIRST_WAIT_SECONDS = 0.25
"""Providers refill their buckets by the second: half of them would be wasted by starting lower."""

_LONGEST_WAIT_SECONDS = 2.0


def _nothing(_error: Exception) -> float:
    return 0.0


class Retries:
    """The budget of one method of a driver. Not shared: each method makes its own, so each has its own budget."""

    def __init__(self, *, provider: str, sleep: Callable[[float], None], jitter: Callable[[], float]) -> None:
        """Start with the whole budget.

        Arguments:
            provider: whose calls they are, as accounts spell it: for telling.
            sleep: waits for so many seconds.
            jitter: a random number from 0 to 1: processes that were throttled together do not come back together.
        """
        self._provider = provider
        self._sleep = sleep
        self._jitter = jitter
        self._budget = THROTTLE_BUDGET_SECONDS

    def run(
        self,
        send: Callable[[], T],
        *,
        call: str,
        failures: tuple[type[Exception], ...],
        translate: Callable[[Exception], ProviderError],
        asked_wait: Callable[[Exception], float] = _nothing,
    ) -> T:
        """Send one call. Only throttled calls are repeated: they had no effect. Each try is told (model/telemetry.py).

        Arguments:
            send: sends it.
            call: the SDK's name for it: for telling.
            failures, translate, asked_wait: see Calls.

        Raises:
            ProviderError: in the contract's words, without the SDK's exception behind it: that one holds the raw
                reply, in which a provider may quote a credential.
        """
        wait = _FIRST_WAIT_SECONDS
        while True:
            began, told = time.monotonic(), ""
            try:
                return send()
            except failures as error:
                problem, asked = translate(error), asked_wait(error)
                told = type(problem).__name__
            except Exception as error:
                told = type(error).__name__ if isinstance(error, ProviderError) else "Fault"
                raise
            finally:
                seconds = time.monotonic() - began
                telemetry().provider_called(provider=self._provider, call=call, error=told, seconds=seconds)
            pause = asked + wait * (0.5 + self._jitter() / 2)
            if not isinstance(problem, Throttled) or pause > self._budget:
                raise problem
            self._budget -= pause
            self._sleep(pause)
            wait = min(wait * 2, _LONGEST_WAIT_SECONDS)


class Calls:
    """The API calls of one method of a driver, under one budget."""

    def __init__(
        self,
        *,
        provider: str,
        sleep: Callable[[float], None],
        jitter: Callable[[], float],
        failures: tuple[type[Exception], ...],
        translate: Callable[[Exception], ProviderError],
        asked_wait: Callable[[Exception], float] = _nothing,
    ) -> None:
        """Start with the whole budget.

        Arguments:
            provider, sleep, jitter: see Retries.
            failures: the SDK's exceptions.
            translate: one of them in the contract's words.
            asked_wait: how many seconds the provider asks to wait before the next try (Retry-After), 0 if it does not.
        """
        self._retries = Retries(provider=provider, sleep=sleep, jitter=jitter)
        self._failures = failures
        self._translate = translate
        self._asked_wait = asked_wait

    def __call__(self, method: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a method of the SDK's.

        Raises:
            ProviderError: see Retries.run.
        """
        return self._retries.run(
            functools.partial(self._send, method, *args, **kwargs),
            call=getattr(method, "__name__", type(method).__name__),
            failures=self._failures,
            translate=self._translate,
            asked_wait=self._asked_wait,
        )

    def _send(self, method: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Send one call once."""
        return method(*args, **kwargs)
