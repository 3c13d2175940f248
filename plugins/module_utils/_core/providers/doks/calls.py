# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""API calls by pydo, under the budget of one method of the driver; a 404 is an error, however pydo gives it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from .. import calls
from . import errors

P = ParamSpec("P")
T = TypeVar("T")


class Calls(calls.Calls):
    """The API calls of one method of the driver, with pydo's errors in the contract's words."""

    def __init__(self, *, sleep: Callable[[float], None], jitter: Callable[[], float]) -> None:
        """Start with the whole budget.

        Arguments:
            sleep, jitter: see calls.Calls.
        """
        from azure.core.exceptions import AzureError

        super().__init__(
            provider="digitalocean",
            sleep=sleep,
            jitter=jitter,
            failures=(AzureError, json.JSONDecodeError, UnicodeDecodeError),
            translate=errors.translate,
            asked_wait=errors.asked_wait,
        )

    def _send(self, method: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a method of pydo's once.

        Raises:
            ProviderError: pydo returned an error's body.
        """
        reply = super()._send(method, *args, **kwargs)
        problem = errors.refusal_in(reply)
        if problem:
            raise problem
        return reply
