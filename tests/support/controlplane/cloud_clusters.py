# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The real cluster as an emulated cloud's one cluster: the cloud gives its endpoint out, and judges its tokens."""

from __future__ import annotations

from collections.abc import Callable

from ansible_collections.better_compute.fleet.emulators.kubernetes import ClusterUser

from .cluster import RealCluster

Authority = Callable[[str, str], ClusterUser | None]
"""Who a bearer token is on the cluster of that name: the cloud's own judgement, as its emulated APIs ask for it."""


class OneRealCluster:
    """Takes the place of an emulated cloud's Kubernetes APIs (`ClusterApis`)."""

    def __init__(self, real: RealCluster) -> None:
        """Arguments: real: empty."""
        self._real = real
        self._authority: Authority = lambda _token, _cluster: None
        self._cluster: str | None = None

    def let_judge(self, authority: Authority) -> None:
        """Have the API ask this cloud."""
        self._authority = authority
        self._real.let_judge(self._user)

    def start(self, cluster: str) -> tuple[str, str]:
        """The real cluster's URL and certificate authority, for the first cluster that asks and only for it."""
        assert self._cluster in (None, cluster), f"{cluster} asks for the real cluster, which is {self._cluster}"
        self._cluster = cluster
        return self._real.endpoint, self._real.ca_pem

    def stop(self, cluster: str) -> None:
        """Judge no more tokens for it."""
        if cluster == self._cluster:
            self._cluster = None

    def _user(self, token: str) -> ClusterUser | None:
        return None if self._cluster is None else self._authority(token, self._cluster)
