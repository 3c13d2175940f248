# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A client of the gateway for tests that say what bcd never would: plain HTTP over TLS that checks nothing."""

from __future__ import annotations

import http.client
import json
import ssl
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

from ansible_collections.better_compute.fleet.tests.support import wire_schema

INVENTORY: Mapping[str, Any] = {
    "os": {"kubernetesNodeName": "ip-10-0-0-1.ec2.internal"},
    "gpus": [{"id": "GPU-0", "model": "NVIDIA H100"}, {"id": "GPU-1", "model": "NVIDIA H100"}],
}


def tls() -> ssl.SSLContext:
    """A context that takes any certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer, judged by the schema already."""

    status: int
    body: Mapping[str, Any]
    headers: Mapping[str, str]

    @property
    def code(self) -> str:
        """An error's code."""
        return str(self.body["code"])


class KeptConnection:
    """One connection to a server of the daemon's, kept alive, and opened again where the server has closed it."""

    def __init__(self, port: int) -> None:
        """Connect with the first call."""
        self._connection = http.client.HTTPSConnection("127.0.0.1", port, context=tls(), timeout=60)

    @property
    def connected(self) -> bool:
        """Whether the connection is still open after the last reply."""
        return self._connection.sock is not None

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


class WireClient(KeptConnection):
    """Somebody who speaks to the gateway."""

    def call(
        self,
        path: str,
        body: object,
        *,
        bearer: str | None,
        method: str = "POST",
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Make one call; anything but bytes is sent as JSON. The reply must be one that the schema knows."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        told = {"Content-Type": "application/json", **(headers or {})}
        if bearer is not None:
            told["Authorization"] = f"Bearer {bearer}"
        self._connection.request(method, path, body=content, headers=told)
        with self._connection.getresponse() as response:
            data = json.loads(response.read())
            reply = Reply(status=response.status, body=data, headers=dict(response.getheaders()))
        call = wire_schema.schema()["x-calls"].get(path)
        shape = call["reply"].rpartition("/")[2] if reply.status == 200 else "error"
        assert wire_schema.problems(shape, data) == []
        return reply

    def join(self, *, token: str, nonce: str = "n" * 22, identity: str = "i" * 43, **different: object) -> Reply:
        """Join as bcd does."""
        body = {
            "nonce": nonce,
            "identity": identity,
            "hostname": "ip-10-0-0-1",
            "bcdVersion": "0.1.0",
            "inventory": INVENTORY,
        }
        return self.call("/v1/join", body | different, bearer=token)

    def heartbeat(self, node_id: object, *, identity: str = "i" * 43, **more: object) -> Reply:
        """Send a heartbeat."""
        return self.call("/v1/heartbeat", {"nodeId": node_id, **more}, bearer=identity)

    def bookings(
        self, node_id: object, *, identity: str = "i" * 43, version: object = "", wait_seconds: int = 0
    ) -> Reply:
        """Ask what is booked."""
        body = {"nodeId": node_id, "version": version, "waitSeconds": wait_seconds}
        return self.call("/v1/bookings", body, bearer=identity)


@contextmanager
def wire_client(port: int) -> Iterator[WireClient]:
    """A client, closed at the end."""
    with closing(WireClient(port)) as client:
        yield client
