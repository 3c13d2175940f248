# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How many connections there may be, in all and from one source: counted where they are accepted, before any TLS.

A whole fleet may come from one address (a NAT), and so may an attacker. So no fixed number tells them apart: each may
have most of what is left, and somebody else always gets in.
"""

from __future__ import annotations

import logging
import resource
import socket
import time
from collections import Counter
from typing import Any

from .sources import source

_LOG = logging.getLogger(__name__)

MOST_CONNECTIONS = 65_536
"""At once, at about 50 KB each; less where the process may open fewer files."""

_OTHER_FILES = 1_024
"""Left of the process's files for the database, passes and everything else."""

_SHARE = 3
"""A source has at most so many times what is free: three quarters of all by itself. 5,000 nodes behind one address have
10,000 connections (wire: two each)."""

_TOLD_EVERY_SECONDS = 60.0


class Connections:
    """Those of one listener. Lives in its event loop's thread."""

    def __init__(self, *, most: int) -> None:
        """There are none. Arguments: most: at once."""
        self._most = most
        self._by_source: Counter[str] = Counter()
        self._told_at: float | None = None

    def begin(self, came_from: str) -> bool:
        """A connection wants to begin. Returns whether it may."""
        if self._by_source[came_from] < _SHARE * (self._most - self._by_source.total()):
            self._by_source[came_from] += 1
            return True
        if not self._by_source[came_from]:
            del self._by_source[came_from]
        now = time.monotonic()
        if self._told_at is None or now - self._told_at >= _TOLD_EVERY_SECONDS:
            self._told_at = now
            _LOG.warning("too many connections: new ones are closed", extra={"address": came_from})
        return False

    def end(self, came_from: str) -> None:
        """One of this source has ended."""
        self._by_source[came_from] -= 1
        if not self._by_source[came_from]:
            del self._by_source[came_from]

    @property
    def count(self) -> int:
        """How many there are."""
        return self._by_source.total()


class Listener(socket.socket):
    """A listening socket that closes at once what may not begin."""

    connections: Connections

    def accept(self) -> tuple[socket.socket, Any]:
        """The next connection that may begin. Raises BlockingIOError when none waits, as every socket that is asked
        by an event loop.
        """
        while True:
            plain, address = super().accept()
            came_from = source(address[0])
            if self.connections.begin(came_from):
                return _Counted(plain, connections=self.connections, came_from=came_from), address
            plain.close()


class _Counted(socket.socket):
    """An accepted connection, counted until it is closed."""

    def __init__(self, plain: socket.socket, *, connections: Connections, came_from: str) -> None:
        super().__init__(plain.family, plain.type, plain.proto, fileno=plain.detach())
        self._counted: tuple[Connections, str] | None = connections, came_from

    def close(self) -> None:
        """Close it; how often does not matter."""
        super().close()
        if self._counted is not None:
            (connections, came_from), self._counted = self._counted, None
            connections.end(came_from)


def listen(host: str, port: int, *, backlog: int) -> Listener:
    """Listen on an address.

    Raises:
        OSError: it cannot be listened on.
    """
    with socket.create_server((host, port), family=_family(host), backlog=backlog) as plain:
        listener = Listener(plain.family, plain.type, plain.proto, fileno=plain.detach())
    files, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    listener.connections = Connections(most=max(1, min(MOST_CONNECTIONS, files - _OTHER_FILES)))
    return listener


def try_address(host: str, port: int) -> None:
    """Find out whether an address could be listened on, without listening: a daemon that begins meanwhile still can.

    Raises:
        OSError: it cannot.
    """
    with socket.socket(_family(host), socket.SOCK_STREAM) as tried:
        # As create_server: what is left of earlier connections is no hindrance, and IPv4 has a socket of its own.
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if tried.family == socket.AF_INET6:
            tried.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        tried.bind((host, port))


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET
