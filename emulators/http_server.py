# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An HTTP server on loopback in a thread of its own: what the emulated clouds' APIs and the world's control are on."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterable
from functools import partial
from threading import Thread
from typing import Any, Final, TypeAlias

from werkzeug.serving import WSGIRequestHandler, make_server

HOST: Final = "127.0.0.1"

_POLL_SECONDS: Final = 0.02
"""How soon the server notices that it is to stop."""

Environ: TypeAlias = dict[str, Any]
StartResponse: TypeAlias = Callable[[str, list[tuple[str, str]]], object]
Application: TypeAlias = Callable[[Environ, StartResponse], Iterable[bytes]]


class _Handler(WSGIRequestHandler):
    """Quiet, with connections that stay open and answers that leave at once."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log(self, type: str, message: str, *args: object) -> None:  # noqa: A002 - werkzeug's name
        """Say nothing: the request log knows it all."""


class HttpServer:
    """Serves a WSGI application from `start` to `stop`, on a port that it has from the beginning.

    Attributes:
        url: where it listens.
    """

    def __init__(self, application: Application, *, name: str, tls: ssl.SSLContext | None = None) -> None:
        """Listen on a free loopback port.

        Arguments:
            name: the thread's.
            tls: with a certificate for HOST; None for plain HTTP.
        """
        self._server = make_server(HOST, 0, application, threaded=True, request_handler=_Handler, ssl_context=tls)
        serve = partial(self._server.serve_forever, poll_interval=_POLL_SECONDS)
        self._thread = Thread(target=serve, name=name, daemon=True)
        self.url = f"http{'s' if tls else ''}://{HOST}:{self._server.server_port}"

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def stop(self) -> None:
        """Answer nobody any more."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
