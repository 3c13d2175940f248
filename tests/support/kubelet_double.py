# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A kubelet for tests of bcd's device plugin: real gRPC on unix sockets, in the event loop of whoever starts it.

It does what the kubelet's device manager does (kubernetes 1.34, `pkg/kubelet/cm/devicemanager`): a start removes every
socket in its folder; a registration is answered once the plugin was connected to and told its options; then the list is
followed until one of the two ends.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc

from bcd.device_plugin import wire

_CHANNEL = (("grpc.default_authority", "localhost"),)
PATIENCE_SECONDS = 30
"""Of real time: nothing here takes a tenth of it, but the machine may be busy."""


class KubeletDouble:
    """The double.

    Attributes:
        folder: where the sockets are.
        registered: every registration that came, in order.
        lists: every list of devices, in order, as health by id.
        refusing: the reason with which registrations are refused; none are while it is empty.
    """

    def __init__(self, folder: Path) -> None:
        """It does not run yet."""
        self.folder = folder
        self.registered: list[Any] = []
        self.lists: list[Mapping[str, str]] = []
        self.refusing = ""
        self._changed = asyncio.Condition()
        self._server: Any = None
        self._plugin: Any = None
        self._following: asyncio.Task[None] | None = None

    @property
    def socket(self) -> Path:
        return self.folder / wire.KUBELET_SOCKET

    def sockets(self) -> list[str]:
        """The names of the plugins' sockets."""
        return sorted(path.name for path in self.folder.glob("*.sock") if path != self.socket)

    async def start(self) -> None:
        """Begin as a new process: nothing is known, and nothing of before is left in the folder."""
        self.folder.mkdir(exist_ok=True)
        for path in self.folder.glob("*.sock"):
            path.unlink()
        self._server = grpc.aio.server()
        handler = grpc.unary_unary_rpc_method_handler(
            self._register,
            request_deserializer=wire.RegisterRequest.FromString,
            response_serializer=lambda message: message.SerializeToString(),
        )
        self._server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler(wire.REGISTRATION, {"Register": handler}),)
        )
        self._server.add_insecure_port(f"unix:{self.socket}")
        await self._server.start()

    async def stop(self) -> None:
        """End as a process: connections are cut."""
        await self.forget()
        if self._server is not None:
            await self._server.stop(None)
            self._server = None

    async def forget(self) -> None:
        """Follow the plugin's list no more, without a word."""
        if self._following is not None:
            self._following.cancel()
            await asyncio.wait([self._following])
            self._following = None
        if self._plugin is not None:
            await self._plugin.close()
            self._plugin = None

    async def until(self, met: Callable[[KubeletDouble], bool]) -> None:
        """Wait until something is so."""
        async with asyncio.timeout(PATIENCE_SECONDS), self._changed:
            await self._changed.wait_for(lambda: met(self))

    async def until_listed(self, **health: str) -> None:
        """Wait until the last list is exactly this; ids are written with underscores."""
        wanted = {device.replace("_", "-"): told for device, told in health.items()}
        await self.until(lambda kubelet: bool(kubelet.lists) and kubelet.lists[-1] == wanted)

    async def allocate(self, *containers: tuple[str, ...]) -> list[Any]:
        """Ask for the devices of each container of a pod. Raises grpc's AioRpcError where the plugin refuses."""
        request = wire.AllocateRequest()
        for devices in containers:
            request.container_requests.add(devices_ids=devices)
        return list((await self._call("Allocate", request, wire.AllocateResponse)).container_responses)

    async def prefer(self, available: tuple[str, ...], *, needed: tuple[str, ...] = (), size: int) -> list[str]:
        """Ask which devices one container should get."""
        request = wire.PreferredAllocationRequest()
        request.container_requests.add(
            available_deviceIDs=available, must_include_deviceIDs=needed, allocation_size=size
        )
        answer = await self._call("GetPreferredAllocation", request, wire.PreferredAllocationResponse)
        return list(answer.container_responses[0].deviceIDs)

    async def _register(self, request: Any, context: Any) -> Any:
        if not self.refusing:
            await self.forget()
            self._plugin = grpc.aio.insecure_channel(f"unix:{self.folder / request.endpoint}", options=_CHANNEL)
            options = await self._call("GetDevicePluginOptions", wire.Empty(), wire.DevicePluginOptions)
            assert options == request.options
            self._following = asyncio.create_task(self._follow(self._plugin))
        async with self._changed:
            self.registered.append(request)
            self._changed.notify_all()
        if self.refusing:
            await context.abort(grpc.StatusCode.UNKNOWN, self.refusing)
        return wire.Empty()

    async def _follow(self, plugin: Any) -> None:
        call = plugin.unary_stream(
            f"/{wire.DEVICE_PLUGIN}/ListAndWatch",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=wire.ListAndWatchResponse.FromString,
        )
        try:
            async for answer in call(wire.Empty()):
                async with self._changed:
                    self.lists.append({device.ID: device.health for device in answer.devices})
                    self._changed.notify_all()
        except grpc.aio.AioRpcError:
            pass

    async def _call(self, name: str, request: Any, answer: Any) -> Any:
        call = self._plugin.unary_unary(
            f"/{wire.DEVICE_PLUGIN}/{name}",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=answer.FromString,
        )
        return await call(request, timeout=PATIENCE_SECONDS)


@asynccontextmanager
async def kubelet_double(*, started: bool = True) -> AsyncIterator[KubeletDouble]:
    """A kubelet with a folder of its own: a short path, as a unix socket's has at most 107 characters."""
    root = Path(tempfile.mkdtemp(prefix="bcd-"))
    kubelet = KubeletDouble(root / "device-plugins")
    try:
        if started:
            await kubelet.start()
        yield kubelet
    finally:
        await kubelet.stop()
        shutil.rmtree(root)
