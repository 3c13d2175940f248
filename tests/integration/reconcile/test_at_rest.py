# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A fleet that is as it was declared costs next to nothing, and two processes never fight over it."""

from __future__ import annotations

from datetime import timedelta

from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations import passes
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import work
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import Fleet
from ansible_collections.better_compute.fleet.tests.support.life.world import document


def test_a_converged_pass_reads_the_least_and_writes_nothing(fleet_on_either: Fleet) -> None:
    fleet = fleet_on_either
    fleet.join_all(document())
    fleet.scene.clock.advance(300)
    rows, mark = fleet.rows(), fleet.scene.engine.log.mark
    commits: list[str] = []
    fleet.session.store.on_commit.append(commits.append)
    fleet.one_pass()
    fleet.session.store.on_commit.clear()
    assert [entry.call.name for entry in fleet.scene.engine.log.entries(after=mark)] == [
        "eks.DescribeCluster",
        "POST serviceaccounts/token",
        "GET configmaps",
        "eks.ListNodegroups",
        "eks.DescribeNodegroup",
        "eks.DescribeNodegroup",
        "GET namespaces",
        "GET configmaps",
        "GET daemonsets",
        "LIST nodes",
        "GET secrets",
    ]
    assert fleet.scene.engine.log.writes(after=mark) == ()
    assert fleet.rows() == rows
    assert commits == ["before", "after"] * 2, "the lease is taken and given back, and nothing else is committed"


def test_a_fleet_at_rest_is_looked_at_every_five_minutes(fleet: Fleet) -> None:
    fleet.join_all(document())
    mark = fleet.scene.engine.log.mark
    fleet.live(minutes=11)
    looks = fleet.scene.engine.log.entries(after=mark, name="eks.DescribeCluster")
    assert len(looks) in (2, 3)


def test_a_second_process_leaves_a_pool_alone_that_another_one_works_on(fleet_on_either: Fleet) -> None:
    fleet = fleet_on_either
    pools = fleet.apply(document())
    with fleet.session.store.write() as tx:
        lease = work.acquire(tx, pools[0], "another process")
    assert lease is not None
    mark = fleet.scene.engine.log.mark
    passes.run_once(fleet.session, pools)
    fleet.run_due()
    assert fleet.scene.engine.log.mark == mark


def test_a_module_run_waits_for_the_lease_of_a_process_that_died_and_then_goes_on_itself(fleet: Fleet) -> None:
    pools = fleet.apply(document())
    with fleet.session.store.write() as tx:
        work.acquire(tx, pools[0], "a process that died")
    began = fleet.scene.clock.now()
    commits: list[str] = []
    fleet.session.store.on_commit.append(commits.append)
    views = passes.run_until_settled(fleet.session, pools, timeout=timedelta(seconds=50))
    assert not views[0].settled
    assert len(commits) < 50, "it looks at the records now and then, and does not run in circles"
    [view] = fleet.settle(pools)
    assert view.ready
    assert fleet.scene.clock.now() - began < timedelta(minutes=5)
