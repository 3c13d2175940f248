# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The way into a cluster's Kubernetes API: a token that DOKS makes for whoever owns the API token."""

from __future__ import annotations

import base64
import contextlib
from datetime import datetime

from ...model.errors import InvalidRequest, Unavailable
from ...model.observed import BootstrapAccess, ObservedCluster
from ...model.secret import Secret
from .api import Kubernetes
from .calls import Calls

TOKEN_LIFE_SECONDS = 600
"""As long as the tokens that passes work with; left to itself DOKS makes one for seven days."""


def bootstrap(call: Calls, kubernetes: Kubernetes, cluster: ObservedCluster) -> BootstrapAccess:
    """Have a token made. One read; each makes another token.

    Raises:
        InvalidRequest: the cluster has no endpoint yet.
        NotFound: there is no such cluster.
        Unavailable: the answer lacks a token (as for clusters that have certificates instead, of before 2020).
    """
    if not cluster.outputs or not cluster.outputs.global_id:
        raise InvalidRequest(f"cluster {cluster.name!r} has no endpoint yet")
    reply = call(kubernetes.get_credentials, cluster.outputs.global_id, expiry_seconds=TOKEN_LIFE_SECONDS)
    access: BootstrapAccess | None = None
    with contextlib.suppress(KeyError, TypeError, ValueError):
        access = BootstrapAccess(
            endpoint=cluster.outputs.endpoint,
            ca_pem=base64.b64decode(reply["certificate_authority_data"], validate=True).decode("ascii"),
            token=Secret(reply["token"] or ""),
            expires_at=datetime.fromisoformat(reply["expires_at"]),
        )
    if access is None or not access.token.reveal() or access.expires_at.tzinfo is None:
        raise Unavailable(f"DigitalOcean gives no usable credential for cluster {cluster.name!r}")
    return access
