# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/api.md: its commands are calls that the API takes, and its table of codes is the API's."""

from __future__ import annotations

import json
import re
import shlex
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.daemon.api.calls import CALLS
from ansible_collections.better_compute.fleet.daemon.web.answers import STATUS
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import Code
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.permissions import Permission
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import substrates
from ansible_collections.better_compute.fleet.tests.support import rows
from ansible_collections.better_compute.fleet.tests.support.api_client import ApiClient
from ansible_collections.better_compute.fleet.tests.support.node_pool_desk import Desk
from ansible_collections.better_compute.fleet.tests.support.pages import DOCS, blocks, keyed_rows

PAGE = DOCS / "api.md"


def call_in(command: str, known: dict[str, str]) -> tuple[str, dict[str, Any]]:
    """The call that a curl command makes, and its body, with the shell's variables filled in."""
    for name, value in known.items():
        command = command.replace(f"${name}", value)
    words = shlex.split(command.replace("\\\n", " "))
    assert words[:2] == ["curl", "--cacert"]
    assert words[words.index("-H") + 1] == "Authorization: Bearer a-token"
    method = re.fullmatch(r"https://127\.0\.0\.1:8444/api/compute/(\w+/\w+)", words[3])
    assert method is not None
    return method[1], json.loads(words[words.index("-d") + 1])


def test_the_commands_of_the_page_are_calls_that_succeed_one_after_the_other(caller: ApiClient, desk: Desk) -> None:
    with desk.session.store.write() as tx:
        substrates.put_substrate(tx, rows.substrate(desk.pool.id, desk.cluster))
    known = {"TOKEN": "a-token", "CLUSTER": desk.cluster.id, "POOL": desk.pool.id}
    commands = blocks(PAGE, "bash")
    assert len(commands) == 5
    for command in commands:
        method, body = call_in(command, known)
        reply = caller.call(method, body)
        assert reply.status == 200, reply.body
        if method == "kubernetesNodePools/create":
            known["NODE_POOL"] = reply.body["id"]


def test_the_ids_that_calls_take_are_found_as_the_page_says(caller: ApiClient, desk: Desk) -> None:
    with desk.session.store.write() as tx:
        substrates.put_substrate(tx, rows.substrate(desk.pool.id, desk.cluster))
    taken = {name for call in CALLS for name in call.takes.model_json_schema()["properties"] if name.endswith("Id")}
    assert taken - set(keyed_rows(PAGE)) == {"tenantId"}
    tenant = {"tenantId": "platform"}
    [cluster] = caller.call("kubernetesClusters/list", tenant).body["clusters"]
    assert (cluster["substratePoolId"], cluster["pool"]) == (desk.pool.id, desk.pool.name)
    substrate = caller.call("kubernetesSubstrates/get", {**tenant, "poolId": cluster["substratePoolId"]}).body
    assert substrate["clusterId"] == cluster["id"] == desk.cluster.id
    found = caller.call("kubernetesNodePools/list", {**tenant, "clusterId": cluster["id"]}).body["nodePools"]
    assert found == cluster["nodePools"]
    assert [one["id"] for one in found] == [record.id for record in desk.node_pools().values()]


@pytest.mark.parametrize("code", sorted({code for call in CALLS for code in call.codes}))
def test_the_page_says_the_status_of_each_code(code: str) -> None:
    assert re.search(rf"^\| `{code}` \| {STATUS[Code(code)]} \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


def test_the_page_says_every_permission_and_method() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert [permission for permission in Permission if f"| `{permission}` |" not in text] == []
    assert [call.method for call in CALLS if not re.search(rf"\b{call.method}\b", text)] == []
