# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plugin's socket, and being known to the kubelet: one that comes late, restarts, or says no.

The order is the API's: remove what an earlier bcd left, listen, ask oneself, register. A kubelet that starts removes
every socket of its folder but its own, and knows no plugin: so a plugin looks whether both are still what they were.
Each start listens on a name of its own, because gRPC removes a socket's file some time after its server has stopped.
"""

from __future__ import annotations

import logging
import secrets
from pathlib import Path
from typing import Any, NoReturn

import grpc

from ..host import Clock
from . import wire
from .contents import Platform
from .devices import Devices
from .service import OPTIONS, Service

SOCKETS = "bcd-*.sock"

LOOK_SECONDS = 1.0
"""Between two looks at the sockets: two calls of stat."""

RETRY_SECONDS = 3.0
"""After a kubelet that said no. It is on this machine, and nobody else asks it: no need to wait longer each time."""

CALL_SECONDS = 10.0
"""For one call over a unix socket. While it registers a plugin the kubelet connects to it, for which it takes 10 s."""

FOLLOWED_LOOKS = 30
"""A kubelet that registered the plugin and has not asked for the list after so many looks has forgotten it."""

# The path of a unix socket as authority is refused by gRPC in Go, which the kubelet is written with.
_CHANNEL = (("grpc.default_authority", "localhost"), ("grpc.enable_http_proxy", 0))

logger = logging.getLogger(__name__)

FileIdentity = tuple[int, int, int]


class KubeletError(Exception):
    """The kubelet, or the socket, did not do as it should; the next try may succeed."""


class Registration:
    """Keeps the plugin registered."""

    def __init__(self, *, folder: Path, resource_name: str, devices: Devices, platform: Platform, clock: Clock) -> None:
        """Nothing listens yet.

        Arguments:
            folder: where the kubelet and its plugins have their sockets.
        """
        self._folder = folder
        self._resource_name = resource_name
        self._devices = devices
        self._platform = platform
        self._clock = clock
        self._told = ""

    async def keep(self) -> NoReturn:
        """Register, and register again whenever the kubelet may have forgotten. Tries for ever."""
        await self._devices.looked.wait()
        while True:
            try:
                await self._serve_one(await self._until_there())
            except (KubeletError, OSError) as error:
                self._tell_once(f"the kubelet does not take the device plugin: {error}")
            except Exception:
                # No fault in here may stop the plugin for good: pods would wait for GPUs that are booked.
                logger.exception("the device plugin failed, and starts again")
            await self._clock.sleep(RETRY_SECONDS)

    async def _until_there(self) -> FileIdentity:
        """The kubelet's socket, as soon as there is one. On a machine without a kubelet: never."""
        while (kubelet := file_identity(self._folder / wire.KUBELET_SOCKET)) is None:
            self._tell_once(f"no kubelet in {self._folder}: waiting for one")
            await self._clock.sleep(LOOK_SECONDS)
        return kubelet

    async def _serve_one(self, kubelet: FileIdentity) -> None:
        """Serve a kubelet until it is another one, or follows no more."""
        remove_sockets(self._folder)
        socket = self._folder / SOCKETS.replace("*", secrets.token_hex(4))
        service = Service(devices=self._devices, platform=self._platform)
        server = grpc.aio.server()
        server.add_generic_rpc_handlers((service.handlers(),))
        try:
            try:
                server.add_insecure_port(f"unix:{socket}")
            except RuntimeError as error:
                raise KubeletError(f"cannot listen on {socket}: {error}") from None
            await server.start()
            await _call(socket, f"/{wire.DEVICE_PLUGIN}/GetDevicePluginOptions", wire.Empty())
            await self._register(socket)
            await self._until_lost(kubelet, socket, service)
        finally:
            await server.stop(None)
            socket.unlink(missing_ok=True)

    async def _register(self, socket: Path) -> None:
        request = wire.RegisterRequest(
            version=wire.API_VERSION,
            endpoint=socket.name,
            resource_name=self._resource_name,
            options=wire.DevicePluginOptions(**OPTIONS),
        )
        await _call(self._folder / wire.KUBELET_SOCKET, f"/{wire.REGISTRATION}/Register", request)
        self._tell_once(f"registered {self._resource_name} with the kubelet, on {socket.name}")

    async def _until_lost(self, kubelet: FileIdentity, socket: Path, service: Service) -> None:
        own = file_identity(socket)
        looks = 0
        while True:
            now = file_identity(self._folder / wire.KUBELET_SOCKET)
            if now != kubelet or own is None or file_identity(socket) != own:
                self._tell_once("the kubelet has restarted")
                return
            if service.left:
                self._tell_once("the kubelet follows the list of devices no more")
                return
            if not service.followed and looks > FOLLOWED_LOOKS:
                raise KubeletError("it never asked for the list of devices")
            looks += 1
            await self._clock.sleep(LOOK_SECONDS)

    def _tell_once(self, text: str) -> None:
        """Log what is not the same as before: a state that lasts is told once."""
        if text != self._told:
            logger.info("%s", text)
        self._told = text


def file_identity(path: Path) -> FileIdentity | None:
    """What tells a file from the next of its name; None where there is none. An inode's number alone may come again."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_ctime_ns


def remove_sockets(folder: Path) -> None:
    """Remove what earlier runs have left."""
    for socket in folder.glob(SOCKETS):
        socket.unlink(missing_ok=True)


async def _call(socket: Path, method: str, request: Any) -> None:
    """Make one call over a unix socket; the reply's content does not matter."""
    try:
        async with grpc.aio.insecure_channel(f"unix:{socket}", options=_CHANNEL) as channel:
            call = channel.unary_unary(
                method, request_serializer=lambda message: message.SerializeToString(), response_deserializer=bytes
            )
            await call(request, timeout=CALL_SECONDS)
    except grpc.aio.AioRpcError as error:
        raise KubeletError(f"{socket.name} answered {error.code().name}: {error.details()}") from None
