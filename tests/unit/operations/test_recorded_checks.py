# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the doctor says by the records alone, and how it asks many things within one time."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.agent import AgentSettings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.findings import Check, Verdict
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import TenantId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.liveness import Listening
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.permissions import ApiToken
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import ClusterOutputs
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import (
    ClusterState,
    SubstrateState,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.checks.at_once import ask_all
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.checks.endpoints import (
    check_endpoints,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.checks.recorded import (
    check_api_tokens,
    check_clusters,
    check_due_times,
    check_gateway_marks,
    check_pools,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.clusters.views import ClusterView
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.substrates import SubstrateView
from ansible_collections.better_compute.fleet.tests.support import rows

NOW = rows.START + timedelta(hours=1)
IMAGE = f"registry.example/bcd@sha256:{'a' * 64}"
AGENT = AgentSettings(image=IMAGE, gateway_url="https://fleet.example:8443", pins=("a pin",))


def pool(name: str = "gpu-fleet", *, ready: bool = True, **different: Any) -> SubstrateView:
    record = rows.pool(name=name)
    substrate = rows.substrate(record.id, rows.cluster(record.id), **different)
    return SubstrateView(pool=record.name, provider="aws", account="aws-main", record=substrate, ready=ready)


def pools_told(*views: SubstrateView, agent: AgentSettings | None = AGENT) -> dict[str, Check]:
    """What the doctor says of pools, by what it is about."""
    return {check.about: check for check in check_pools(views, agent=agent, agent_known=True, now=NOW)}


def heard(**ago: float) -> Listening:
    return Listening(since=rows.START, heard_at=NOW - timedelta(**ago))


@pytest.mark.parametrize(
    ("mark", "pools", "verdict"),
    [
        (heard(seconds=59), 1, Verdict.OK),
        (heard(seconds=61), 1, Verdict.PROBLEM),
        (heard(seconds=61), 0, Verdict.WARNING),
        (None, 1, Verdict.PROBLEM),
        (None, 0, Verdict.WARNING),
    ],
)
def test_a_gateway_that_left_no_mark_for_a_minute_is_a_problem_where_there_are_pools(
    mark: Listening | None, pools: int, verdict: Verdict
) -> None:
    check = check_gateway_marks([pool()] * pools, mark, [] if mark is None else [mark], now=NOW)
    assert check.verdict == verdict
    assert ("`bc-fleetd run`" in check.cure) == (verdict != Verdict.OK)


def test_the_mark_of_all_gateways_does_not_say_that_one_runs_still() -> None:
    check = check_gateway_marks([pool()], heard(seconds=1), [], now=NOW)
    assert check.verdict == Verdict.PROBLEM
    assert check.message.startswith("no gateway has been listening for bcd since ")


def test_of_several_gateways_those_that_run_are_counted() -> None:
    check = check_gateway_marks([pool()], heard(seconds=1), [heard(seconds=1), heard(seconds=2)], now=NOW)
    assert check.message.startswith("2 gateways have, the first of them, been listening for bcd since")
    check = check_gateway_marks([pool()], heard(seconds=1), [heard(seconds=90), heard(seconds=2)], now=NOW)
    assert check.message.startswith("a gateway has been listening")


def due(**minutes_ago: float) -> Check:
    times = {name: NOW - timedelta(minutes=minutes) for name, minutes in minutes_ago.items()}
    return check_due_times({name: f"pool {name}" for name in times}, times, now=NOW)


def test_what_has_been_due_for_five_minutes_is_named_the_longest_first() -> None:
    assert due(a=4, b=-5).verdict == Verdict.OK
    check = due(a=4, b=6, c=30)
    assert check.verdict == Verdict.PROBLEM
    assert check.message.startswith(f"due since {NOW - timedelta(minutes=30):%Y-%m-%d %H:%M} UTC")
    assert check.message.endswith(": pool c, pool b")


def test_of_many_pools_a_few_are_named() -> None:
    many = {f"p{number:03}": 10.0 for number in range(500)}
    assert due(**many).message.endswith(": pool p000, pool p001, pool p002, pool p003, pool p004 and 495 more")


def test_what_somebody_works_on_is_not_overdue() -> None:
    assert check_due_times({}, {"a": datetime.min.replace(tzinfo=NOW.tzinfo)}, now=NOW).verdict == Verdict.OK


@pytest.mark.parametrize(
    ("state", "message", "verdicts"),
    [
        (ClusterState.ERROR, "no such zone", [Verdict.PROBLEM]),
        (ClusterState.READY, "out of reach", [Verdict.WARNING]),
        (ClusterState.READY, "", []),
        (ClusterState.PROVISIONING, "waits", []),
        (ClusterState.DELETING, "removing bcd: 403", [Verdict.WARNING]),
        (ClusterState.DELETING, "", []),
    ],
)
def test_a_tenants_cluster_is_named_with_its_tenant(state: ClusterState, message: str, verdicts: list[Verdict]) -> None:
    record = rows.cluster(None, name="build", tenant_id=TenantId("acme"), state=state, message=message)
    found = check_clusters([ClusterView(record=record, account=None, pool=None, node_pools=())])
    assert [check.verdict for check in found] == verdicts
    assert [check.about for check in found] == ["cluster build of acme"] * len(verdicts)


def test_clusters_for_which_there_is_no_time_are_not_checked() -> None:
    outputs = ClusterOutputs(
        endpoint="https://127.0.0.1:1",
        ca_pem="",
        version="1.34",
        location="us-east-1",
        node_version="1.34",
        global_id=None,
    )
    cluster = rows.cluster(None, outputs=outputs)
    [late] = check_endpoints([cluster], named={cluster.id: "cluster build"}, seconds=0)
    assert late.verdict == Verdict.NOT_CHECKED
    assert late.message == "1 of 1 were not asked within 0 s, cluster build among them"
    [refused] = check_endpoints([cluster], named={cluster.id: "cluster build"})
    assert (refused.about, refused.verdict) == ("cluster build", Verdict.PROBLEM)


def test_who_does_not_answer_in_time_holds_nobody_up() -> None:
    never = threading.Event()
    questions = {"quick": lambda: "yes", "hangs": lambda: str(never.wait(30)), "other": lambda: "no"}
    assert ask_all(questions, at_once=2, seconds=0.2, late="late") == {"quick": "yes", "hangs": "late", "other": "no"}
    never.set()


def test_no_question_is_no_answer() -> None:
    assert ask_all({}, at_once=8, seconds=1, late="late") == {}


@pytest.mark.parametrize(
    ("tokens", "verdict"),
    [
        ([], Verdict.WARNING),
        ([rows.api_token(expires_at=NOW)], Verdict.WARNING),
        ([rows.api_token(revoked_at=rows.START)], Verdict.WARNING),
        ([rows.api_token(revoked_at=rows.START), rows.api_token()], Verdict.OK),
    ],
)
def test_an_api_is_called_by_whoever_has_a_token_that_is_live(tokens: list[ApiToken], verdict: Verdict) -> None:
    check = check_api_tokens(tokens, now=NOW)
    assert check.verdict == verdict
    assert ("`bc-fleetd token create`" in check.cure) == (verdict != Verdict.OK)


def test_it_is_said_which_of_the_two_is_well_with_the_agent() -> None:
    assert pools_told()["agent"].message == "the settings say how bcd is run"
    assert pools_told(pool())["agent"].message == "the settings say how bcd is run"
    nobody = pools_told(agent=None)["agent"]
    assert nobody.message == "the settings do not say how bcd is run, and no pool asks for it"
    assert nobody.verdict == Verdict.OK
    assert pools_told(pool(), agent=None)["agent"].verdict == Verdict.PROBLEM


def test_nodes_have_joined_only_where_some_are_listed() -> None:
    assert pools_told()["nodes"].message == "no Nodes are listed yet"
    assert pools_told(pool())["nodes"].message == "no Nodes are listed yet"
    assert pools_told(pool(), pool("other", nodes_listed=2, nodes_joined=2))["nodes"].message == "all have joined"
    some = pool(nodes_listed=2, nodes_joined=1, waiting_nodes=1, waiting_since=NOW)
    assert pools_told(some)["nodes"].message.startswith("1 have yet to join")


@pytest.mark.parametrize(
    ("views", "verdict", "message"),
    [
        ([], Verdict.OK, "none has a substrate"),
        ([pool("a"), pool("b")], Verdict.OK, "2 of 2 are ready"),
        (
            [pool("a"), pool("b", ready=False), pool("c", ready=False, state=SubstrateState.DELETING)],
            Verdict.WARNING,
            "1 of 3 are ready; not b (pending), c (deleting)",
        ),
        ([pool("a", ready=False, state=SubstrateState.READY)], Verdict.WARNING, "0 of 1 are ready; not a (changing)"),
        (
            [pool(f"p{number}", ready=False) for number in range(7)],
            Verdict.WARNING,
            "0 of 7 are ready; not p0 (pending), p1 (pending), p2 (pending), p3 (pending), p4 (pending) and 2 more",
        ),
    ],
)
def test_fewer_ready_pools_than_there_are_is_a_warning(
    views: list[SubstrateView], verdict: Verdict, message: str
) -> None:
    check = pools_told(*views)["pools"]
    assert (check.verdict, check.message) == (verdict, message)
    assert bool(check.cure) == (verdict == Verdict.WARNING)


@pytest.mark.parametrize(
    ("image", "told"),
    [("registry.example/bcd:0.1.0", True), (IMAGE, False)],
)
def test_an_image_that_is_named_by_a_tag_is_told_and_no_matter(image: str, told: bool) -> None:
    agent = AgentSettings(image=image, gateway_url="https://fleet.example", pins=())
    check = check_pools([], agent=agent, agent_known=True, now=NOW)[0]
    assert (check.about, check.verdict) == ("agent", Verdict.OK)
    assert ("named by a tag" in check.message) == told
