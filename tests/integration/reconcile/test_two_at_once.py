# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two daemons on one pool: whoever lost the lease writes nothing more, and nothing is changed twice."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ansible_collections.better_compute.fleet.emulators.engine import Call, Hook
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import StaleLease
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import NodePoolState
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.passes import doors
from ansible_collections.better_compute.fleet.plugins.module_utils._core.reconcile.passes import run_pass
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import clusters, work
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import Fleet, fleet_at_hand

from .declared import SPOT, autoscaled
from .test_node_pool_changes import updates


@pytest.mark.parametrize("side", ["before", "after"])
def test_a_daemon_that_hangs_at_a_change_is_overtaken_and_writes_nothing_more(
    fleet_on_either: Fleet, side: str
) -> None:
    fleet = fleet_on_either
    other = Fleet(scene=fleet.scene, session=replace(fleet_at_hand(fleet.scene).session, holder="another daemon"))
    fleet.join_all(autoscaled(1, 4))
    [pool_id] = fleet.apply(autoscaled(1, 3))
    overtaken: list[str] = []

    def hang(call: Call) -> None:
        if not overtaken:
            overtaken.append(call.target)
            fleet.scene.clock.advance(61)
            other.run_due()

    hook = Hook(on_before=hang) if side == "before" else Hook(on_after=hang)
    fleet.scene.engine.faults.add("aws", "eks.UpdateNodegroupConfig", hook, times=None)
    with fleet.session.store.write() as tx:
        lease = work.acquire(tx, pool_id, "this daemon")
    assert lease is not None
    with pytest.raises(StaleLease):
        run_pass(doors(fleet.session), lease)
    assert len(overtaken) == 1
    other.live(until=other.at_rest, minutes=10)
    assert other.view().ready
    assert updates(fleet) == 1, "the provider carried it out once"
    assert len(fleet.events("kubernetes.cluster.updated")) == 1
    assert len(fleet.events("kubernetes.nodepool.ready")) == 3


def test_a_change_that_is_made_while_a_pass_works_on_the_former_one_is_not_overwritten(fleet_on_either: Fleet) -> None:
    fleet = fleet_on_either
    fleet.join_all(autoscaled(1, 4))
    fleet.apply(autoscaled(1, 3))
    changed: list[str] = []

    def change(call: Call) -> None:
        if not changed:
            changed.append(call.target)
            fleet.apply(autoscaled(1, 2))

    fleet.scene.engine.faults.add("aws", "eks.UpdateNodegroupConfig", Hook(on_after=change), times=None)
    fleet.one_pass()
    record = fleet.node_pools()[SPOT]
    assert (record.version, record.state, record.update_id) == (3, NodePoolState.UPDATING, None)
    fleet.live(until=fleet.at_rest, minutes=10)
    record = fleet.node_pools()[SPOT]
    assert (record.observed_version, record.state) == (3, NodePoolState.READY)
    assert updates(fleet) == 2
    with fleet.session.store.write() as tx:
        assert not clusters.set_node_pool_status(tx, replace(record, version=2, message="late"))
