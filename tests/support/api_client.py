# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A caller of the HTTP API: plain HTTP over TLS, each answer judged by the API's own description of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # comes without types

from ansible_collections.better_compute.fleet.daemon.api.calls import CALLS
from ansible_collections.better_compute.fleet.daemon.api.openapi import document
from ansible_collections.better_compute.fleet.tests.support.wire_client import KeptConnection


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer; the names of its headers in lower case."""

    status: int
    body: dict[str, Any]
    headers: Mapping[str, str]

    @property
    def told(self) -> tuple[int, str]:
        """A refusal's status and code."""
        return self.status, str(self.body["code"])

    @property
    def paths(self) -> list[str]:
        """Where the problems are."""
        return [problem["path"] for problem in self.body["problems"]]


class ApiClient(KeptConnection):
    """One caller with one connection."""

    def __init__(self, port: int, token: str | None) -> None:
        """Connect with the first call."""
        super().__init__(port)
        self.token = token

    def call(self, method: str, body: object, *, headers: Mapping[str, str] | None = None) -> Reply:
        """Make a call, as in `kubernetesNodePools/list`; anything but bytes is sent as JSON."""
        reply = self.ask("POST", f"/api/compute/{method}", body, headers=headers)
        assert description_problems(method, reply) == []
        return reply

    def ask(self, verb: str, path: str, body: object = None, *, headers: Mapping[str, str] | None = None) -> Reply:
        """Ask anything whose answer is JSON."""
        content = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        told = {} if self.token is None else {"Authorization": f"Bearer {self.token}"}
        self._connection.request(verb, path, body=content, headers={**told, **(headers or {})})
        with self._connection.getresponse() as response:
            data = json.loads(response.read() or b"{}")
            return Reply(
                status=response.status,
                body=data,
                headers={name.lower(): value for name, value in response.getheaders()},
            )


@contextmanager
def api_client(port: int, token: str | None) -> Iterator[ApiClient]:
    """A caller, gone at the end."""
    with closing(ApiClient(port, token)) as client:
        yield client


@cache
def described() -> dict[str, Any]:
    """The API's description."""
    return document(CALLS)


def description_problems(method: str, reply: Reply) -> list[str]:
    """Where an answer is not what the description says."""
    responses = described()["paths"][f"/api/compute/{method}"]["post"]["responses"]
    if str(reply.status) not in responses:
        return [f"{method} never answers {reply.status}"]
    response = responses[str(reply.status)]
    if "$ref" in response:
        response = described()["components"]["responses"][response["$ref"].rpartition("/")[2]]
    schema = response["content"]["application/json"]["schema"]
    judge = Draft202012Validator({**schema, "components": described()["components"]})
    return [error.message for error in judge.iter_errors(reply.body)]
