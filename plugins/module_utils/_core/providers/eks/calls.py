# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One API call after another, with retries for throttling inside one budget, and AWS's errors turned into ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from ...model.errors import Throttled
from . import errors

P = ParamSpec("P")
T = TypeVar("T")

THROTTLE_BUDGET_SECONDS = 4.0
"""How long one method of the driver may wait for throttling in all: outlasts a burst, and no lease is lost to it."""

_FIRST_WAIT_SECONDS = 0.25
"""EKS refills its buckets by the second: half of them would be wasted by starting lower."""

_LONGEST_WAIT_SECONDS = 2.0


class Calls:
    """The API calls of one method of the driver. Not shared: each method makes its own, so each has its own budget."""

    def __init__(self, *, sleep: Callable[[float], None], jitter: Callable[[], float]) -> None:
        """Start with the whole budget.

        Arguments:
            sleep: waits for so many seconds.
            jitter: a random number from 0 to 1: processes that were throttled together do not come back together.
        """
        self._sleep = sleep
        self._jitter = jitter
        self._budget = THROTTLE_BUDGET_SECONDS

    def __call__(self, method: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a method of a boto3 client. Only throttled calls are repeated: they had no effect.

        Raises:
            ProviderError: in the contract's words, without the SDK's exception behind it: that one holds the raw
                reply, in which AWS may quote a session token.
        """
        from botocore.exceptions import BotoCoreError, ClientError
        from botocore.parsers import ResponseParserError

        wait = _FIRST_WAIT_SECONDS
        while True:
            try:
                return method(*args, **kwargs)
            except (BotoCoreError, ClientError, ResponseParserError) as error:
                problem = errors.translate(error)
            pause = wait * (0.5 + self._jitter() / 2)
            if not isinstance(problem, Throttled) or pause > self._budget:
                raise problem
            self._budget -= pause
            self._sleep(pause)
            wait = min(wait * 2, _LONGEST_WAIT_SECONDS)
