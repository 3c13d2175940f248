# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Access to a cluster's own Kubernetes API: each call makes a new token, and every token is an administrator's."""

from __future__ import annotations

import base64
from typing import Any, Final

from .records import Cluster, stamp
from .refusals import invalid, not_found
from .state import State

_DEFAULT_SECONDS: Final = 7 * 24 * 3600


def issue(state: State, cluster: Cluster, *, expiry_seconds: str) -> dict[str, Any]:
    """GET …/credentials; 404 until the control plane has answered.

    Arguments:
        expiry_seconds: as the query has it; empty or 0 for seven days.
    """
    if not cluster.endpoint:
        raise not_found()
    if not (expiry_seconds or "0").isdecimal():
        raise invalid("invalid expiry_seconds")
    seconds = int(expiry_seconds or 0) or _DEFAULT_SECONDS
    token, ends = state.tokens.issue_for_cluster(cluster.id, seconds=seconds)
    return {
        "server": cluster.endpoint,
        "certificate_authority_data": base64.b64encode(cluster.ca_pem.encode()).decode(),
        "client_certificate_data": None,
        "client_key_data": None,
        "token": token,
        "expires_at": stamp(ends),
    }


def user(state: State, token: str, api_name: str) -> str | None:
    """Who a token is on a cluster's API; None when it is none of DigitalOcean's for that cluster, or has ended."""
    cluster_id = state.tokens.cluster(token)
    if cluster_id is None:
        return None
    with state.changing():
        cluster = state.clusters.get(cluster_id)
        return None if cluster is None or cluster.api_name != api_name else f"do:{cluster_id}:admin"
