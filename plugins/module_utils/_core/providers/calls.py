# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One API call after another, with retries for throttling inside one budget, and an SDK's errors turned into ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from ..model.errors import ProviderError, Throttled

P = ParamSpec("P")
T = TypeVar("T")

THROTTLE_BUDGET_SECONDS = 4.0
"""How long one method of a driver may wait for throttling in all: outlasts a burst, and no lease is lost to it."""

_FIRST_WAIT_SECONDS = 0.25
"""Providers refill their buckets by the second: half of them would be wasted by starting lower."""

_LONGEST_WAIT_SECONDS = 2.0


def _nothing(_error: Exception) -> float:
    return 0.0


class Calls:
    """The API calls of one method of a driver. Not shared: each method makes its own, so each has its own budget."""

    def __init__(
        self,
        *,
        sleep: Callable[[float], None],
        jitter: Callable[[], float],
        failures: tuple[type[Exception], ...],
        translate: Callable[[Exception], ProviderError],
        asked_wait: Callable[[Exception], float] = _nothing,
    ) -> None:
        """Start with the whole budget.

        Arguments:
            sleep: waits for so many seconds.
            jitter: a random number from 0 to 1: processes that were throttled together do not come back together.
            failures: the SDK's exceptions.
            translate: one of them in the contract's words.
            asked_wait: how many seconds the provider asks to wait before the next try (Retry-After), 0 if it does not.
        """
        self._sleep = sleep
        self._jitter = jitter
        self._failures = failures
        self._translate = translate
        self._asked_wait = asked_wait
        self._budget = THROTTLE_BUDGET_SECONDS

    def __call__(self, method: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a method of the SDK's. Only throttled calls are repeated: they had no effect.

        Raises:
            ProviderError: in the contract's words, without the SDK's exception behind it: that one holds the raw
                reply, in which a provider may quote a credential.
        """
        wait = _FIRST_WAIT_SECONDS
        while True:
            try:
                return method(*args, **kwargs)
            except self._failures as error:
                problem, asked = self._translate(error), self._asked_wait(error)
            pause = asked + wait * (0.5 + self._jitter() / 2)
            if not isinstance(problem, Throttled) or pause > self._budget:
                raise problem
            self._budget -= pause
            self._sleep(pause)
            wait = min(wait * 2, _LONGEST_WAIT_SECONDS)
