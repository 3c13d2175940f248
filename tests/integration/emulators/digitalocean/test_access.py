# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tokens and scopes, credentials for clusters, options, upgrades, rates."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from azure.core.exceptions import HttpResponseError

from ansible_collections.better_compute.fleet.emulators.digitalocean import SCOPES
from ansible_collections.better_compute.fleet.emulators.engine import Error

from .conftest import CLUSTER, POOL, Account, refusal

CPU = {**POOL, "size": "s-2vcpu-4gb"}
API = "do-nyc2-one"


def test_a_token_that_is_unknown_revoked_or_has_ended_is_refused(account: Account) -> None:
    short = account.cloud.tokens.issue(seconds=60)
    revoked = account.cloud.tokens.issue()
    account.client(short).kubernetes.list_clusters()
    account.cloud.tokens.revoke(revoked)
    account.clock.advance(60)
    for token in ("dop_v1_unknown", revoked, short):
        client = account.client(token).kubernetes
        assert refusal(client.list_clusters) == (401, "unauthorized", "Unable to authenticate you")


@pytest.mark.parametrize(
    ("scope", "ask"),
    [
        ("kubernetes:read", lambda client, _made: client.kubernetes.list_clusters()),
        ("kubernetes:read", lambda client, _made: client.kubernetes.list_options()),
        ("kubernetes:create", lambda client, _made: client.kubernetes.create_cluster(body=CLUSTER)),
        ("kubernetes:update", lambda client, made: client.kubernetes.update_cluster(made, body={"name": "x"})),
        ("kubernetes:update", lambda client, made: client.kubernetes.upgrade_cluster(made, body={"version": "1"})),
        ("kubernetes:delete", lambda client, made: client.kubernetes.delete_cluster(made)),
        ("kubernetes:access_cluster", lambda client, made: client.kubernetes.get_credentials(made)),
        ("droplet:read", lambda client, _made: client.droplets.list()),
    ],
)
def test_a_token_without_the_scope_is_refused(account: Account, scope: str, ask: Any) -> None:
    made = account.running()["id"]
    client = account.client(account.cloud.tokens.issue(scopes=SCOPES - {scope}))
    assert refusal(lambda: ask(client, made))[:2] == (403, "forbidden")


def test_each_credentials_call_makes_another_token_for_that_one_cluster_until_it_ends(account: Account) -> None:
    cluster, other = account.running(), account.running(name="two")
    first = account.doks.get_credentials(cluster["id"], expiry_seconds=600)
    second = account.doks.get_credentials(cluster["id"])
    assert first["server"] == account.cluster(cluster)["endpoint"]
    assert base64.b64decode(first["certificate_authority_data"]).startswith(b"-----BEGIN CERTIFICATE-----")
    assert first["token"] != second["token"]
    assert account.cloud.user(first["token"], API) == f"do:{cluster['id']}:admin"
    assert account.cloud.user(first["token"], "do-nyc2-two") is None
    assert account.cloud.user(account.cloud.token, API) is None
    account.clock.advance(600)
    assert account.cloud.user(first["token"], API) is None
    assert account.cloud.user(second["token"], API) is not None
    account.doks.delete_cluster(cluster["id"])
    account.settle()
    assert account.cloud.user(second["token"], API) is None
    assert account.doks.get_cluster_user(other["id"])["kubernetes_cluster_user"]["username"] == "admin"


def test_a_token_lives_seven_days_unless_the_query_says_less(account: Account) -> None:
    cluster = account.running()
    token = account.doks.get_credentials(cluster["id"])["token"]
    account.clock.advance(7 * 24 * 3600 - 1)
    assert account.cloud.user(token, API) is not None
    account.clock.advance(1)
    assert account.cloud.user(token, API) is None


def test_there_are_no_credentials_before_the_control_plane_answers(account: Account) -> None:
    made = account.create()
    assert account.doks.get_credentials(made["id"])["id"] == "not_found"
    account.clock.advance(account.timings.cluster_create)
    assert account.doks.get_credentials(made["id"])["token"]


def test_options_have_regions_versions_and_gpu_sizes(account: Account) -> None:
    options = account.doks.list_options()["options"]
    slugs = {kind: [entry["slug"] for entry in entries] for kind, entries in options.items()}
    assert "nyc2" in slugs["regions"]
    assert slugs["versions"][0] == "1.34.1-do.0"
    assert {"gpu-h100x1-80gb", "gpu-h100x8-640gb", "gpu-mi300x8-1536gb"} <= set(slugs["sizes"])


def test_an_upgrade_raises_control_plane_and_nodes_together_with_new_droplets_of_new_names(account: Account) -> None:
    cluster = account.running(version="1.33")
    [offered] = account.doks.get_available_upgrades(cluster["id"])["available_upgrade_versions"]
    assert (offered["slug"], offered["kubernetes_version"]) == ("1.34.1-do.0", "1.34.1")
    assert account.doks.upgrade_cluster(cluster["id"], body={"version": "1.34.1-do.0"}) is None
    now = account.cluster(cluster)
    assert (now["status"]["state"], now["version"]) == ("upgrading", "1.33.6-do.0")
    assert refusal(lambda: account.add(cluster)) == (409, "conflict", "cluster is upgrading")
    again = {"version": "1.34.1-do.0"}
    assert refusal(lambda: account.doks.upgrade_cluster(cluster["id"], body=again))[0] == 409
    account.settle()
    now = account.cluster(cluster)
    assert (now["status"]["state"], now["version"]) == ("running", "1.34.1-do.0")
    before, after = (one["node_pools"][0]["nodes"] for one in (cluster, now))
    for key in ("id", "name", "droplet_id"):
        assert not {node[key] for node in before} & {node[key] for node in after}
    versions = {one.labels["doks.digitalocean.com/version"] for one in account.machines.running.values()}
    assert versions == {"1.34.1-do.0"}
    assert account.doks.get_available_upgrades(cluster["id"])["available_upgrade_versions"] == []


@pytest.mark.parametrize(("surge", "most"), [(False, 2), (True, 3)])
def test_with_surge_upgrade_there_is_a_new_node_before_an_old_one_goes(
    account: Account, surge: bool, most: int
) -> None:
    cluster = account.running(version="1.33", surge_upgrade=surge)
    account.doks.upgrade_cluster(cluster["id"], body={"version": "1.34.1-do.0"})
    account.clock.advance(account.timings.cluster_upgrade)
    seen = []
    for _step in range(40):
        account.clock.advance(10)
        states = [node["status"]["state"] for node in account.cluster(cluster)["node_pools"][0]["nodes"]]
        seen.append(len([state for state in states if state in ("running", "provisioning")]))
    assert max(seen) == most
    account.settle()
    now = account.cluster(cluster)
    assert (now["status"]["state"], len(now["node_pools"][0]["nodes"])) == ("running", 2)


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ("1.34.1-do.0", "invalid upgrade path"),
        ("1.32.10-do.0", "invalid upgrade path"),
        ("1.35.0-do.0", "invalid version slug"),
        ("1.33", "invalid version slug"),
    ],
)
def test_an_upgrade_goes_to_the_next_minor_version_at_most(account: Account, wanted: str, message: str) -> None:
    cluster = account.running(version="1.32")
    body = {"version": wanted}
    refused = refusal(lambda: account.doks.upgrade_cluster(cluster["id"], body=body))
    assert refused == (422, "unprocessable_entity", f"validation error: {message}")


def test_digitalocean_itself_upgrades_a_cluster(account: Account) -> None:
    cluster = account.running(version="1.33")
    account.cloud.console.move_cluster(cluster["id"], "1.34.1-do.0")
    assert account.cluster(cluster)["status"]["state"] == "upgrading"
    account.settle()
    assert account.cluster(cluster)["version"] == "1.34.1-do.0"


def headers(account: Account) -> dict[str, str]:
    """The rate limit's fields of an answer."""
    found: list[Any] = []
    account.client().kubernetes.list_clusters(cls=lambda response, _data, _headers: found.append(response))
    every = found[0].http_response.headers
    return {name: every[name] for name in ("ratelimit-limit", "ratelimit-remaining", "ratelimit-reset")}


def test_every_answer_says_what_is_left_of_five_thousand_calls_an_hour(account: Account) -> None:
    now = int(account.clock.now().timestamp())
    assert headers(account) == {
        "ratelimit-limit": "5000",
        "ratelimit-remaining": "4999",
        "ratelimit-reset": str(now + 3600),
    }
    assert headers(account)["ratelimit-remaining"] == "4998"
    account.clock.advance(3600)
    assert headers(account)["ratelimit-remaining"] == "4999"


@pytest.mark.parametrize(("limit", "wait"), [("a_minute", "60"), ("an_hour", None)])
def test_too_many_calls_are_refused_and_only_a_burst_says_how_long_to_wait(
    account: Account, limit: str, wait: str | None
) -> None:
    assert (account.cloud.rate_limit.an_hour, account.cloud.rate_limit.a_minute) == (5000, 250)
    setattr(account.cloud.rate_limit, limit, 2)
    account.doks.list_clusters()
    account.doks.list_clusters()
    with pytest.raises(HttpResponseError) as refused:
        account.doks.list_clusters()
    response: Any = refused.value.response
    assert (refused.value.status_code, response.json()["id"]) == (429, "too_many_requests")
    assert response.headers.get("retry-after") == wait
    account.clock.advance(60 if wait else 3600)
    account.doks.list_clusters()


def test_a_scripted_error_looks_like_one_of_digitalocean_s_and_comes_before_the_effect(account: Account) -> None:
    account.cloud.faults.add("digitalocean", "POST clusters", Error(status=500, code="server_error", message="Oops"))
    assert refusal(account.create) == (500, "server_error", "Oops")
    assert account.exists("cluster") == []


def test_the_log_names_calls_by_method_and_path_and_knows_reads_from_writes(account: Account) -> None:
    cluster = account.running(node_pools=[CPU])
    pool = cluster["node_pools"][0]
    mark = account.engine.log.mark
    account.pool(cluster, pool)
    account.doks.get_credentials(cluster["id"])
    account.doks.list_options()
    account.droplets.list()
    assert account.engine.log.writes(after=mark) == ()
    account.put(cluster, pool, name="h100", count=2)
    [write] = account.engine.log.writes(after=mark)
    assert (write.call.name, write.call.target) == (
        "PUT clusters/{id}/node_pools/{id}",
        f"{cluster['id']}/node_pools/{pool['id']}",
    )
    assert set(account.engine.log.counts(after=mark)) == {
        "digitalocean GET clusters/{id}/node_pools/{id}",
        "digitalocean GET clusters/{id}/credentials",
        "digitalocean GET options",
        "digitalocean GET droplets",
        "digitalocean PUT clusters/{id}/node_pools/{id}",
    }
