# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tokens that were issued: the account's own for the API, and those for one cluster's Kubernetes API."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from typing import Final

from ..engine import Clock

ACCESS_CLUSTER: Final = "kubernetes:access_cluster"
SCOPES: Final = frozenset(
    {
        "kubernetes:create",
        "kubernetes:read",
        "kubernetes:update",
        "kubernetes:delete",
        ACCESS_CLUSTER,
        "droplet:read",
    }
)
"""Those that are asked for here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Issued:
    """Attributes: cluster: the id of the one that it is for; None for the API's."""

    scopes: frozenset[str]
    cluster: str | None
    ends: datetime | None


class Tokens:
    """Thread-safe; holds digests only."""

    def __init__(self, clock: Clock) -> None:
        """Arguments: clock: against which their life is judged."""
        self._clock = clock
        self._issued: dict[str, _Issued] = {}
        self._lock = Lock()

    def issue(self, *, scopes: Iterable[str] = SCOPES, seconds: float | None = None) -> str:
        """A token of the API. Arguments: seconds: its life; None for one that does not end."""
        ends = None if seconds is None else self._clock.now() + timedelta(seconds=seconds)
        return self._keep("dop_v1_", _Issued(scopes=frozenset(scopes), cluster=None, ends=ends))

    def issue_for_cluster(self, cluster: str, *, seconds: float) -> tuple[str, datetime]:
        """A token for a cluster's Kubernetes API, and when it ends. Each call makes another one."""
        ends = self._clock.now() + timedelta(seconds=seconds)
        return self._keep("", _Issued(scopes=frozenset(), cluster=cluster, ends=ends)), ends

    def revoke(self, token: str) -> None:
        """End a token now; one that is not known is no error."""
        with self._lock:
            self._issued.pop(_digest(token), None)

    def scopes(self, token: str) -> frozenset[str] | None:
        """What a token of the API reaches; None when it is none, or has ended."""
        found = self._find(token)
        return None if found is None or found.cluster is not None else found.scopes

    def cluster(self, token: str) -> str | None:
        """The id of the cluster that a token is for; None when it is for none, or has ended."""
        found = self._find(token)
        return None if found is None else found.cluster

    def _keep(self, prefix: str, issued: _Issued) -> str:
        token = prefix + secrets.token_hex(32)
        with self._lock:
            self._issued[_digest(token)] = issued
        return token

    def _find(self, token: str) -> _Issued | None:
        with self._lock:
            found = self._issued.get(_digest(token))
        ended = found is not None and found.ends is not None and found.ends <= self._clock.now()
        return None if ended else found


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
