# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The self-check's findings, from settings and records alone."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.agent import AgentSettings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import SubstrateState
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.self_check import self_check
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.substrates import SubstrateView
from ansible_collections.better_compute.fleet.tests.support import rows

AGENT = AgentSettings(image="registry.example/bcd:1", gateway_url="https://gateway.example:8443", pins=("cGlu",))
LATER = rows.START + timedelta(minutes=15)


def view(name: str = "gpu-fleet", **different: Any) -> SubstrateView:
    pool = rows.pool(name=name)
    record = rows.substrate(pool.id, rows.cluster(pool.id), **{"state": SubstrateState.READY} | different)
    return SubstrateView(pool=name, provider="aws", account="aws-main", record=record, ready=True)


def codes(*views: SubstrateView, agent: AgentSettings | None = AGENT) -> list[tuple[str, tuple[str, ...]]]:
    return [(str(one.code), one.pools) for one in self_check(views, agent=agent, now=LATER)]


def test_all_is_well() -> None:
    assert codes(view()) == []


def test_settings_without_an_agent_are_found_once_with_the_pools_that_need_it() -> None:
    found = codes(view("a"), view("b"), view("c", state=SubstrateState.DELETING), agent=None)
    assert found == [("kubernetes.substrate-agent-missing", ("a", "b"))]
    [finding] = self_check([view()], agent=None, now=LATER)
    assert finding.message.startswith("kubernetes.substrate-agent-missing: ")
    assert "[agent]" in finding.message


@pytest.mark.parametrize("state", [SubstrateState.DELETING, SubstrateState.DELETED])
def test_without_a_pool_that_needs_an_agent_none_is_missing(state: SubstrateState) -> None:
    assert codes(agent=None) == codes(view(state=state), agent=None) == []


@pytest.mark.parametrize(("minutes", "found"), [(15, ["kubernetes.substrate-nodes-not-joining"]), (14, [])])
def test_nodes_that_do_not_join_are_found_after_a_quarter_of_an_hour(minutes: int, found: list[str]) -> None:
    since = LATER - timedelta(minutes=minutes)
    waiting = view(nodes_listed=3, nodes_joined=1, waiting_nodes=2, waiting_since=since)
    assert [code for code, _pools in codes(waiting)] == found


def test_a_finding_is_told_as_plain_values() -> None:
    [finding] = self_check([view()], agent=None, now=LATER)
    assert finding.to_data() == {
        "code": "kubernetes.substrate-agent-missing",
        "pools": ["gpu-fleet"],
        "message": finding.message,
    }
