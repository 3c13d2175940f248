# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a cluster's API answers at all, to nobody in particular."""

from __future__ import annotations

import socket
import ssl
from urllib.parse import urlsplit

from ..model.errors import ClusterAccessDenied, ClusterUnreachable
from ..model.secret import Secret
from .api import ClusterApi
from .names import CLAIM_NAMESPACE
from .objects import read

_SECONDS = 3.0
"""For a connection, as ClusterApi allows it."""

_NOBODY = Secret("nobody")
"""The API refuses it: what is asked is whether it answers."""


def look(endpoint: str, ca_pem: str) -> None:
    """Ask for a namespace that every cluster has, as nobody. Changes nothing.

    Arguments:
        endpoint, ca_pem: see ClusterOutputs. Without a certificate the server's is not looked at, and nothing is sent.

    Raises:
        ClusterUnreachable: there is no answer, or none of the cluster's.
        ClusterError: the endpoint or the certificate is none.
    """
    if not ca_pem:
        _connect(endpoint)
        return
    with ClusterApi(endpoint=endpoint, ca_pem=ca_pem, token=_NOBODY) as api:
        try:
            read(api, "Namespace", CLAIM_NAMESPACE)
        except ClusterAccessDenied:
            return


def _connect(endpoint: str) -> None:
    parts = urlsplit(endpoint)
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    address = (parts.hostname or "", parts.port or 443)
    try:
        with (
            socket.create_connection(address, timeout=_SECONDS) as connection,
            context.wrap_socket(connection, server_hostname=parts.hostname),
        ):
            return
    except OSError as error:
        raise ClusterUnreachable(f"{endpoint}: {error.strerror or type(error).__name__}") from error
