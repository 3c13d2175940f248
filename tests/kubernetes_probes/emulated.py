# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The emulated API as a subject, on virtual time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from ansible_collections.better_compute.fleet.emulators.engine import Engine, VirtualClock
from ansible_collections.better_compute.fleet.emulators.kubernetes import ClusterUser, EmulatedCluster, KubernetesApis

from .subject import CREATE, NAMESPACES, ApiSubject, at, deletion, manifest
from .tokens import token_request

_ADMIN_TOKEN = "admin"
_LONGEST_WAIT_SECONDS = 60


class _OneAdministrator:
    """A cloud that knows one token."""

    def user(self, token: str, cluster: str) -> ClusterUser | None:
        return ClusterUser(name="admin", admin=True) if token == _ADMIN_TOKEN else None


class _Keeper:
    """Keeps the emulated cluster."""

    subject: ApiSubject

    def __init__(self, cluster: EmulatedCluster, clock: VirtualClock) -> None:
        self._cluster = cluster
        self._clock = clock

    def make_node(self, name: str, labels: Mapping[str, str]) -> None:
        self._cluster.put_node(name, labels=labels)

    def remove_node(self, name: str) -> None:
        self._cluster.remove_node(name)

    def stuck_namespace(self, name: str) -> None:
        # Time stands still here until a probe waits.
        self.subject.send("POST", NAMESPACES, manifest("Namespace", name), query=CREATE)
        self.subject.send("DELETE", f"{NAMESPACES}/{name}", deletion())

    def forget_revisions(self) -> None:
        self._clock.advance(301)

    def expired_token(self, namespace: str, account: str, uid: str) -> str:
        path = f"{at(namespace, 'serviceaccounts', account)}/token"
        token = str(self.subject.send("POST", path, token_request()).body["status"]["token"])
        self._clock.advance(601)
        return token

    def wait_until(self, done: Callable[[], bool]) -> None:
        for _second in range(_LONGEST_WAIT_SECONDS):
            if done():
                return
            self._clock.advance(1)
        raise TimeoutError


@contextmanager
def emulated_subject() -> Iterator[ApiSubject]:
    """A fresh emulated API."""
    clock = VirtualClock()
    engine = Engine(clock)
    apis = KubernetesApis(engine=engine, authenticator=_OneAdministrator())
    endpoint, ca_pem = apis.start("gpu")
    cluster = apis.cluster("gpu")
    assert cluster is not None
    keeper = _Keeper(cluster, clock)
    keeper.subject = ApiSubject(endpoint=endpoint, ca_pem=ca_pem, token=_ADMIN_TOKEN, keeper=keeper)
    try:
        yield keeper.subject
    finally:
        keeper.subject.close()
        apis.close()
        engine.close()
