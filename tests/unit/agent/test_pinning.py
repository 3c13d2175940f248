# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Connections to the gateway are left by nobody: not even by a bcd that is told to stop while it shakes hands."""

from __future__ import annotations

import asyncio

import httpcore
import pytest

from bcd.pinning import PinnedBackend, pinned_context


def test_a_handshake_that_is_cut_short_leaves_no_connection_behind() -> None:
    async def cut_short() -> bytes:
        begun: asyncio.Future[asyncio.StreamReader] = asyncio.get_running_loop().create_future()

        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readexactly(5)  # the head of its first TLS record, to which nothing is said
            begun.set_result(reader)
            await closed.wait()
            writer.close()

        closed = asyncio.Event()
        server = await asyncio.start_server(accept, "127.0.0.1", 0)
        async with server:
            backend = PinnedBackend(network=httpcore.AnyIOBackend(), pins=frozenset())
            stream = await backend.connect_tcp("127.0.0.1", server.sockets[0].getsockname()[1])
            handshake = asyncio.create_task(stream.start_tls(pinned_context(), "gateway"))
            reader = await begun
            handshake.cancel()
            with pytest.raises(asyncio.CancelledError):
                await handshake
            left = await asyncio.wait_for(reader.read(), timeout=10)  # to the end: it is closed
            closed.set()
            return left

    assert asyncio.run(cut_short())
