# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One API call after another, with retries for throttling inside one budget, and Google's errors turned into ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ...model.errors import Throttled
from . import errors
from .clients import CALL_TIMEOUT_SECONDS

T = TypeVar("T")

THROTTLE_BUDGET_SECONDS = 4.0
"""How long one method of the driver may wait for throttling in all: outlasts a burst, and no lease is lost to it."""

_FIRST_WAIT_SECONDS = 0.25
_LONGEST_WAIT_SECONDS = 2.0


class Calls:
    """The API calls of one method of the driver. Not shared: each method makes its own, so each has its own budget."""

    def __init__(
        self,
        *,
        metadata: Callable[[], list[tuple[str, str]]],
        sleep: Callable[[float], None],
        jitter: Callable[[], float],
    ) -> None:
        """Start with the whole budget.

        Arguments:
            metadata: what a call carries to say who makes it.
            sleep: waits for so many seconds.
            jitter: a random number from 0 to 1: processes that were throttled together do not come back together.
        """
        self._metadata = metadata
        self._sleep = sleep
        self._jitter = jitter
        self._budget = THROTTLE_BUDGET_SECONDS

    def __call__(self, method: Callable[..., T], request: Mapping[str, Any]) -> T:
        """Call a method of Google's client. Only throttled calls are repeated: they had no effect.

        Raises:
            ProviderError: in the contract's words, without the SDK's exception behind it: that one holds the raw call.
        """
        from google.api_core.exceptions import GoogleAPIError

        wait = _FIRST_WAIT_SECONDS
        while True:
            metadata = self._metadata()
            try:
                # The client's own retries would make the budget a lie.
                return method(request=dict(request), retry=None, timeout=CALL_TIMEOUT_SECONDS, metadata=metadata)
            except GoogleAPIError as error:
                problem = errors.translate(error, operation=method.__name__)
            pause = wait * (0.5 + self._jitter() / 2)
            if not isinstance(problem, Throttled) or pause > self._budget:
                raise problem
            self._budget -= pause
            self._sleep(pause)
            wait = min(wait * 2, _LONGEST_WAIT_SECONDS)
