# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real kube-apiserver as a subject: a control plane of tests/support/controlplane."""

from __future__ import annotations

import base64
import http.client
import json
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from ansible_collections.better_compute.fleet.tests.support.controlplane.cluster import RealCluster
from ansible_collections.better_compute.fleet.tests.support.controlplane.server import ControlPlane

from .subject import NAMESPACES, ApiSubject

_ISSUER = "https://kubernetes.default.svc"
_HOUR_SECONDS = 3600
_LONGEST_WAIT_SECONDS = 60.0
_POLL_SECONDS = 0.1


class _Keeper:
    """Keeps the real cluster."""

    def __init__(self, plane: ControlPlane, cluster: RealCluster) -> None:
        self._plane = plane
        self._cluster = cluster

    def make_node(self, name: str, labels: Mapping[str, str]) -> None:
        self._cluster.make_node(name, labels=labels)

    def remove_node(self, name: str) -> None:
        self._cluster.remove_node(name)

    def stuck_namespace(self, name: str) -> None:
        # A finalizer of nobody's, which nobody takes out.
        body = {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": name},
            "spec": {"finalizers": ["kubernetes", "example.com/stuck"]},
        }
        assert self._cluster.admin.send("POST", NAMESPACES, body=body).status == 201
        assert self._cluster.admin.send("DELETE", f"{NAMESPACES}/{name}").status == 200

    def forget_revisions(self) -> None:
        etcd = f"{self._plane.folder}/etcd-client.sock"
        revision = _etcd(etcd, "/v3/kv/range", {"key": base64.b64encode(b"/").decode()})["header"]["revision"]
        _etcd(etcd, "/v3/kv/compaction", {"revision": revision, "physical": True})

    def expired_token(self, namespace: str, account: str, uid: str) -> str:
        now = int(time.time())
        claims = {
            "iss": _ISSUER,
            "aud": [_ISSUER],
            "sub": f"system:serviceaccount:{namespace}:{account}",
            "iat": now - 2 * _HOUR_SECONDS,
            "nbf": now - 2 * _HOUR_SECONDS,
            "exp": now - _HOUR_SECONDS,
            "kubernetes.io": {"namespace": namespace, "serviceaccount": {"name": account, "uid": uid}},
        }
        return _signed(claims, self._plane.credentials.account_key)

    def wait_until(self, done: Callable[[], bool]) -> None:
        deadline = time.monotonic() + _LONGEST_WAIT_SECONDS
        while not done():
            if time.monotonic() > deadline:
                raise TimeoutError
            time.sleep(_POLL_SECONDS)


@contextmanager
def real_subject(plane: ControlPlane, cluster: RealCluster) -> Iterator[ApiSubject]:
    """The real API. What probes leave there is the cluster's keeper's to take away."""
    subject = ApiSubject(
        endpoint=cluster.endpoint,
        ca_pem=cluster.ca_pem,
        token=cluster.admin_token,
        keeper=_Keeper(plane, cluster),
    )
    with closing(subject):
        yield subject


def _signed(claims: Mapping[str, Any], key: rsa.RSAPrivateKey) -> str:
    """A JSON Web Token (RS256)."""
    parts = [base64.urlsafe_b64encode(json.dumps(one).encode()).rstrip(b"=") for one in ({"alg": "RS256"}, claims)]
    signature = key.sign(b".".join(parts), padding.PKCS1v15(), hashes.SHA256())
    return b".".join([*parts, base64.urlsafe_b64encode(signature).rstrip(b"=")]).decode()


def _etcd(path: str, call: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """Call etcd's JSON gateway at its socket."""
    connection = http.client.HTTPConnection("localhost")
    connection.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with closing(connection):
        connection.sock.connect(path)
        connection.request("POST", call, json.dumps(body), {"Content-Type": "application/json"})
        response = connection.getresponse()
        answer: dict[str, Any] = json.loads(response.read())
    assert response.status == 200, answer
    return answer
