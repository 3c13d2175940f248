# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests to a Kubernetes API as they are, with the answers as they come: no typed errors, nothing of the product."""

from __future__ import annotations

import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import urllib3

JSON = "application/json"

_TIMEOUT = urllib3.Timeout(connect=5.0, read=30.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer.

    Attributes:
        headers: by lower-case name.
    """

    status: int
    headers: Mapping[str, str]
    content: bytes = field(repr=False)

    @property
    def body(self) -> Any:
        """The JSON in it."""
        return json.loads(self.content)


class Connection:
    """An API with one bearer token. Threads may share it.

    Attributes:
        endpoint: `https://127.0.0.1:<port>`.
        ca_pem: what its certificate is checked against.
    """

    def __init__(self, *, endpoint: str, ca_pem: str, token: str | None) -> None:
        """Arguments: token: None sends no credential at all."""
        self.endpoint = endpoint
        self.ca_pem = ca_pem
        self._token = token
        self._pool = urllib3.PoolManager(
            ssl_context=ssl.create_default_context(cadata=ca_pem), retries=False, timeout=_TIMEOUT, maxsize=8
        )

    def as_bearer(self, token: str | None) -> Connection:
        """The same API with another token, or none."""
        return Connection(endpoint=self.endpoint, ca_pem=self.ca_pem, token=token)

    def get(self, path: str, **query: str) -> Reply:
        """GET."""
        return self.send("GET", path, query=query)

    def send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
        content_type: str = JSON,
        accept: str = JSON,
    ) -> Reply:
        """Send one request. Arguments: body: sent as JSON, whatever the content type says."""
        headers = {"Accept": accept} | ({} if body is None else {"Content-Type": content_type})
        target = path + (f"?{urlencode(query)}" if query else "")
        return self.forward(method, target, headers=headers, body=None if body is None else json.dumps(body).encode())

    def forward(self, method: str, target: str, *, headers: Mapping[str, str], body: bytes | None) -> Reply:
        """Send bytes as they are. A token among the headers goes before ours."""
        ours = {} if self._token is None else {"authorization": f"Bearer {self._token}"}
        reply = self._pool.request(
            method,
            f"{self.endpoint}{target}",
            headers=ours | {name.lower(): value for name, value in headers.items()},
            body=body,
            redirect=False,
        )
        return Reply(
            status=reply.status,
            headers={name.lower(): value for name, value in reply.headers.items()},
            content=reply.data,
        )

    def close(self) -> None:
        """Give the connections back."""
        self._pool.clear()
