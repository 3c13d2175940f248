# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Google's client for one account: address, certificates and time-outs in one place. Made when first used."""

from __future__ import annotations

import threading
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ...model.errors import InvalidRequest
from ...model.first_import import ONE_IMPORTS
from .credentials import Tokens
from .settings import GkeSettings

if TYPE_CHECKING:
    from google.cloud.container_v1 import ClusterManagerClient

CALL_TIMEOUT_SECONDS = 15
"""GKE answers its slowest call, a create, within a few seconds. Well inside a 60 s lease."""

_GOOGLE = "https://container.googleapis.com"
_PORTS = {"https": 443, "http": 80}


class Clients:
    """GKE, and the access tokens that are shown to it. Safe to share between threads.

    Attributes:
        tokens: of the account's credential.
    """

    def __init__(self, *, settings: GkeSettings, tokens: Tokens) -> None:
        """Keep what the client is made with. Use :meth:`open`."""
        self._settings = settings
        self._making = threading.Lock()
        self.tokens = tokens

    @classmethod
    def open(cls, settings: GkeSettings) -> Clients:
        """Find the credential and get ready. Makes no call for `env` and `file` credentials.

        Raises:
            PermissionDenied: the credential's source is missing or incomplete.
            InvalidRequest: the CA file does not exist.
        """
        if settings.ca_file and not Path(settings.ca_file).is_file():
            raise InvalidRequest(f"the account's caFile {settings.ca_file} does not exist")
        return cls(settings=settings, tokens=Tokens.open(settings))

    @cached_property
    def gke(self) -> ClusterManagerClient:
        """GKE over gRPC. Importing Google's package takes seconds: so not before it is needed."""
        with ONE_IMPORTS:
            from google.cloud.container_v1 import ClusterManagerClient
            from google.cloud.container_v1.services.cluster_manager.transports import ClusterManagerGrpcTransport

        with self._making:
            return ClusterManagerClient(transport=ClusterManagerGrpcTransport(channel=self._channel()))

    def _channel(self) -> Any:
        import grpc

        address = urlsplit(self._settings.endpoint_url or _GOOGLE)
        host = address.hostname or ""
        target = f"{host}:{address.port or _PORTS.get(address.scheme, 443)}"
        # A cluster with many node pools is larger than gRPC's own limit; the client's own transport lifts it too.
        options: list[tuple[str, Any]] = [("grpc.max_receive_message_length", -1)]
        if self._settings.is_loopback:
            # A proxy cannot reach this machine's own loopback addresses.
            options.append(("grpc.enable_http_proxy", 0))
            if address.scheme == "http":
                return grpc.insecure_channel(target, options=options)
        elif address.scheme == "http":
            raise InvalidRequest(f"the account's endpointUrl {self._settings.endpoint_url} would show the token to all")
        roots = Path(self._settings.ca_file).read_bytes() if self._settings.ca_file else None
        return grpc.secure_channel(target, grpc.ssl_channel_credentials(root_certificates=roots), options=options)
