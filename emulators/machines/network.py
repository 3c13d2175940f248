# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A machine's network: real connections that a test can cut, all at once and until further notice."""

from __future__ import annotations

import ssl
from collections.abc import Iterable
from typing import Any

import httpcore


class CuttableNetwork(httpcore.AsyncNetworkBackend):
    """Opens connections while it is not cut.

    Attributes:
        is_cut: while true, nothing can be opened, and what is open fails at its next use.
    """

    def __init__(self) -> None:
        """Whole."""
        self.is_cut = False
        self._inner = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's signature
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Open a connection. Raises httpcore.ConnectError while cut."""
        if self.is_cut:
            raise httpcore.ConnectError("the network is cut")
        return _Stream(self, await self._inner.connect_tcp(host, port, timeout, local_address, socket_options))


class _Stream(httpcore.AsyncNetworkStream):
    """A connection over a network that may be cut."""

    def __init__(self, network: CuttableNetwork, stream: httpcore.AsyncNetworkStream) -> None:
        self._network = network
        self._stream = stream

    async def read(
        self,
        max_bytes: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's signature
    ) -> bytes:
        if self._network.is_cut:
            raise httpcore.ReadError("the network is cut")
        return await self._stream.read(max_bytes, timeout)

    async def write(
        self,
        buffer: bytes,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's signature
    ) -> None:
        if self._network.is_cut:
            raise httpcore.WriteError("the network is cut")
        await self._stream.write(buffer, timeout)

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's signature
    ) -> httpcore.AsyncNetworkStream:
        return _Stream(self._network, await self._stream.start_tls(ssl_context, server_hostname, timeout))

    async def aclose(self) -> None:
        await self._stream.aclose()

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
