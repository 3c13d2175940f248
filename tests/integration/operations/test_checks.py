# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the doctor finds in a fleet on the emulated cloud: each thing that goes wrong by its own line, and no other."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Never

import pytest

from ansible_collections.better_compute.fleet.emulators.engine import Error
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import PermissionDenied
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.findings import Check, Verdict
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import AccountRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import SubstrateState
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.checks.fleet import check_fleet
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import Fleet
from ansible_collections.better_compute.fleet.tests.support.life.world import document

from .conftest import MakeFleet

DOWN = Error(status=503, code="ServiceUnavailableException", message="come back later")


def no_credential(_account: AccountRecord) -> Never:
    raise PermissionDenied("the variable of its credential is not set")


def not_ok(fleet: Fleet) -> list[Check]:
    return [check for check in check_fleet(fleet.session) if check.verdict != Verdict.OK]


def of_account(fleet: Fleet) -> list[Check]:
    """The lines on the one account, which have the only problem, and no pool has a line of its own."""
    found = not_ok(fleet)
    assert sum(check.verdict == Verdict.PROBLEM for check in found) == 1
    assert not any(check.about.startswith("pool ") for check in found)
    return [check for check in found if check.about == "account managed-k8s"]


def test_a_fleet_at_rest_is_well_and_is_left_as_it_is(fleet: Fleet) -> None:
    fleet.join_all(document())
    log = fleet.scene.engine.log
    mark, before = log.mark, fleet.rows()
    checks = check_fleet(fleet.session)
    assert {check.verdict for check in checks} == {Verdict.OK}
    assert [check.about for check in checks] == [
        "daemon",
        "passes",
        "account managed-k8s",
        "agent",
        "nodes",
        "pools",
        "clusters",
    ]
    assert {entry.call.name for entry in log.entries(after=mark, cloud="aws")} == {
        "eks.DescribeCluster",
        "ec2.DescribeSubnets",
    }
    assert log.writes(after=mark) == ()
    assert fleet.rows() == before


def test_a_cluster_that_is_cut_off_is_out_of_reach_before_any_pass_says_so(fleet: Fleet) -> None:
    fleet.join_all(document())
    fleet.scene.engine.faults.add("kubernetes", "*", DOWN, times=None)
    [cut_off] = not_ok(fleet)
    assert (cut_off.about, cut_off.verdict) == ("pool gpu-fleet", Verdict.PROBLEM)
    assert cut_off.message.startswith(
        "the cluster is out of reach from here: GET /api/v1/namespaces/kube-system at https://127.0.0.1:"
    )
    assert "proxy" in cut_off.cure

    fleet.live(minutes=6)
    recorded, tried = not_ok(fleet)
    assert (recorded.about, recorded.verdict) == ("pool gpu-fleet", Verdict.WARNING)
    assert recorded.message.startswith("ready, and yet: ")
    assert tried == cut_off


def test_nodes_that_do_not_join_for_a_quarter_of_an_hour_leave_the_pool_ready_and_are_a_problem(
    make_fleet: MakeFleet,
) -> None:
    # Their bcd is told to trust another key than the gateway's.
    fleet = make_fleet(BC_FLEET_AGENT_PINS="A" * 43 + "=")
    fleet.apply(document())
    fleet.live(until=lambda: fleet.view().record.nodes_listed == 3 and fleet.view().ready, minutes=10)
    view = fleet.view()
    assert view.record.waiting_since is not None
    waiting = {"nodes": 3, "since": view.record.waiting_since.strftime("%Y-%m-%dT%H:%M:%SZ")}
    assert view.to_data()["waiting_to_join"] == waiting
    assert view.record.message == ""
    assert not_ok(fleet) == []

    fleet.scene.clock.advance(timedelta(minutes=15).total_seconds())
    fleet.one_pass()
    [found] = not_ok(fleet)
    assert (found.about, found.verdict) == ("pool gpu-fleet", Verdict.PROBLEM)
    assert found.code == "kubernetes.substrate-nodes-not-joining"
    assert found.message.startswith("kubernetes.substrate-nodes-not-joining: 3 of 3 Nodes have no joined bcd")
    for named in ("DaemonSet better-compute/bcd", "image pull", "gateway URL", "pins", "runtime class"):
        assert named in found.message
    view = fleet.view()
    assert view.ready
    assert view.record.state == SubstrateState.READY
    assert found.message.endswith(view.record.message)
    assert view.to_data()["waiting_to_join"] == waiting


def test_settings_without_an_agent_are_one_problem_and_not_one_for_each_pool(make_fleet: MakeFleet) -> None:
    fleet = make_fleet(BC_FLEET_AGENT_IMAGE="", BC_FLEET_AGENT_GATEWAY_URL="", BC_FLEET_AGENT_PINS="")
    fleet.apply(document())
    fleet.live(minutes=1)
    [missing, not_ready] = not_ok(fleet)
    assert (not_ready.about, not_ready.verdict) == ("pools", Verdict.WARNING)
    assert (missing.about, missing.verdict) == ("agent", Verdict.PROBLEM)
    assert missing.code == "kubernetes.substrate-agent-missing"
    assert missing.message.startswith("gpu-fleet: kubernetes.substrate-agent-missing: ")
    unknown = [check for check in check_fleet(fleet.session, wrong={"agent"}) if check.verdict != Verdict.OK]
    assert [(check.about, check.verdict) for check in unknown] == [
        ("agent", Verdict.NOT_CHECKED),
        ("pools", Verdict.WARNING),
    ]


def test_a_pool_that_is_due_and_that_nobody_works_on_says_that_no_daemon_runs(fleet: Fleet) -> None:
    fleet.apply(document())
    fleet.scene.clock.advance(timedelta(minutes=6).total_seconds())
    overdue, not_ready = not_ok(fleet)
    assert (not_ready.verdict, not_ready.message) == (Verdict.WARNING, "0 of 1 are ready; not gpu-fleet (pending)")
    assert (overdue.about, overdue.verdict) == ("passes", Verdict.PROBLEM)
    assert overdue.message.startswith("due since ")
    assert overdue.message.endswith(" UTC or later, and nobody is at work: pool gpu-fleet")
    assert "bc-fleetd run" in overdue.cure


@pytest.mark.parametrize("refused", [True, False], ids=["refused", "missing"])
def test_an_account_that_is_a_problem_is_one_for_all_that_stands_on_it(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch, *, refused: bool
) -> None:
    two = document()
    two["pools"].append({**two["pools"][0], "name": "other"})
    fleet.apply(two)
    if refused:
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another one")
    else:
        fleet = replace(fleet, session=replace(fleet.session, open_driver=no_credential))
    fleet.run_due()
    account, on_it = of_account(fleet)
    assert (account.verdict, on_it.verdict) == (Verdict.PROBLEM, Verdict.WARNING)
    assert on_it.message.endswith(": pool gpu-fleet, pool other")


def test_a_provider_that_is_down_is_not_told_again_of_each_pool_that_runs_there(fleet: Fleet) -> None:
    fleet.join_all(document())
    fleet.scene.engine.faults.add("aws", "*", DOWN, times=None)
    fleet.one_pass()
    account, on_it = of_account(fleet)
    assert (account.verdict, on_it.verdict) == (Verdict.PROBLEM, Verdict.WARNING)
    assert on_it.message.endswith(": pool gpu-fleet")


def test_a_pool_in_error_is_a_problem_with_its_message(fleet: Fleet) -> None:
    refused = Error(status=400, code="InvalidParameterException", message="the role is no good")
    fleet.scene.engine.faults.add("aws", "eks.CreateCluster", refused, times=None)
    fleet.apply(document())
    fleet.live(minutes=2)
    error, not_ready = not_ok(fleet)
    assert (not_ready.verdict, not_ready.message) == (Verdict.WARNING, "0 of 1 are ready; not gpu-fleet (error)")
    assert (error.about, error.verdict) == ("pool gpu-fleet", Verdict.PROBLEM)
    assert error.message.startswith("in error: ")
    assert "the role is no good" in error.message
