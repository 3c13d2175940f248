# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The answers to the kubelet's calls."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from typing import Any

import grpc

from . import wire
from .contents import DRIVER_MOUNT, Given, NotToBeGiven, Platform, advertised, given, preferred
from .devices import Devices

logger = logging.getLogger(__name__)

OPTIONS = {"pre_start_required": False, "get_preferred_allocation_available": True}


class Service:
    """`v1beta1.DevicePlugin` for one kubelet.

    Attributes:
        followed: a kubelet has asked for the list.
        left: it follows the list no more.
    """

    def __init__(self, *, devices: Devices, platform: Platform) -> None:
        """Nobody has called yet."""
        self.followed = False
        self.left = False
        self._devices = devices
        self._platform = platform

    def handlers(self) -> Any:
        """What a gRPC server is given."""
        unary = {
            "GetDevicePluginOptions": (self._options, wire.Empty),
            "GetPreferredAllocation": (self._preferred, wire.PreferredAllocationRequest),
            "Allocate": (self._allocate, wire.AllocateRequest),
        }
        calls = {
            name: grpc.unary_unary_rpc_method_handler(
                behaviour, request_deserializer=request.FromString, response_serializer=_to_bytes
            )
            for name, (behaviour, request) in unary.items()
        }
        calls["ListAndWatch"] = grpc.unary_stream_rpc_method_handler(
            self._list_and_watch, request_deserializer=wire.Empty.FromString, response_serializer=_to_bytes
        )
        return grpc.method_handlers_generic_handler(wire.DEVICE_PLUGIN, calls)

    async def _options(self, _request: Any, _context: Any) -> Any:
        return wire.DevicePluginOptions(**OPTIONS)

    async def _list_and_watch(self, _request: Any, _context: Any) -> AsyncIterator[Any]:
        """The whole list at once, and again whenever it has changed."""
        self.followed = True
        sent = None
        try:
            while True:
                listed = advertised(self._devices.supply)
                if listed != sent:
                    sent = listed
                    logger.info("advertising %d devices: %s", len(listed), ", ".join(d.id for d in listed) or "-")
                    yield wire.ListAndWatchResponse(
                        devices=[
                            wire.Device(ID=device.id, health=wire.HEALTHY if device.healthy else wire.UNHEALTHY)
                            for device in listed
                        ]
                    )
                    # What changed while it was sent was told to nobody.
                    continue
                await self._devices.changes.wait()
        finally:
            self.left = True

    async def _preferred(self, request: Any, _context: Any) -> Any:
        return wire.PreferredAllocationResponse(
            container_responses=[
                wire.ContainerPreferredAllocationResponse(
                    deviceIDs=preferred(
                        asked.available_deviceIDs,
                        needed=asked.must_include_deviceIDs,
                        size=asked.allocation_size,
                        bookings=self._devices.supply.bookings,
                    )
                )
                for asked in request.container_requests
            ]
        )

    async def _allocate(self, request: Any, context: Any) -> Any:
        supply = self._devices.supply
        try:
            containers = [given(asked.devices_ids, supply, self._platform) for asked in request.container_requests]
        except NotToBeGiven as error:
            logger.warning("a pod was refused: %s", error)
            await context.abort(grpc.StatusCode.FAILED_PRECONDITION, str(error))
            raise  # abort has raised already
        return wire.AllocateResponse(container_responses=[_container(container) for container in containers])


def _container(container: Given) -> Any:
    return wire.ContainerAllocateResponse(
        envs=container.variables,
        mounts=[
            wire.Mount(container_path=DRIVER_MOUNT, host_path=folder, read_only=True)
            for folder in (container.driver_folder,)
            if folder
        ],
        devices=[wire.DeviceSpec(container_path=node, host_path=node, permissions="rw") for node in container.nodes],
    )


def _to_bytes(message: Any) -> bytes:
    data: bytes = message.SerializeToString()
    return data
