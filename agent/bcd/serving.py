# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What `bcd run` does for as long as it runs: heartbeats, and the bookings that the device plugin's list is made of.

Bookings come two ways that lead to one place: the long poll brings a change at once, and each heartbeat's version
finds out what the long poll missed. Only one of them asks at a time, so an older answer never replaces a newer one.
"""

from __future__ import annotations

import asyncio
import logging
from typing import NoReturn

from .backoff import LONGEST_SECONDS, Backoff
from .changes import Changes
from .errors import GatewayError, Refused
from .gateway import Booked, Booking, Gateway
from .host import Host
from .inventory import Inventory
from .state import Identity, StateFolder

# Between two long polls, at the least and at the most: a gateway that never waits must not be asked a thousand times a
# second, and one that stops answers all of them at one moment.
POLL_PAUSE_SECONDS = (0.5, 2.0)

# A heartbeat may come a little early, so that machines that booted together do not speak together for ever.
EARLIEST_PART = 0.9

logger = logging.getLogger(__name__)


class Served:
    """What is booked on this machine. It outlives gateway and identity: only the gateway's word changes it.

    Attributes:
        changes: told when the bookings have changed.
    """

    def __init__(self, *, state: StateFolder, node_id: str) -> None:
        """Begin with what was kept.

        Arguments:
            node_id: who asks; empty before the machine has an identity.
        """
        self.changes = Changes()
        self._state = state
        self._node_id = node_id
        self._booked = state.booked(node_id)
        logger.info("serving %s", self)

    def known_as(self, node_id: str) -> None:
        """The machine has this identity from now on; its bookings stand until the gateway says otherwise."""
        if node_id != self._node_id:
            self._node_id = node_id
            self._booked = self._state.booked(node_id)

    @property
    def version(self) -> str:
        """The version of the bookings that are served; empty when none came yet."""
        return self._booked.version

    @property
    def bookings(self) -> tuple[Booking, ...]:
        """The reservations on this machine."""
        return self._booked.bookings

    @property
    def advertised(self) -> frozenset[str]:
        """The devices that a reservation holds: no others are advertised to the kubelet."""
        return frozenset(device for booking in self._booked.bookings for device in booking.device_ids)

    def take(self, booked: Booked) -> None:
        """Serve what the gateway says is booked: kept first, so that a restart does not go back behind it."""
        if booked == self._booked:
            return
        self._state.keep_booked(self._node_id, booked)
        self._booked = booked
        self.changes.tell()
        logger.info("serving %s", self)

    def __str__(self) -> str:
        return (
            f"{len(self._booked.bookings)} bookings on {len(self.advertised)} devices (version {self.version or '-'})"
        )


async def serve(*, identity: Identity, served: Served, gateway: Gateway, node_name: str, host: Host) -> None:
    """Send heartbeats and follow the bookings. Returns when the gateway no longer knows the identity."""
    service = _Service(identity=identity, served=served, gateway=gateway, node_name=node_name, host=host)
    try:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(service.heartbeats())
            if host.long_poll_seconds:
                tasks.create_task(service.long_polls())
    except* _Unknown:
        logger.warning("the gateway no longer knows %s", identity.node_id)


class _Unknown(Exception):
    """The gateway answered 401: ends the service."""


class _Service:
    """The two loops and what they share."""

    def __init__(self, *, identity: Identity, served: Served, gateway: Gateway, node_name: str, host: Host) -> None:
        self._identity = identity
        self._served = served
        self._gateway = gateway
        self._node_name = node_name
        self._host = host
        self._asking = asyncio.Lock()
        self._heard = asyncio.Event()
        self._reported: Inventory | None = None

    async def heartbeats(self) -> NoReturn:
        """Be heard of, and notice bookings that the long poll missed."""
        backoff = Backoff(self._host.chance)
        while True:
            try:
                await self._heartbeat()
            except GatewayError as error:
                await self._wait_out(error, backoff)
                continue
            backoff.reset()
            early = self._host.chance.uniform(EARLIEST_PART, 1.0)
            await self._host.clock.sleep(self._identity.heartbeat_seconds * early)

    async def long_polls(self) -> NoReturn:
        """Hear of a changed booking at once. Begins after the first heartbeat, so as not to try two doors at a time.

        A gateway that ends cuts every machine's long poll at one moment. So they come back spread over ten seconds from
        the first: each heartbeat, and those are spread already, finds out meanwhile what has changed.
        """
        await self._heard.wait()
        backoff = Backoff(self._host.chance, first_seconds=LONGEST_SECONDS)
        while True:
            try:
                async with self._asking:
                    await self._ask(wait_seconds=self._host.long_poll_seconds)
            except GatewayError as error:
                await self._wait_out(error, backoff)
                continue
            backoff.reset()
            await self._host.clock.sleep(self._host.chance.uniform(*POLL_PAUSE_SECONDS))

    async def _heartbeat(self) -> None:
        inventory = self._inventory()
        version = await self._gateway.heartbeat(
            identity=self._identity.secret,
            node_id=self._identity.node_id,
            inventory=None if inventory == self._reported else inventory,
        )
        self._reported = inventory
        self._heard.set()
        if version != self._served.version and not self._asking.locked():
            async with self._asking:
                await self._ask(wait_seconds=0)

    async def _ask(self, *, wait_seconds: int) -> None:
        self._served.take(
            await self._gateway.bookings(
                identity=self._identity.secret,
                node_id=self._identity.node_id,
                version=self._served.version,
                wait_seconds=wait_seconds,
            )
        )

    def _inventory(self) -> Inventory | None:
        """What to report; what was reported last when the GPUs cannot be told."""
        gpus = self._host.read_gpus()
        return self._reported if gpus is None else Inventory(node_name=self._node_name, gpus=gpus)

    async def _wait_out(self, error: GatewayError, backoff: Backoff) -> None:
        if isinstance(error, Refused) and error.unauthenticated:
            raise _Unknown from None
        seconds = backoff.next_seconds()
        logger.warning("trying again in %.0f s: %s", seconds, error)
        await self._host.clock.sleep(seconds)
