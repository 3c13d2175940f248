# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Kubernetes API that probes are asked of: how to send to it, and what only its keeper can do."""

from __future__ import annotations

import http.client
import json
import secrets
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import urlencode, urlsplit

JSON = "application/json"
APPLY_PATCH = "application/apply-patch+yaml"
MERGE_PATCH = "application/merge-patch+json"
METADATA_ONLY = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

NAMESPACES = "/api/v1/namespaces"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
BINDINGS = f"{RBAC}/clusterrolebindings"
NODES = "/api/v1/nodes"

_TIMEOUT_SECONDS = 30.0
_RUN_BYTES = 4


class Keeper(Protocol):
    """What a probe needs done that no request of the product does."""

    def make_node(self, name: str, labels: Mapping[str, str]) -> None:
        """Register a Node."""

    def remove_node(self, name: str) -> None:
        """Take it out again."""

    def stuck_namespace(self, name: str) -> None:
        """Make a namespace and delete it so that it stays in Terminating for as long as the probe runs."""

    def forget_revisions(self) -> None:
        """Have all revisions forgotten but the last: lists that are under way cannot go on."""

    def expired_token(self, namespace: str, account: str, uid: str) -> str:
        """A token of a service account that ended a while ago, signed as it should be."""

    def wait_until(self, done: Callable[[], bool]) -> None:
        """Let time pass until this holds.

        Raises:
            TimeoutError: it never does.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came back: the HTTP status, and the body's object (the text where it is none)."""

    code: int
    body: Any

    @property
    def uid(self) -> str:
        """The uid of the object in the body."""
        return str(self.body["metadata"]["uid"])

    @property
    def version(self) -> str:
        """The resource version of the object in the body."""
        return str(self.body["metadata"]["resourceVersion"])


@dataclass(kw_only=True)
class ApiSubject:
    """One API, for one probe.

    Attributes:
        token: of a user who may do everything.
        run: stands in every name that the probe makes, so that probes never meet.
        asked: methods and paths of what was sent.
    """

    endpoint: str
    ca_pem: str
    token: str = field(repr=False)
    keeper: Keeper
    run: str = field(default_factory=lambda: secrets.token_hex(_RUN_BYTES))
    asked: set[tuple[str, str]] = field(default_factory=set)
    _connection: http.client.HTTPSConnection | None = field(default=None, repr=False)

    def send(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        query: Mapping[str, str | int] | None = None,
        content_type: str = JSON,
        accept: str = JSON,
        token: str | None = None,
    ) -> Reply:
        """Send one request.

        Arguments:
            body: sent as JSON; bytes as they are.
            token: another user's.
        """
        self.asked.add((method, path))
        headers = {"Accept": accept, "Authorization": f"Bearer {self.token if token is None else token}"}
        content = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        if content is not None:
            headers["Content-Type"] = content_type
        target = path + (f"?{urlencode(query)}" if query else "")
        connection = self._connected()
        connection.request(method, target, content, headers)
        response = connection.getresponse()
        text = response.read()
        try:
            return Reply(code=response.status, body=json.loads(text))
        except ValueError:
            return Reply(code=response.status, body=text.decode())

    def close(self) -> None:
        """End the connection."""
        if self._connection is not None:
            self._connection.close()

    def _connected(self) -> http.client.HTTPSConnection:
        """The one connection; http.client opens it anew when the API has ended it."""
        if self._connection is None:
            address = urlsplit(self.endpoint)
            trust = ssl.create_default_context(cadata=self.ca_pem)
            self._connection = http.client.HTTPSConnection(
                address.hostname or "", address.port, timeout=_TIMEOUT_SECONDS, context=trust
            )
        return self._connection

    def namespace(self, name: str = "") -> str:
        """A fresh namespace."""
        full = self.name(name)
        made = self.send("POST", NAMESPACES, manifest("Namespace", full), query=CREATE)
        assert made.code == 201, made
        return full

    def stuck_namespace(self) -> str:
        """A fresh namespace that is being deleted."""
        name = self.name("stuck")
        self.keeper.stuck_namespace(name)
        return name

    def node(self, name: str, **labels: str) -> str:
        """A fresh Node."""
        full = self.name(name)
        self.keeper.make_node(full, labels)
        return full

    def name(self, name: str = "") -> str:
        """A name that is this probe's alone."""
        return f"probe-{self.run}-{name}" if name else f"probe-{self.run}"


CREATE = {"fieldManager": "better-compute", "fieldValidation": "Strict"}
"""The query of the product's creates."""

APPLY = CREATE | {"force": "true"}
"""The query of the product's applies."""


def at(namespace: str, plural: str, name: str = "") -> str:
    """The path of a collection in a namespace, or of an object in it."""
    group = "/apis/apps/v1" if plural == "daemonsets" else "/api/v1"
    return f"{group}/namespaces/{namespace}/{plural}" + (f"/{name}" if name else "")


def manifest(kind: str, name: str, namespace: str | None = None, **content: Any) -> dict[str, Any]:
    """An object as the product builds it; `labels`, `uid`, … of `metadata` are added to its own."""
    rbac = "rbac.authorization.k8s.io/v1"
    versions = {"DaemonSet": "apps/v1", "ClusterRoleBinding": rbac, "RoleBinding": rbac}
    metadata = {"name": name, **({"namespace": namespace} if namespace else {}), **content.pop("metadata", {})}
    return {"apiVersion": versions.get(kind, "v1"), "kind": kind, "metadata": metadata, **content}


def exactly(reply: Reply) -> dict[str, str]:
    """The preconditions of an apply onto exactly this object."""
    return {"uid": reply.uid, "resourceVersion": reply.version}


def deletion(uid: str | None = None, policy: str = "Background") -> dict[str, Any]:
    """The body of the product's deletes."""
    conditions = {} if uid is None else {"preconditions": {"uid": uid}}
    return {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": policy, **conditions}
