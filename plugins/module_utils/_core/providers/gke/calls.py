# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""API calls by Google's client, under the budget of one method of the driver."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ..calls import Retries
from . import errors
from .clients import CALL_TIMEOUT_SECONDS

T = TypeVar("T")


class Calls:
    """The API calls of one method of the driver, with Google's exceptions in the contract's words."""

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
            sleep, jitter: see calls.Retries.
        """
        self._metadata = metadata
        self._retries = Retries(provider="gcp", sleep=sleep, jitter=jitter)

    def __call__(self, method: Callable[..., T], request: Mapping[str, Any]) -> T:
        """Call a method of Google's client.

        Raises:
            ProviderError: see calls.Retries.run; also what `metadata` raises.
        """
        from google.api_core.exceptions import GoogleAPIError

        def send() -> T:
            # The client's own retries would make the budget a lie.
            return method(request=dict(request), retry=None, timeout=CALL_TIMEOUT_SECONDS, metadata=self._metadata())

        translate = functools.partial(errors.translate, operation=method.__name__)
        return self._retries.run(send, call=method.__name__, failures=(GoogleAPIError,), translate=translate)
