# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The door to a cluster's API: whom it trusts, what it tells, and that it sends nothing twice."""

from __future__ import annotations

import json

import pytest

from ansible_collections.better_compute.fleet.emulators.engine import Delay, Error, LostReply
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster import api as door
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.api import ClusterApi
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    ClusterAccessDenied,
    ClusterConflict,
    ClusterCredentialRefused,
    ClusterError,
    ClusterInvalid,
    ClusterObjectMissing,
    ClusterUnreachable,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.secret import Secret

from .conftest import BOOTSTRAP_TOKEN, World
from .raw_server import answering

KUBE_SYSTEM = "/api/v1/namespaces/kube-system"


def call(url: str, ca_pem: str, *, method: str = "GET", token: str = BOOTSTRAP_TOKEN) -> dict[str, object]:
    with ClusterApi(endpoint=url, ca_pem=ca_pem, token=Secret(token)) as api:
        return api.request(method, KUBE_SYSTEM)


def http(body: bytes, *, status: str = "200 OK", headers: str = "") -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n{headers}\r\n".encode() + body


def test_the_object_comes_back(world: World) -> None:
    assert call(world.url, world.ca_pem)["kind"] == "Namespace"


def test_a_server_that_another_authority_signed_is_not_trusted(world: World) -> None:
    _url, other_ca = world.apis.start("other")
    with pytest.raises(ClusterUnreachable, match="certificate"):
        call(world.url, other_ca)
    assert world.calls(after=0) == []


def test_a_server_of_another_name_is_not_trusted(world: World) -> None:
    with pytest.raises(ClusterUnreachable, match="certificate"):
        call(world.url.replace("127.0.0.1", "localhost"), world.ca_pem)
    assert world.calls(after=0) == []


@pytest.mark.parametrize("variable", ["REQUESTS_CA_BUNDLE", "SSL_CERT_FILE", "CURL_CA_BUNDLE"])
def test_the_environments_certificates_play_no_part(
    world: World, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, "/does/not/exist.pem")
    call(world.url, world.ca_pem)


def test_a_proxy_in_the_environment_is_not_used_for_loopback(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY"):
        monkeypatch.setenv(variable, "http://127.0.0.1:9")
    for variable in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(variable, raising=False)
    call(world.url, world.ca_pem)


@pytest.mark.parametrize("endpoint", ["http://127.0.0.1:1", "127.0.0.1:1", "https://", ""])
def test_an_endpoint_without_tls_is_refused(world: World, endpoint: str) -> None:
    with pytest.raises(ClusterError, match="https"):
        call(endpoint, world.ca_pem)


def test_a_certificate_that_is_none_is_refused(world: World) -> None:
    with pytest.raises(ClusterError, match="certificate"):
        call(world.url, "not a certificate")


def test_nobody_listening_is_unreachable(world: World) -> None:
    url = world.url
    world.apis.stop("gpu")
    world.apis.start("gpu")
    with pytest.raises(ClusterUnreachable):
        call(url, world.ca_pem)


def test_silence_is_unreachable_before_a_lease_runs_out(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    assert door._CONNECT_SECONDS + door._READ_SECONDS + door._BODY_SECONDS < 60
    monkeypatch.setattr(door, "_READ_SECONDS", 0.1)
    world.engine.faults.add("kubernetes", "*", Delay(seconds=1))
    with pytest.raises(ClusterUnreachable, match="timed out"):
        call(world.url, world.ca_pem)


def test_a_reply_that_drips_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "_BODY_SECONDS", -1.0)
    with answering(http(b'{"kind": "Namespace"}')) as (url, ca_pem, _received), pytest.raises(ClusterUnreachable):
        call(url, ca_pem)


def test_a_reply_that_is_too_large_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "_BODY_BYTES", 10)
    with answering(http(b'{"kind": "Namespace"}')) as (url, ca_pem, _received), pytest.raises(ClusterUnreachable):
        call(url, ca_pem)


@pytest.mark.parametrize(
    "reply",
    [
        b"",
        b"not http at all",
        b'HTTP/1.1 200 OK\r\nContent-Length: 400\r\n\r\n{"kind": "NodeList"}',
        b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n14\r\n{"kind": "NodeList"}\r\n',
        http(b"<html>"),
        http(b"[]"),
        http(b""),
        http(b"\xff\xfe"),
    ],
    ids=["nothing", "no http", "cut off", "cut off in chunks", "no json", "no object", "empty", "no text"],
)
def test_a_senseless_answer_is_unreachable(reply: bytes) -> None:
    with answering(reply) as (url, ca_pem, _received), pytest.raises(ClusterUnreachable):
        call(url, ca_pem)


def test_a_redirect_is_not_followed() -> None:
    moved = http(b"", status="302 Found", headers="Location: https://127.0.0.1:9/elsewhere\r\n")
    with answering(moved, moved) as (url, ca_pem, received):
        with pytest.raises(ClusterUnreachable, match="302"):
            call(url, ca_pem)
        assert len(received) == 1


@pytest.mark.parametrize("method", ["GET", "POST", "PATCH", "DELETE"])
def test_nothing_is_sent_twice(method: str) -> None:
    with answering(b"", b"", b"") as (url, ca_pem, received):
        with pytest.raises(ClusterUnreachable):
            call(url, ca_pem, method=method)
        assert len(received) == 1


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (401, ClusterCredentialRefused),
        (403, ClusterAccessDenied),
        (404, ClusterObjectMissing),
        (409, ClusterConflict),
        (429, ClusterUnreachable),
        (500, ClusterUnreachable),
        (503, ClusterUnreachable),
        (400, ClusterError),
        (410, ClusterError),
        (422, ClusterInvalid),
    ],
)
def test_a_refusal_is_typed_and_tells_the_apis_reason_and_message(
    world: World, status: int, error: type[ClusterError]
) -> None:
    world.engine.faults.add("kubernetes", "*", Error(status=status, code="TheReason", message="the message"))
    with pytest.raises(ClusterError, match=f"GET {KUBE_SYSTEM} .*: {status} TheReason: the message") as caught:
        call(world.url, world.ca_pem)
    assert caught.value.__class__ is error


def test_a_refusal_because_the_namespace_goes_is_a_conflict_and_not_a_lack_of_rights() -> None:
    status = {"reason": "Forbidden", "message": "x", "details": {"causes": [{"reason": "NamespaceTerminating"}]}}
    reply = http(json.dumps(status).encode(), status="403 Forbidden")
    with answering(reply) as (url, ca_pem, _received), pytest.raises(ClusterConflict):
        call(url, ca_pem)


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"message": 1, "reason": [], "details": "x"}'])
@pytest.mark.parametrize(("status", "error"), [(403, ClusterAccessDenied), (502, ClusterUnreachable)])
def test_a_refusal_without_a_status_object_is_typed_too(body: bytes, status: int, error: type[ClusterError]) -> None:
    with answering(http(body, status=f"{status} Whatever")) as (url, ca_pem, _received), pytest.raises(error):
        call(url, ca_pem)


def test_a_very_long_message_is_cut() -> None:
    reply = http(json.dumps({"message": "x" * 100_000}).encode(), status="422 Unprocessable")
    with answering(reply) as (url, ca_pem, _received), pytest.raises(ClusterError) as caught:
        call(url, ca_pem)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("token", ["", "two words", "canary\r\nX-Injected: 1", "canary\n", "canäry"])
def test_a_token_that_cannot_be_sent_is_refused_without_being_shown(world: World, token: str) -> None:
    with pytest.raises(ClusterAccessDenied) as caught:
        call(world.url, world.ca_pem, token=token)
    assert "can" not in str(caught.value).replace("cannot", "")
    assert world.calls(after=0) == []


def test_a_connection_is_used_again(world: World) -> None:
    api = world.admin()
    for _time in range(3):
        api.request("GET", KUBE_SYSTEM)
    (pool,) = [api._pool.pools[key] for key in api._pool.pools.keys()]  # noqa: SIM118 -- not a mapping
    assert pool.num_connections == 1


def test_after_a_lost_reply_the_next_request_gets_its_own_answer(world: World) -> None:
    api = world.admin()
    world.engine.faults.add("kubernetes", "GET namespaces", LostReply())
    with pytest.raises(ClusterUnreachable):
        api.request("GET", KUBE_SYSTEM)
    assert api.request("GET", "/api/v1/namespaces/default")["metadata"]["name"] == "default"
