# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plugin beside the heartbeats: it begins and ends with them, and no fault of it reaches them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from ..host import Host
from ..serving import Served
from ..settings import Settings

logger = logging.getLogger(__name__)


@asynccontextmanager
async def device_plugin(*, settings: Settings, served: Served, host: Host) -> AsyncIterator[None]:
    """Serve the kubelet for as long as the context lasts; on a machine without one, do nothing."""
    folder = settings.device_plugin_dir or host.device_plugins
    if folder is None:
        yield
        return
    task = asyncio.create_task(_plugin(folder=folder, settings=settings, served=served, host=host))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _plugin(*, folder: Path, settings: Settings, served: Served, host: Host) -> None:
    try:
        # Here, so that what has no kubelet does without gRPC, and one that cannot be loaded costs no heartbeat.
        from .contents import Platform
        from .devices import Devices
        from .registration import Registration

        devices = Devices(served=served, host=host)
        registration = Registration(
            folder=folder,
            resource_name=settings.resource_name,
            devices=devices,
            platform=Platform(
                control_plane_url=settings.control_plane_url,
                driver_folder=str(settings.driver_dir) if settings.driver_dir else None,
            ),
            clock=host.clock,
        )
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(devices.follow())
            tasks.create_task(registration.keep())
    except Exception:
        logger.exception("there is no device plugin: no pod of this machine gets a GPU")
