# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""API calls by boto3, under the budget of one method of the driver."""

from __future__ import annotations

from collections.abc import Callable

from .. import calls
from . import errors


class Calls(calls.Calls):
    """The API calls of one method of the driver, with botocore's exceptions in the contract's words."""

    def __init__(self, *, sleep: Callable[[float], None], jitter: Callable[[], float]) -> None:
        """Start with the whole budget.

        Arguments:
            sleep, jitter: see calls.Calls.
        """
        from botocore.exceptions import BotoCoreError, ClientError
        from botocore.parsers import ResponseParserError

        super().__init__(
            provider="aws",
            sleep=sleep,
            jitter=jitter,
            failures=(BotoCoreError, ClientError, ResponseParserError),
            translate=errors.translate,
        )
