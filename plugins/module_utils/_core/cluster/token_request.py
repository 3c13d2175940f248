# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tokens of the service accounts in `bc-access`: of a bounded life, and in memory only."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from ..model.errors import ClusterUnreachable
from ..model.secret import Secret
from . import objects
from .api import ClusterApi
from .names import ACCESS_NAMESPACE


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuedToken:
    """A service account's token.

    Attributes:
        expires_at: as the API says it: providers shorten long lives.
    """

    token: Secret = field(repr=False)
    expires_at: datetime


def request_token(api: ClusterApi, account: str, *, seconds: int) -> IssuedToken:
    """Ask for a token of a service account in `bc-access`.

    Arguments:
        seconds: how long it is to live, 600 and up.

    Raises:
        ClusterObjectMissing: there is no such account.
        ClusterUnreachable: no answer, or one without a token.
    """
    reply = api.request(
        "POST",
        f"{objects.path('ServiceAccount', account, ACCESS_NAMESPACE)}/token",
        body={
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"expirationSeconds": seconds},
        },
    )
    status = reply.get("status")
    token, ends = (status.get("token"), status.get("expirationTimestamp")) if isinstance(status, dict) else (None, None)
    if not isinstance(token, str) or not token:
        raise ClusterUnreachable("the Kubernetes API answered a TokenRequest without a token")
    try:
        expires_at = datetime.fromisoformat(str(ends))
    except ValueError:
        expires_at = None
    if expires_at is None or expires_at.tzinfo is None:
        raise ClusterUnreachable("the Kubernetes API answered a TokenRequest without the token's end")
    return IssuedToken(token=Secret(token), expires_at=expires_at)
