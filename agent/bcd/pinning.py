# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""TLS that trusts public keys and nothing else: a network backend for httpcore that looks before it speaks.

The check stands between the handshake and the first byte of HTTP, so that a wrong gateway never sees a token. The
handshake itself proves that the peer holds the certificate's private key; name, issuer and dates add nothing to a
pinned key.
"""

from __future__ import annotations

import functools
import hashlib
import hmac
import ssl
from collections.abc import Iterable
from typing import Any

import httpcore
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from .errors import WrongPin


def pin_of(certificate_der: bytes) -> bytes:
    """The SHA-256 of a certificate's SubjectPublicKeyInfo. Raises ValueError for what is no certificate."""
    key = x509.load_der_x509_certificate(certificate_der).public_key()
    return hashlib.sha256(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).digest()


@functools.cache
def pinned_context() -> ssl.SSLContext:
    """A client context that checks no chain and no name: to be used with :class:`PinnedBackend` only.

    One for the process: it holds nothing of a connection, and making one is most of what a new client costs.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


class PinnedBackend(httpcore.AsyncNetworkBackend):
    """Opens connections whose TLS ends unless the peer shows a pinned key."""

    def __init__(self, *, network: httpcore.AsyncNetworkBackend, pins: frozenset[bytes]) -> None:
        """Arguments: network: what opens connections; pins: the SHA-256 digests of the keys that may be shown."""
        self._network = network
        self._pins = pins

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's signature
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """A TCP connection whose `start_tls` checks the pins."""
        stream = await self._network.connect_tcp(host, port, timeout, local_address, socket_options)
        return _PinnedStream(stream, self._pins)


class _PinnedStream(httpcore.AsyncNetworkStream):
    """A TCP connection that can only become TLS to a pinned key: it neither reads nor writes by itself."""

    def __init__(self, stream: httpcore.AsyncNetworkStream, pins: frozenset[bytes]) -> None:
        self._stream = stream
        self._pins = pins

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's signature
    ) -> httpcore.AsyncNetworkStream:
        """Shake hands, then look at the key.

        Raises:
            WrongPin: the peer's key is not pinned. The connection is closed; nothing was sent over it.
        """
        try:
            stream = await self._stream.start_tls(ssl_context, server_hostname, timeout)
        except BaseException:
            # Also when we are told to stop in the middle of it, for which httpcore leaves the connection open.
            await self._stream.aclose()
            raise
        certificate = stream.get_extra_info("ssl_object").getpeercert(binary_form=True)
        try:
            shown = pin_of(certificate or b"")
        except ValueError:
            shown = b""
        if not any(hmac.compare_digest(shown, pin) for pin in self._pins):
            await stream.aclose()
            raise WrongPin(
                "the gateway's certificate has none of the pinned keys (BCD_PINS); nothing was sent to it. "
                "Either this is not the gateway, or its key was replaced before its new pin was given out"
            )
        return stream

    async def aclose(self) -> None:
        """Close the connection."""
        await self._stream.aclose()

    def get_extra_info(self, info: str) -> Any:
        """What httpcore asks of a connection, e.g. its socket."""
        return self._stream.get_extra_info(info)
