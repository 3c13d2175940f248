# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The GPUs of this machine as they are now: read every few seconds, beside what is booked of them."""

from __future__ import annotations

import asyncio
import logging
from typing import NoReturn

from ..changes import Changes
from ..host import Host
from ..inventory import Gpu
from ..serving import Served
from .contents import Supply

LOOK_SECONDS = 5.0
"""A GPU that has gone bad is offered to nobody after so long; the kubelet needs about as long to tell the scheduler."""

logger = logging.getLogger(__name__)


class Devices:
    """What can be given, and when that changes.

    Attributes:
        looked: set once the machine was looked at. A list from before would take GPUs away that pods are about to get.
    """

    def __init__(self, *, served: Served, host: Host) -> None:
        """No GPU is known before the first look."""
        self.looked = asyncio.Event()
        self._served = served
        self._host = host
        self._gpus: tuple[Gpu, ...] = ()
        self._unhealthy: frozenset[str] = frozenset()

    @property
    def changes(self) -> Changes:
        """Told when the supply may have changed."""
        return self._served.changes

    @property
    def supply(self) -> Supply:
        """All that is known now."""
        return Supply(bookings=self._served.bookings, gpus=self._gpus, unhealthy=self._unhealthy)

    async def look(self) -> None:
        """Read the machine again. GPUs that cannot be told are those that were there before."""
        before = self._gpus, self._unhealthy
        gpus = await asyncio.to_thread(self._host.read_gpus)
        if gpus is not None:
            self._gpus = gpus
        self._unhealthy = await asyncio.to_thread(self._host.read_unhealthy)
        if (self._gpus, self._unhealthy) != before:
            self.changes.tell()

    async def follow(self) -> NoReturn:
        """Look for as long as bcd runs."""
        while True:
            try:
                await self.look()
            except Exception:  # whatever a driver's library may raise: the list stays as it is, the next look may do
                logger.exception("the GPUs could not be looked at")
            self.looked.set()
            await self._host.clock.sleep(LOOK_SECONDS)
