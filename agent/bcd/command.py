# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line: `bcd join` for the pod's init container, `bcd run` for its main one.

`execute` is the whole of either command for a given environment and machine; emulated machines call it, too.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from typing import NoReturn

from . import __version__
from .device_plugin.task import device_plugin
from .errors import SettingsError
from .gateway import Gateway
from .host import Host
from .joining import become_joined
from .serving import Served, serve
from .settings import DEVICE_PLUGINS, Settings, Variable, read_settings
from .state import StateFolder

SETTINGS_EXIT_CODE = 2
"""The environment is wrong: another try with the same environment ends the same way."""

JOIN = "join"
RUN = "run"

logger = logging.getLogger(__name__)


async def execute(command: str, *, environ: Mapping[str, str], host: Host) -> int:
    """Do what one of the pod's containers is for.

    Arguments:
        command: `join` (ends with 0 once the machine is a node of the pool, or has been one and nobody denies it) or
            `run` (does not end by itself).
        environ: the container's environment.
        host: the machine.

    Returns:
        The exit code.
    """
    try:
        settings = read_settings(environ)
    except SettingsError as error:
        logger.critical("the environment cannot be used:\n%s", error)
        return SETTINGS_EXIT_CODE
    state = StateFolder(settings.state_dir)
    gateway = Gateway(settings, host)
    try:
        if command == RUN:
            await _run(settings=settings, state=state, gateway=gateway, host=host)
        await become_joined(
            state=state,
            gateway=gateway,
            token_file=settings.join_token_file,
            node_name=settings.node_name,
            host=host,
        )
    finally:
        await gateway.aclose()
    return 0


async def _run(*, settings: Settings, state: StateFolder, gateway: Gateway, host: Host) -> NoReturn:
    # The init container has joined. A main container that is no longer known joins again by itself: the kubelet would
    # restart it alone and never run the init container again.
    identity = state.identity()
    served = Served(state=state, node_id=identity.node_id if identity else "")
    # What is booked is served whoever the machine is to the gateway, also while it has to join again.
    async with device_plugin(settings=settings, served=served, host=host):
        while True:
            if identity is None:
                identity = await become_joined(
                    state=state,
                    gateway=gateway,
                    token_file=settings.join_token_file,
                    node_name=settings.node_name,
                    host=host,
                )
            served.known_as(identity.node_id)
            await serve(identity=identity, served=served, gateway=gateway, node_name=settings.node_name, host=host)
            identity = None


def main(argv: Sequence[str] | None = None) -> int:
    """Run `bcd` as a process of its own: log to standard error, end quietly on SIGTERM and SIGINT."""
    parser = argparse.ArgumentParser(
        prog="bcd",
        description="The agent on every node of a pool.",
        epilog=f"environment variables:\n{Variable.table()}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"bcd {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser(JOIN, help="join the pool, once; for the pod's init container")
    commands.add_parser(RUN, help="send heartbeats and serve what is booked; for the pod's main container")
    arguments = parser.parse_args(argv)
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    with contextlib.suppress(asyncio.CancelledError):
        return asyncio.run(_until_stopped(arguments.command))
    return 0


async def _until_stopped(command: str) -> int:
    task = asyncio.current_task()
    if task is None:
        raise RuntimeError("not in a task")
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    return await execute(command, environ=os.environ, host=Host(device_plugins=DEVICE_PLUGINS))
