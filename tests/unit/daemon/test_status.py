# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What `bc-fleetd status` shows."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.daemon.commands.status import print_json, print_table
from ansible_collections.better_compute.fleet.daemon.standing import Passes
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.findings import (
    AGENT_MISSING,
    Finding,
    FindingCode,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import TenantId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import (
    ClusterState,
    SubstrateState,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.clusters.views import ClusterView
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.next_passes import NextPass
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.substrates import SubstrateView
from ansible_collections.better_compute.fleet.tests.support import rows

MISSING = Finding(code=FindingCode.AGENT_MISSING, pools=("gpu-fleet",), message=AGENT_MISSING)


def view(*, ready: bool = True, **different: Any) -> SubstrateView:
    pool = rows.pool()
    values = {"state": SubstrateState.READY, "nodes_listed": 4, "nodes_joined": 3, "waiting_nodes": 1} | different
    record = rows.substrate(pool.id, rows.cluster(pool.id), **values)
    return SubstrateView(pool=pool.name, provider="aws", account="aws-main", record=record, ready=ready)


def table(*views: SubstrateView) -> list[list[str]]:
    """The table's cells, row by row."""
    written = io.StringIO()
    print_table(views, to=written)
    return [line.split() for line in written.getvalue().splitlines() if line.strip() and "─" not in line]


def test_each_pool_is_a_row_with_its_state_its_nodes_and_its_message() -> None:
    heading, row = table(view(message="1 Node waits"))
    assert heading == ["Pool", "Provider", "State", "Joined", "Listed", "Waiting", "Next", "pass", "Message"]
    assert row == ["gpu-fleet", "aws", "ready", "3", "4", "1", "-", "1", "Node", "waits"]


def test_a_pool_that_was_declared_anew_is_not_called_ready() -> None:
    assert table(view(ready=False))[1][2:4] == ["ready,", "changing"]


def test_no_pool_is_a_sentence() -> None:
    assert " ".join(table()[0]).startswith("No pool has a substrate yet")


def test_a_long_message_is_shown_whole() -> None:
    message = " ".join(f"word{number}" for number in range(100))
    cells = [cell for row in table(view(message=message)) for cell in row]
    assert [cell for cell in cells if cell.startswith("word")] == message.split()


def test_a_provider_s_words_neither_steer_the_terminal_nor_the_table() -> None:
    written = io.StringIO()
    print_table([view(message="[red]\x1b[2Jgone[/red]")], to=written)
    assert "\x1b" not in written.getvalue()
    assert "[red] [2Jgone[/red]" in written.getvalue()


def test_json_says_what_the_modules_say() -> None:
    written = io.StringIO()
    shown = view()
    print_json([shown], [MISSING], to=written)
    assert json.loads(written.getvalue()) == {
        "substrates": [{**shown.to_data(), "next_pass": None, "at_work": False}],
        "clusters": [],
        "self_check": [MISSING.to_data()],
    }


def test_what_the_self_check_found_stands_below_the_table() -> None:
    written = io.StringIO()
    print_table([view()], [MISSING], to=written)
    assert written.getvalue().splitlines()[-1] == f"! gpu-fleet: {AGENT_MISSING}"


def cluster(**different: Any) -> ClusterView:
    """A tenant's cluster that backs no pool."""
    record = rows.cluster(None, **{"name": "build", "tenant_id": TenantId("acme"), **different})
    return ClusterView(record=record, account=rows.account(), pool=None, node_pools=())


def lines(*, width: int | None = None, pools: int = 1, message: str = "") -> list[str]:
    written = io.StringIO()
    views = [view(message=message)] * pools
    print_table(views, [], [cluster(state=ClusterState.ERROR, message="no such zone")], to=written, width=width)
    return [line.strip() for line in written.getvalue().splitlines() if line.strip() and "─" not in line]


def test_a_cluster_without_a_pool_has_a_row_of_its_own() -> None:
    heading, row = lines()[-2:]
    assert heading.split() == ["Cluster", "Tenant", "Provider", "State", "Node", "pools", "Next", "pass", "Message"]
    assert row.split() == ["build", "acme", "aws", "error", "0/0", "-", "no", "such", "zone"]


def test_json_tells_of_clusters_without_a_pool_as_the_modules_do() -> None:
    written = io.StringIO()
    shown = cluster(state=ClusterState.READY)
    print_json([], [], [shown], to=written)
    assert json.loads(written.getvalue())["clusters"] == [{**shown.to_data(), "next_pass": None, "at_work": False}]


def test_on_a_narrow_terminal_messages_stand_below_the_table_whole() -> None:
    message = " ".join(f"word{number}" for number in range(40))
    shown = lines(width=72, message=message)
    heading, row, told = shown[:3]
    assert heading.split() == ["Pool", "Provider", "State", "Joined", "Listed", "Waiting", "Next", "pass"]
    assert row.split() == ["gpu-fleet", "aws", "ready", "3", "4", "1", "-"]
    assert told == f"gpu-fleet: {message}"
    assert shown[-1] == "build: no such zone"


def test_five_hundred_pools_are_five_hundred_rows_that_fit() -> None:
    shown = lines(width=120, pools=500, message="waits")
    assert sum(line.startswith("gpu-fleet") for line in shown) == 500
    assert max(len(line) for line in shown) <= 120


def passes(unit: str, *, at_work: bool = False, **ahead: float) -> Passes:
    return Passes({unit: NextPass(due_at=rows.START + timedelta(**ahead), at_work=at_work)}, now=rows.START)


@pytest.mark.parametrize(
    ("at_work", "seconds", "told"),
    [(False, 252, "in 4 min"), (False, 12, "in 12 s"), (False, 0, "due"), (False, -90, "due"), (True, -90, "at work")],
)
def test_the_next_pass_is_told_of_each_pool_and_cluster(at_work: bool, seconds: float, told: str) -> None:
    pool, build = view(), cluster()
    for shown, unit in (([pool], pool.record.pool_id), ([], build.record.id)):
        written = io.StringIO()
        print_table(shown, [], [build], passes(unit, at_work=at_work, seconds=seconds), to=written)
        assert sum(f" {told} " in f"{line} " for line in written.getvalue().splitlines()) == 1
        written = io.StringIO()
        print_json(shown, [], [build], passes(unit, at_work=at_work, seconds=seconds), to=written)
        data = json.loads(written.getvalue())
        moment = (rows.START + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")
        assert [(one["next_pass"], one["at_work"]) for one in (data["substrates"] or data["clusters"])] == [
            (moment, at_work)
        ]


def test_for_how_long_nodes_have_waited_is_told() -> None:
    written = io.StringIO()
    waiting = view(waiting_since=rows.START - timedelta(minutes=17))
    print_table([waiting], passes=Passes(now=rows.START), to=written)
    assert " 1 (17 min) " in written.getvalue()


def test_a_full_table_can_be_read_within_120_columns() -> None:
    message = "quota: " + "the provider refuses the machines " * 5
    pool = view(
        state=SubstrateState.ERROR, message=message, mode="adopt", waiting_since=rows.START - timedelta(minutes=17)
    )
    pool = replace(pool, pool="inference-frankfurt-a", provider="digitalocean", ready=False)
    written = io.StringIO()
    print_table([pool], [], [], passes(pool.record.pool_id, minutes=4), to=written, width=120)
    *table_lines, below = written.getvalue().splitlines()
    assert max(len(line) for line in table_lines) <= 120
    assert below == f"inference-frankfurt-a: {message}"
