# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a credential is one, for sources that have shown too many that are none: remembered for a few seconds.

A cluster's machines and its tenants' pods often share one address. So a pod that shows guess after guess must not have
the machines refused with it; nor may each guess cost a question to the store.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.secret import Secret

_SECONDS: Final = 5.0
"""Between two reads, while such a source calls: a machine that joined a moment ago waits no longer than this."""


class GoodCredentials:
    """What the store would take. Lives in one event loop; nothing is read before somebody asks."""

    def __init__(
        self, read: Callable[[], Awaitable[frozenset[str]]], *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        """Nothing is known yet.

        Arguments:
            read: the SHA-256 of each.
            monotonic: seconds that only grow.
        """
        self._read = read
        self._monotonic = monotonic
        self._reading = asyncio.Lock()
        self._known: frozenset[str] = frozenset()
        self._read_at: float | None = None

    async def include(self, credential: Secret) -> bool:
        """Whether this is one. One that ended in the last seconds may count still: the call itself finds that out.

        Raises:
            StoreUnavailable: they cannot be read.
        """
        digest = credential.sha256()
        if digest in self._known:
            return True
        async with self._reading:
            if self._read_at is None or self._monotonic() - self._read_at >= _SECONDS:
                self._known = await self._read()
                self._read_at = self._monotonic()
        return digest in self._known
