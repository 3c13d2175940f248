# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the gateway: uvicorn with the gateway's certificate, in a thread of its own."""

from __future__ import annotations

import asyncio
import socket
import threading
from types import TracebackType
from typing import Self

import uvicorn

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.clock import Clock
from ansible_collections.better_compute.fleet.plugins.module_utils._core.nodes.heartbeat import Heartbeats
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import Store

from .application import Gateway
from .certificate import Certificate

_IDLE_SECONDS = 90
"""An idle connection stays open at least 75 s (wire), so that a heartbeat costs no handshake."""

_GOODBYE_SECONDS = 2
"""For requests under way when the gateway stops; long polls are cut, and bcd comes again."""

_HEADER_BYTES = 8 * 1024
"""Of a request (wire: x-limits)."""


class GatewayServer:
    """The gateway on one address, from construction to `close`. A context manager.

    Attributes:
        port: where it listens: the free one that was taken when 0 was asked for.
        heartbeats: what it heard: to be flushed by whoever runs it, every nodes.heartbeat.FLUSH_SECONDS.
    """

    def __init__(self, *, store: Store, clock: Clock, certificate: Certificate, host: str, port: int) -> None:
        """Listen, and return once it answers.

        Raises:
            OSError: the address cannot be listened on.
        """
        self.heartbeats = Heartbeats(clock=clock)
        application = Gateway(store=store, clock=clock, heartbeats=self.heartbeats).application()
        self._socket = socket.create_server((host, port), backlog=2048)
        self.port: int = self._socket.getsockname()[1]
        config = uvicorn.Config(
            application,
            ssl_certfile=certificate.certificate_file,
            ssl_keyfile=certificate.key_file,
            http="h11",
            h11_max_incomplete_event_size=_HEADER_BYTES,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=_IDLE_SECONDS,
            timeout_graceful_shutdown=_GOODBYE_SECONDS,
        )
        self._server = _Server(config)
        self._thread = threading.Thread(target=self._run, name="gateway", daemon=True)
        self._thread.start()
        self._server.answering.wait()

    def __enter__(self) -> Self:
        """The gateway itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop."""
        self.close()

    @property
    def answers(self) -> bool:
        """Whether it still runs."""
        return self._thread.is_alive()

    def close(self) -> None:
        """Answer nobody any more; returns when the last connection is shut."""
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()

    def _run(self) -> None:
        try:
            asyncio.run(self._server.serve(sockets=[self._socket]))
        finally:
            self._server.answering.set()


class _Server(uvicorn.Server):
    """uvicorn's server that says when it answers, and leaves signals to the daemon."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.answering = threading.Event()

    def install_signal_handlers(self) -> None:
        """Leave the process's signals alone."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self.answering.set()
