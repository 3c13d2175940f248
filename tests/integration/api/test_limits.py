# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sizes, verbs and places: what is too large or not there is refused, and nothing of ours shows."""

from __future__ import annotations

import http.client
import json
from pathlib import Path

import pytest

from ansible_collections.better_compute.fleet.daemon.api import ApiServer, api_of
from ansible_collections.better_compute.fleet.daemon.api.application import BODY_BYTES, Api
from ansible_collections.better_compute.fleet.daemon.errors import CannotListen
from ansible_collections.better_compute.fleet.daemon.web import store_calls
from ansible_collections.better_compute.fleet.daemon.web.certificate import Certificate
from ansible_collections.better_compute.fleet.daemon.web.protocol import HEAD_BYTES
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.settings import load_settings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import OperationError
from ansible_collections.better_compute.fleet.tests.support.api_client import ApiClient, api_client
from ansible_collections.better_compute.fleet.tests.support.node_pool_desk import Desk

LIST = "kubernetesClusters/list"
BODY = json.dumps({"tenantId": "platform"}).encode()


def begun(client: ApiClient, **headers: str) -> http.client.HTTPSConnection:
    """A request of which the head alone was sent: nothing is written any more when the API closes the connection."""
    connection = client._connection
    connection.putrequest("POST", f"/api/compute/{LIST}")
    connection.putheader("Authorization", f"Bearer {client.token}")
    for name, value in headers.items():
        connection.putheader(name.replace("_", "-"), value)
    connection.endheaders()
    return connection


def test_a_body_as_large_as_allowed_is_read_and_a_larger_one_is_not(caller: ApiClient) -> None:
    assert caller.call(LIST, BODY.ljust(BODY_BYTES)).status == 200
    with begun(caller, Content_Length=str(BODY_BYTES + 1)).getresponse() as response:
        assert (response.status, response.getheader("Connection")) == (413, "close")


def test_a_body_that_says_no_length_is_bounded_too(caller: ApiClient) -> None:
    connection = begun(caller, Transfer_Encoding="chunked")
    connection.send(b"%x\r\n%s" % (BODY_BYTES + 1, b" " * (BODY_BYTES + 1)))
    with connection.getresponse() as response:
        assert response.status == 413


def test_a_head_that_is_too_large_is_refused(caller: ApiClient) -> None:
    assert caller.call(LIST, BODY, headers={"X-Filler": "x" * HEAD_BYTES}).told == (431, "INVALID_INPUT")


def test_the_body_of_somebody_without_a_token_is_not_waited_for(api: ApiServer) -> None:
    with (
        api_client(api.port, "bca_" + "g" * 43) as stranger,
        begun(stranger, Content_Length=str(BODY_BYTES)).getresponse() as response,
    ):
        assert (response.status, response.getheader("Connection")) == (401, "close")


@pytest.mark.parametrize("verb", ["GET", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_another_verb_is_no_call_and_the_right_one_is_told(caller: ApiClient, verb: str) -> None:
    reply = caller.ask(verb, f"/api/compute/{LIST}")
    assert (reply.told, reply.headers["allow"]) == ((405, "INVALID_INPUT"), "POST")
    assert reply.body["message"] == "this method is not allowed here: use POST"


def test_what_is_only_read_says_so(caller: ApiClient) -> None:
    reply = caller.ask("POST", "/healthz", {})
    assert (reply.told, reply.headers["allow"]) == ((405, "INVALID_INPUT"), "GET, HEAD")
    assert reply.body["message"] == "this method is not allowed here: use GET or HEAD"


@pytest.mark.parametrize(
    "path", ["/", "/api", "/api/compute/kubernetesClusters/list/", "/v1/join", "/docs", "/status/"]
)
def test_what_is_not_there_is_not_found(caller: ApiClient, path: str) -> None:
    reply = caller.ask("POST", path, {})
    assert reply.told == (404, "NOT_FOUND")
    assert reply.body["message"] == "this path is unknown: /api/openapi.json describes all that there are"


def test_a_sign_of_life_and_the_description_are_for_everybody(api: ApiServer) -> None:
    with api_client(api.port, None) as nobody:
        assert nobody.ask("GET", "/healthz").body == {"status": "ok"}
        assert nobody.ask("GET", "/api/openapi.json").body["openapi"] == "3.1.0"


def test_a_database_that_does_not_answer_in_time_is_told(caller: ApiClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_calls, "_SECONDS", 0.0)
    assert caller.call(LIST, BODY).told == (503, "UNAVAILABLE")


def test_a_call_that_waits_for_a_cluster_gives_up_when_the_daemon_stops(api: ApiServer, desk: Desk) -> None:
    served = api._served
    assert isinstance(served, Api)
    served._session.sleep(0)
    desk.session.stopping.set()
    with pytest.raises(OperationError, match="the API stops: come again"):
        served._session.sleep(3600)


def test_without_its_section_there_is_no_api(desk: Desk, certificate: Certificate) -> None:
    with api_of(desk.session, certificate) as none:
        assert none is None


def test_an_address_that_is_taken_is_told(desk: Desk, api: ApiServer, certificate: Certificate) -> None:
    with pytest.raises(CannotListen, match=f"the API cannot listen on 127.0.0.1:{api.port}") as refused:
        ApiServer(session=desk.session, certificate=certificate, host="127.0.0.1", port=api.port)
    assert "or set another listen_port in [api] of the settings" in str(refused.value)


def test_an_empty_section_is_an_api_on_loopback(tmp_path: Path) -> None:
    file = tmp_path / "fleet.toml"
    file.write_text("[api]\n")
    asked = load_settings(file, environ={}).api
    assert asked is not None
    assert (asked.listen_host, asked.listen_port) == ("127.0.0.1", 8444)
    assert load_settings(environ={"BC_FLEET_API_LISTEN_PORT": "0"}).api is not None
