# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""GET /status: who may look, and that whatever is in a name or a message is text to the browser."""

from __future__ import annotations

import base64
import hashlib
import http.client
import re
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.daemon.api import ApiServer
from ansible_collections.better_compute.fleet.daemon.web import bad_tokens
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    InvalidInput,
    StoreUnavailable,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import TenantId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import (
    ClusterState,
    SubstrateState,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations import api_tokens
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import clusters, substrates
from ansible_collections.better_compute.fleet.tests.support import rows
from ansible_collections.better_compute.fleet.tests.support.node_pool_desk import Desk
from ansible_collections.better_compute.fleet.tests.support.wire_client import tls

from .conftest import METRICS, READ, STATUS, UPDATE

ONE_WAITS = {"waiting_nodes": 1, "waiting_since": rows.START}
HOSTILE = "quota <b>of</b> \"H100\" & <script>document.title='taken'</script>"


@dataclass(frozen=True, slots=True)
class Shown:
    """An answer at /status."""

    status: int
    headers: dict[str, str]
    text: str


Look = Callable[..., Shown]


@pytest.fixture
def look(api: ApiServer) -> Look:
    """Asks for the page as a browser does: `look("fleet:bca_…")`."""

    def ask(pair: str | None = None, **headers: str) -> Shown:
        if pair is not None:
            headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        with closing(http.client.HTTPSConnection("127.0.0.1", api.port, context=tls(), timeout=60)) as connection:
            connection.request("GET", "/status", headers=headers)
            answer = connection.getresponse()
            told = {name.lower(): value for name, value in answer.getheaders()}
            return Shown(answer.status, told, answer.read().decode())

    return ask


def token_of(desk: Desk, *permissions: str) -> str:
    issued = api_tokens.issue(desk.session, name="browser", tenant="platform", permissions=permissions)
    return issued.token.reveal()


class Document(HTMLParser):
    """The document's tags, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        assert not [name for name, _value in attrs if name.startswith("on")], tag
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def stand(desk: Desk, **different: Any) -> None:
    """Have the pool's substrate stand so."""
    with desk.session.store.write() as tx:
        substrates.put_substrate(tx, replace(rows.substrate(desk.pool.id, desk.cluster), **different))


def test_a_browser_is_asked_for_a_password_and_an_api_token_is_one(look: Look, desk: Desk) -> None:
    token = token_of(desk, STATUS)
    asked = look()
    assert (asked.status, asked.headers["www-authenticate"]) == (401, 'Basic realm="bc-fleetd", charset="UTF-8"')
    assert look(f"anybody:{token}").status == 200
    assert look(f":{token}").status == 200
    refused = [look(pair).status for pair in (token, f"{token}:", "a:bca_" + "g" * 43, f"a:{token}:b")]
    assert refused == [401] * 4
    assert look(Authorization=f"Bearer {token}").status == 401
    assert look(Authorization="Basic ~~~").status == 401


@pytest.mark.parametrize("name", ["", "ann", "j\u00f6rg", "\u738b"])
def test_any_name_will_do_whatever_its_letters(name: str, look: Look, desk: Desk) -> None:
    assert look(f"{name}:{token_of(desk, STATUS)}").status == 200


def test_a_password_that_is_no_ascii_is_no_token(look: Look, desk: Desk) -> None:
    assert look(f"ann:{token_of(desk, STATUS)}\u00e9").status == 401


def test_only_the_permission_for_it_opens_it_and_only_the_platforms_tokens_have_it(look: Look, desk: Desk) -> None:
    other = token_of(desk, READ, UPDATE, METRICS)
    assert look(f"fleet:{other}").status == 403
    with pytest.raises(InvalidInput, match="only a token of tenant platform has it"):
        api_tokens.issue(desk.session, name="x", tenant="acme", permissions=[STATUS])


def test_who_guesses_has_to_wait_here_as_elsewhere(look: Look, desk: Desk) -> None:
    token = token_of(desk, STATUS)
    assert look(f"fleet:{token}").status == 200
    guesses = [look(f"fleet:bca_{number}").status for number in range(bad_tokens.MOST_IN_WINDOW + 1)]
    assert guesses == [401] * bad_tokens.MOST_IN_WINDOW + [429]
    assert look(f"fleet:{token}").status == 200


def test_an_empty_fleet_is_told_as_one(look: Look, desk: Desk) -> None:
    shown = look(f"fleet:{token_of(desk, STATUS)}")
    assert "0 of 0 pools are ready" in shown.text
    assert "No pool has a substrate yet" in shown.text
    assert "table" not in Document(shown.text).tags


def test_each_pool_and_each_cluster_without_one_has_a_row(look: Look, desk: Desk) -> None:
    token = token_of(desk, STATUS)
    stand(desk, state=SubstrateState.ERROR, message="no such zone", nodes_joined=3, nodes_listed=4, **ONE_WAITS)
    with desk.session.store.write() as tx:
        own = rows.cluster(
            None, account_id=desk.account.id, tenant_id=TenantId("acme"), state=ClusterState.PROVISIONING
        )
        clusters.add_cluster(tx, own)
    text = Document(look(f"fleet:{token}").text).text
    row = r"gpu-fleet\s+platform\s+\w+\s+error\s+3\s+4\s+1 \(0 s\)\s+(due|in [0-9]+ \w+)\s+no such zone"
    assert re.search(row, text), text
    assert re.search(r"tenants-own\s+acme\s+\w+\s+provisioning\s+0/0\s+-", text), text


def test_while_the_database_is_away_the_browser_asks_again(
    look: Look, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(_session: object) -> None:
        raise StoreUnavailable("no route")

    token = token_of(desk, STATUS)
    monkeypatch.setattr("ansible_collections.better_compute.fleet.daemon.fleet_now.list_substrates", away)
    shown = look(f"fleet:{token}")
    assert (shown.status, shown.headers["refresh"]) == (503, "15")


def test_what_is_in_a_name_or_message_is_text_and_nothing_else_runs(look: Look, desk: Desk) -> None:
    stand(desk, state=SubstrateState.ERROR, message=HOSTILE)
    shown = look(f"fleet:{token_of(desk, STATUS)}")
    page = Document(shown.text)
    assert HOSTILE in page.text
    assert {"script", "b", "img", "link", "form", "iframe"}.isdisjoint(page.tags)
    policy = shown.headers["content-security-policy"]
    [style] = re.findall(r"<style>(.*?)</style>", shown.text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy.startswith("default-src 'none';")
    assert f"style-src 'sha256-{digest}'" in policy
    assert shown.headers["cache-control"] == "no-store"
    assert shown.headers["content-type"] == "text/html; charset=utf-8"
