# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An emulated cluster without a wire, and a caller who is its administrator."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import pytest

from ansible_collections.better_compute.fleet.emulators.engine import Engine, VirtualClock
from ansible_collections.better_compute.fleet.emulators.kubernetes import ClusterUser, EmulatedCluster
from ansible_collections.better_compute.fleet.emulators.kubernetes.requests import APPLY_PATCH, JSON, Request

Reply = tuple[int, dict[str, Any]]


class Users:
    """`admin` may do everything, `nobody` nothing; others are unknown."""

    def user(self, token: str, cluster: str) -> ClusterUser | None:
        return ClusterUser(name=token, admin=token == "admin") if token in ("admin", "nobody") else None


@dataclass(kw_only=True)
class Caller:
    """Sends requests as some user."""

    cluster: EmulatedCluster
    clock: VirtualClock
    engine: Engine
    token: str | None = "admin"

    def as_user(self, token: str | None) -> Caller:
        return Caller(cluster=self.cluster, clock=self.clock, engine=self.engine, token=token)

    def send(
        self,
        method: str,
        path: str,
        *,
        body: object = None,
        content_type: str = JSON,
        accept: str = JSON,
        **query: str | int,
    ) -> Reply:
        headers = {"accept": accept}
        if self.token is not None:
            headers["authorization"] = f"Bearer {self.token}"
        if body is not None:
            headers["content-type"] = content_type
        target = f"{path}?{urlencode(query)}" if query else path
        sent = b"" if body is None else json.dumps(body).encode()
        answer = self.cluster.answer(Request(method=method, target=target, headers=headers, body=sent))
        return answer.status, json.loads(answer.body)

    def create(self, path: str, kind: str, name: str, **content: Any) -> Reply:
        return self.send("POST", path, body=manifest(path, kind, name, **content), fieldManager="us")

    def apply(
        self, path: str, live: dict[str, Any], *, force: bool = False, manager: str = "us", **content: Any
    ) -> Reply:
        metadata = {key: live["metadata"][key] for key in ("name", "namespace", "uid", "resourceVersion")}
        metadata |= content.pop("metadata", {})
        body = {"apiVersion": live["apiVersion"], "kind": live["kind"], "metadata": metadata} | content
        query = {"fieldManager": manager, "force": "true" if force else "false"} if manager else {}
        at = f"{path}/{metadata['name']}"
        return self.send("PATCH", at, body=body, content_type=APPLY_PATCH, **query)

    def delete(self, path: str, *, uid: str | None = None, policy: str = "Background") -> Reply:
        body: dict[str, Any] = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": policy}
        if uid is not None:
            body["preconditions"] = {"uid": uid}
        return self.send("DELETE", path, body=body)


def manifest(path: str, kind: str, name: str, **content: Any) -> dict[str, Any]:
    group, _slash, version = path.removeprefix("/apis/").removeprefix("/api/").partition("/")
    api_version = "v1" if group == "v1" else f"{group}/{version.partition('/')[0]}"
    metadata = {"name": name} | content.pop("metadata", {})
    if "/namespaces/" in path:
        metadata["namespace"] = path.split("/namespaces/")[1].split("/")[0]
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata} | content


@pytest.fixture
def caller() -> Iterator[Caller]:
    clock = VirtualClock()
    engine = Engine(clock)
    cluster = EmulatedCluster(name="c", engine=engine, authenticator=Users())
    yield Caller(cluster=cluster, clock=clock, engine=engine)
    cluster.close()
    engine.close()
