# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The real API behind an emulated world's engine: its request log sees every request, its scripts spoil them.

What tests of the emulated API look at (who was asked what, in which order) and do to it (a lost reply, a refusal, an
overtaking) is thus there on the real one. Everything else is the real one's: requests and answers pass byte for byte.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ansible_collections.better_compute.fleet.emulators.engine import Answer, Call, Engine, InjectedError
from ansible_collections.better_compute.fleet.emulators.kubernetes import kinds
from ansible_collections.better_compute.fleet.emulators.kubernetes.cluster import CLOUD
from ansible_collections.better_compute.fleet.emulators.kubernetes.requests import Request
from ansible_collections.better_compute.fleet.emulators.kubernetes.statuses import failure

from .cluster import RealCluster
from .connection import Connection

_PASSED_ON = ("authorization", "content-type", "accept")


class MachineClock:
    """The machine's own time, which is the real API's, whatever the engine's clock says."""

    def now(self) -> datetime:
        """The present in UTC, with its time zone."""
        return datetime.now(UTC)


class ClusterBehindEngine:
    """Takes an EmulatedCluster's place behind an ApiServer, with what tests do to one.

    Attributes:
        name: the cluster's name at its cloud.
        clock: tells the Date of answers.
    """

    def __init__(self, *, name: str, engine: Engine, real: RealCluster) -> None:
        """Arguments: real: empty."""
        self.name = name
        self._engine = engine
        self._real = real
        self._anybody = Connection(endpoint=real.endpoint, ca_pem=real.ca_pem, token=None)
        self.clock = MachineClock()

    def answer(self, request: Request) -> Answer:
        """Have the real API answer one request.

        Raises:
            ReplyLost: scripted: drop the connection.
        """
        route = kinds.route(request.method, request.path)
        metadata = (request.peek() or {}).get("metadata")
        sent = metadata.get("name") if isinstance(metadata, dict) else None
        named = [self.name, route.namespace, route.name or sent] if route else [f"{self.name}{request.path}"]
        call = Call(
            cloud=CLOUD,
            name=route.call if route else f"{request.method} unknown",
            target="/".join(part for part in named if isinstance(part, str)),
            mutating=route is not None and route.mutating,
        )
        try:
            return self._engine.handle(call, lambda: self.effect(request))
        except InjectedError as error:
            body = json.dumps(failure(error.status, error.code, error.message)).encode()
            return Answer(status=error.status, body=body, headers={"Content-Type": "application/json"})

    def put_node(
        self,
        name: str,
        *,
        labels: Mapping[str, str],
        provider_id: str = "",
        taints: Sequence[Mapping[str, str]] = (),
        ready: bool = True,
    ) -> str:
        """Register a Node, in place of any other of its name; returns its uid."""
        self._real.remove_node(name)
        return self._real.make_node(name, labels=labels, provider_id=provider_id, taints=taints, ready=ready)

    def remove_node(self, name: str, *, uid: str | None = None) -> None:
        """Take a Node out, with a uid only if it is that one. One that is not there is no error."""
        self._real.remove_node(name, uid=uid)

    def daemon_sets(self) -> tuple[dict[str, Any], ...]:
        """The DaemonSets that are to have pods; those that are being deleted are not."""
        listed = self._real.read("/apis/apps/v1/daemonsets")
        assert listed is not None
        return tuple(one for one in listed["items"] if not one["metadata"].get("deletionTimestamp"))

    def read(self, kind: str, name: str, namespace: str | None = None) -> dict[str, Any] | None:
        """One object by its kind's name (`Secret`, `ConfigMap`, …), None when there is none."""
        known = next(one for one in kinds.KINDS if one.name == kind)
        place = f"/namespaces/{namespace}" if namespace else ""
        return self._real.read(f"{known.root}{place}/{known.plural}/{name}")

    def close(self) -> None:
        """Give the connections back."""
        self._anybody.close()

    def effect(self, request: Request) -> Answer:
        """What the real API makes of a request."""
        headers = {name: request.headers[name] for name in _PASSED_ON if name in request.headers}
        reply = self._anybody.forward(request.method, request.target, headers=headers, body=request.body or None)
        kept = {"Content-Type": reply.headers.get("content-type", "application/json")}
        return Answer(status=reply.status, body=reply.content, headers=kept)
