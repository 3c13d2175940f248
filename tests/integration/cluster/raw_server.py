# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A TLS server that answers whatever bytes a test gives it: for replies that no Kubernetes API would send."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ansible_collections.better_compute.fleet.emulators.kubernetes.certificates import make_server_context


@contextmanager
def answering(*replies: bytes) -> Iterator[tuple[str, str, list[bytes]]]:
    """Serve one connection for each reply and close it after; yields URL, certificate authority and what was sent."""
    context, ca_pem = make_server_context(cluster="raw", host="127.0.0.1")
    received: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=_serve, args=(listener, context, replies, received), daemon=True)
        thread.start()
        yield f"https://127.0.0.1:{listener.getsockname()[1]}", ca_pem, received
        # Wakes the thread when it still waits for a connection.
        listener.shutdown(socket.SHUT_RDWR)
        thread.join(timeout=10)


def _serve(listener: socket.socket, context: object, replies: tuple[bytes, ...], received: list[bytes]) -> None:
    for reply in replies:
        try:
            connection, _address = listener.accept()
        except OSError:
            return
        with suppress(OSError), connection, context.wrap_socket(connection, server_side=True) as tls:  # type: ignore[attr-defined] # an ssl context
            received.append(tls.recv(65536))
            tls.sendall(reply)
