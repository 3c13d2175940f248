# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a server of the daemon's: uvicorn with the daemon's certificate, in a thread of its own."""

from __future__ import annotations

import asyncio
import asyncio.sslproto
import errno
import logging
import socket
import threading
import time
from types import TracebackType
from typing import Any, Protocol, Self

import uvicorn
from starlette.types import ASGIApp

from ..errors import CannotListen, NoCertificate
from .certificate import Certificate
from .listening import Listener, listen
from .protocol import HEAD_SECONDS, WireProtocol

_LOG = logging.getLogger(__name__)

_IDLE_SECONDS = 90
"""An idle connection stays open at least 75 s (wire), so that a heartbeat costs no handshake."""

_GOODBYE_SECONDS = 2
"""For requests under way when the server stops; long polls are answered at once, and bcd comes again."""

STUCK_SECONDS = 60.0
"""An event loop that has not come round for so long does not any more: it does every 0.1 s."""

_CUT_SECONDS = 0.05
"""For the event loop to close what was cut: a few of its rounds."""

_TLS_READ_BYTES = 4 * 1024
"""What asyncio's TLS reads at once, which each connection keeps a buffer for. asyncio's own 256 KiB would be 2.6 GB for
5,000 nodes with two connections; a heartbeat has half a KiB, a join one or two, and longer ones are read in turns."""

_BACKLOG = 2048
"""Connections that wait to be accepted: every node at once, after a restart."""


class Served(Protocol):
    """What a server serves: lives in its event loop."""

    def application(self) -> ASGIApp:
        """The ASGI application."""

    def stop_waiting(self) -> None:
        """Answer now whoever is kept waiting. Called in the event loop, once the server stops."""

    def close(self) -> None:
        """Nothing is asked any more."""


class WebServer:
    """A server on one address, from construction to `close`. A context manager.

    Attributes:
        port: where it listens: the free one that was taken when 0 was asked for.
    """

    def __init__(self, served: Served, *, name: str, certificate: Certificate, host: str, port: int) -> None:
        """Listen, and return once it answers.

        Arguments:
            name: what it is, for logs and errors.

        Raises:
            NoCertificate: key and certificate cannot be read, or do not belong together.
            CannotListen: the address cannot be listened on.
        """
        self._name = name
        self._served = served
        config = _config(served, certificate)
        self._socket = _listen(name, host, port)
        self.port: int = self._socket.getsockname()[1]
        self._server = _Server(config, served)
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()
        self._server.begun.wait()
        if not self._server.started:
            self.close()
            raise CannotListen(f"the {name} cannot answer on {host}:{port}: see the log")

    def __enter__(self) -> Self:
        """The server itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop."""
        self.close()

    @property
    def answers(self) -> bool:
        """Whether it still runs, and its event loop comes round."""
        return self._thread.is_alive() and time.monotonic() - self._server.came_round_at < STUCK_SECONDS

    def close(self) -> None:
        """Answer nobody any more; returns when the last connection is shut."""
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()
        self._served.close()

    def _run(self) -> None:
        try:
            with asyncio.Runner(loop_factory=_Loop) as runner:
                runner.run(self._server.serve(sockets=[self._socket]))
        except Exception:  # noqa: BLE001 -- a thread's last edge: `answers` says no from here on
            _LOG.exception("the %s has ended", self._name)
        finally:
            self._server.begun.set()


class _Server(uvicorn.Server):
    """uvicorn's server that says when it has begun, and keeps nobody waiting when it stops."""

    def __init__(self, config: uvicorn.Config, served: Served) -> None:
        super().__init__(config)
        self.begun = threading.Event()
        self.came_round_at = time.monotonic()
        self._served = served

    async def on_tick(self, counter: int) -> bool:
        self.came_round_at = time.monotonic()
        return await super().on_tick(counter)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self.begun.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._served.stop_waiting()
        await super().shutdown(sockets=sockets)
        for connection in self.server_state.connections:
            connection.transport.abort()
        await asyncio.sleep(_CUT_SECONDS)


def _config(served: Served, certificate: Certificate) -> uvicorn.Config:
    # Of the whole process, because asyncio takes it from the class: nothing else in it speaks TLS through asyncio.
    asyncio.sslproto.SSLProtocol.max_size = _TLS_READ_BYTES
    config = uvicorn.Config(
        served.application(),
        ssl_certfile=certificate.certificate_file,
        ssl_keyfile=certificate.key_file,
        http=WireProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=_BACKLOG,
        timeout_keep_alive=_IDLE_SECONDS,
        timeout_graceful_shutdown=_GOODBYE_SECONDS,
    )
    try:
        config.load()
        if config.ssl is not None:
            # bcd resumes no session: tickets would be two more messages of each handshake, and memory.
            config.ssl.num_tickets = 0
    except OSError as error:  # ssl.SSLError is one
        raise NoCertificate(
            f"the gateway's certificate {certificate.certificate_file} and its key {certificate.key_file} cannot be "
            f"used: {error} ([gateway] certificate_file and key_file, or what was made in state_dir without them)"
        ) from error
    return config


def _listen(name: str, host: str, port: int) -> Listener:
    try:
        return listen(host, port, backlog=_BACKLOG)
    except OSError as error:
        # Python adds the address, which stands here already.
        reason = (error.strerror or str(error)).partition(" (while")[0]
        raise CannotListen(
            f"the {name} cannot listen on {host}:{port}: {reason} ({_cure(error, section=f'[{name.lower()}]')})"
        ) from error


def _cure(error: OSError, *, section: str) -> str:
    """What to change, and where. The servers are called as the sections of the settings are."""
    if error.errno == errno.EADDRINUSE:
        return f"end who listens there, or set another listen_port in {section} of the settings"
    if error.errno == errno.EACCES:
        return f"set a listen_port above 1023 in {section} of the settings, or let this user listen below"
    return f"set a listen_host of this host in {section} of the settings"


class _Loop(asyncio.SelectorEventLoop):
    """An event loop whose servers wait for a handshake as long as for a head; asyncio's own is a minute."""

    async def create_server(self, *args: Any, **options: Any) -> asyncio.Server:
        return await super().create_server(*args, **{"ssl_handshake_timeout": HEAD_SECONDS, **options})
