# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a cluster's API answers at all, to nobody in particular."""

from __future__ import annotations

import ssl
from http.client import HTTPException, HTTPSConnection
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

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
    """A connection with TLS, through the environment's proxy where it names one, as ClusterApi takes it."""
    parts = urlsplit(endpoint)
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    host, port = parts.hostname or "", parts.port or 443
    proxy = urlsplit(getproxies().get("https", "")) if not proxy_bypass(host) else urlsplit("")
    near = (proxy.hostname, proxy.port or 80) if proxy.hostname else (host, port)
    connection = HTTPSConnection(*near, timeout=_SECONDS, context=context)
    if proxy.hostname:
        connection.set_tunnel(host, port)
    try:
        connection.connect()
    except (OSError, HTTPException) as error:
        raise ClusterUnreachable(f"{endpoint}: {getattr(error, 'strerror', None) or type(error).__name__}") from error
    finally:
        connection.close()
